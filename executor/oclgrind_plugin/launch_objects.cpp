#include "executor/oclgrind_plugin/launch_objects.hpp"

#include <core/Kernel.h>
#include <core/KernelInvocation.h>
#include <core/Memory.h>
#include <core/WorkGroup.h>
#include <llvm/IR/Argument.h>
#include <llvm/IR/Function.h>

#include <algorithm>
#include <map>

namespace fm {
namespace {

/// In Oclgrind's address spaces the upper 16 bits name a buffer.
constexpr unsigned offset_bits = 48;
constexpr std::size_t offset_mask = (std::size_t{1} << offset_bits) - 1;

std::uint64_t channels(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
      return 1;
    case CL_RG:
    case CL_RA:
      return 2;
    case CL_RGB:
      return 3;
    default:
      return 4;
  }
}

std::uint64_t channel_bytes(cl_channel_type type) {
  switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      return 1;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
      return 4;
    default:
      return 2;
  }
}

ImageArgument described(const oclgrind::Image& image) {
  const auto at_least_one = [](std::size_t size) { return std::max<std::uint64_t>(size, 1); };
  ImageArgument argument;
  argument.address = image.address;
  argument.width = image.desc.image_width;
  argument.height = at_least_one(image.desc.image_height) * at_least_one(image.desc.image_depth) *
                    at_least_one(image.desc.image_array_size);
  argument.texel_bytes = channels(image.format.image_channel_order) *
                         channel_bytes(image.format.image_channel_data_type);
  return argument;
}

}  // namespace

LaunchObjects::LaunchObjects(const oclgrind::KernelInvocation& invocation) {
  const oclgrind::Kernel& kernel = *invocation.getKernel();
  next_index_ = kernel.getNumArguments();
  for (auto value = kernel.values_begin(); value != kernel.values_end(); ++value) {
    const auto* argument = llvm::dyn_cast<llvm::Argument>(value->first);
    if (argument == nullptr || !argument->getType()->isPointerTy() || argument->hasByValAttr()) {
      continue;
    }
    Argument object;
    object.index = argument->getArgNo();
    const std::string type = kernel.getArgumentTypeName(object.index).str();
    const unsigned space = argument->getType()->getPointerAddressSpace();
    if (type.rfind("image", 0) == 0) {
      const auto* image = *reinterpret_cast<oclgrind::Image* const*>(value->second.data);
      object.image = described(*image);
      object.address = image->address;
    } else if (space == oclgrind::AddrSpaceGlobal || space == oclgrind::AddrSpaceConstant) {
      if (type == "sampler_t") continue;
      object.address = value->second.getPointer();
      object.constant = space == oclgrind::AddrSpaceConstant;
    } else {
      continue;
    }
    if (object.address != 0) arguments_.push_back(object);
  }
  std::sort(arguments_.begin(), arguments_.end(),
            [](const Argument& a, const Argument& b) { return a.index < b.index; });
}

std::optional<Place> LaunchObjects::find(const oclgrind::Memory& memory, std::size_t address) {
  if (memory.getAddressSpace() == oclgrind::AddrSpaceLocal) {
    return Place{trace::LOCAL, static_cast<std::uint32_t>(memory.extractBuffer(address) - 1),
                 static_cast<std::int64_t>(memory.extractOffset(address))};
  }
  const Argument* found = nullptr;
  for (const Argument& argument : arguments_) {
    if (argument.address >> offset_bits != address >> offset_bits || argument.address > address) {
      continue;
    }
    if (found == nullptr || argument.address > found->address) found = &argument;
  }
  if (found == nullptr) {
    if (!memory.isAddressValid(address)) return std::nullopt;
    arguments_.push_back({next_index_++, address & ~offset_mask, true, std::nullopt});
    found = &arguments_.back();
  }
  return Place{found->constant ? trace::CONSTANT : trace::GLOBAL, found->index,
               static_cast<std::int64_t>(address - found->address)};
}

std::optional<std::uint32_t> LaunchObjects::image(std::size_t address) const {
  for (const Argument& argument : arguments_) {
    if (argument.image && argument.address == address) return argument.index;
  }
  return std::nullopt;
}

std::vector<LaunchObjects::LocalArray> LaunchObjects::local_arrays(
    const oclgrind::KernelInvocation& invocation, const oclgrind::WorkGroup& group) {
  std::map<std::size_t, LocalArray> by_address;
  const oclgrind::Kernel& kernel = *invocation.getKernel();
  for (auto value = kernel.values_begin(); value != kernel.values_end(); ++value) {
    const llvm::Type* const type = value->first->getType();
    if (!type->isPointerTy() || type->getPointerAddressSpace() != oclgrind::AddrSpaceLocal) {
      continue;
    }
    std::string name = value->first->getName().str();
    name.erase(0, name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    by_address[group.getLocalMemoryAddress(value->first)] = {std::move(name), value->second.size};
  }
  std::vector<LocalArray> arrays;
  arrays.reserve(by_address.size());
  for (const auto& [address, array] : by_address) arrays.push_back(array);
  return arrays;
}

}  // namespace fm
