#include "planner/constant_store.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

std::vector<std::uint8_t> read_slice(const std::string& path, std::uint64_t offset,
                                     std::uint64_t bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError({path}, "cannot be read");
  file.seekg(static_cast<std::streamoff>(offset));
  std::vector<std::uint8_t> data(bytes);
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(bytes));
  if (!file) {
    throw UserError({path}, "is too short: " + std::to_string(bytes) +
                                " bytes of weights wanted at byte " + std::to_string(offset));
  }
  return data;
}

}  // namespace

std::size_t ConstantStore::add_recipe(Recipe recipe) {
  recipes_.push_back(std::move(recipe));
  return recipes_.size() - 1;
}

std::size_t ConstantStore::add_file_slice(std::string path, std::uint64_t offset,
                                          std::uint64_t bytes, ElementType type, Shape shape) {
  return add_recipe([path = std::move(path), offset, bytes, type,
                     shape = std::move(shape)](const ConstantStore&) {
    const std::vector<std::uint8_t> data = read_slice(path, offset, bytes);
    return tensor_from_bytes(type, shape, data.data(), data.size());
  });
}

std::size_t ConstantStore::add_missing(std::string reason) {
  return add_recipe([reason = std::move(reason)](const ConstantStore&) -> HostTensor {
    throw UserError(reason);
  });
}

HostTensor ConstantStore::load(std::size_t index) const { return recipes_.at(index)(*this); }

HostTensor ConstantStore::load(const GraphTensor& tensor) const {
  if (!tensor.constant) throw std::logic_error("tensor " + tensor.name + " is not constant");
  if (tensor.constant->initializer) {
    HostTensor loaded = load(*tensor.constant->initializer);
    loaded.shape = tensor.shape;
    return loaded;
  }
  return tensor_from_bytes(tensor.type, tensor.shape, tensor.constant->bytes.data(),
                           tensor.constant->bytes.size());
}

}  // namespace fm
