#include "executor/tensor_memory.hpp"

#include <limits>

#include "executor/plan_names.hpp"
#include "executor/pool_parts.hpp"

namespace fm {
namespace {

/// Two half NaNs, or (as it happens) a float NaN too.
constexpr std::uint32_t poison_pattern = 0x7fff7fff;

Bytes texel_bytes(DataType dtype) { return size_of(dtype) * 4; }

}  // namespace

TensorMemory::TensorMemory(const OpenClContext& context, const Plan& plan, HostRecorder& recorder)
    : context_(context), recorder_(recorder) {
  for (const Pool& pool : plan.pools) {
    if (pool.placement == Placement::image2d) {
      create_image_pool(plan, pool);
    } else {
      create_buffer_pool(plan, pool);
    }
  }
}

TensorMemory::~TensorMemory() {
  for (const auto& [id, place] : places_) {
    if (place.created_by != 0) recorder_.note(main_thread, release_operation(place.object));
  }
  for (const PoolMemory& pool : pools_) {
    recorder_.note(main_thread, release_operation(pool.object));
  }
}

void TensorMemory::create_image_pool(const Plan& plan, const Pool& pool) {
  PoolMemory& made = pools_.emplace_back();
  made.pool = &pool;
  made.bytes = pool.bytes;
  made.object = recorder_.new_object();
  recorder_.create(
      create_image_operation(made.object, trace::ACTIVATIONS, pool.extent, texel_bytes(pool.dtype),
                             pool.id),
      [&] { made.memory = create_image(context_, pool.extent, pool.dtype, named(pool)); });
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.pool == pool.id) create_view(tensor, made, Bytes(0));
  }
}

void TensorMemory::create_buffer_pool(const Plan& plan, const Pool& pool) {
  for (const PoolPart& part : parts_of(plan, pool, context_.device().allocation_limit)) {
    PoolMemory& made = pools_.emplace_back();
    made.pool = &pool;
    made.bytes = part.bytes;
    made.object = recorder_.new_object();
    recorder_.create(
        create_buffer_operation(made.object, trace::ACTIVATIONS, part.bytes, pool.id),
        [&] { made.memory = create_buffer(context_, part.bytes, CL_MEM_READ_WRITE, named(pool)); });
    for (const PlanTensor* tensor : part.tensors) {
      create_view(*tensor, made, tensor->offset - part.offset);
    }
  }
}

void TensorMemory::create_view(const PlanTensor& tensor, const PoolMemory& pool, Bytes offset) {
  Place& place = places_[tensor.id];
  place.pool = &pool;
  place.object = pool.object;
  place.offset = offset;
  const bool whole =
      tensor.placement == Placement::image2d || (offset == Bytes(0) && tensor.bytes == pool.bytes);
  if (!whole) place.own = create_sub_buffer(pool.memory, offset, tensor.bytes, named(tensor));
  place.memory = whole ? pool.memory.get() : place.own.get();
}

cl_mem TensorMemory::of(const std::string& tensor) const {
  const auto found = places_.find(tensor);
  if (found == places_.end()) return nullptr;
  const Place& place = found->second;
  return place.buffer ? place.buffer.memory().get() : place.memory;
}

std::uint64_t TensorMemory::object(const std::string& tensor) const {
  return places_.at(tensor).object;
}

Bytes TensorMemory::offset(const std::string& tensor) const { return places_.at(tensor).offset; }

void TensorMemory::create_weight(const PlanTensor& tensor, trace::MemoryClass memory_class) {
  Place& place = places_[tensor.id];
  place.object = recorder_.new_object();
  if (tensor.placement == Placement::image2d) {
    const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
    place.created_by = recorder_.create(
        create_image_operation(place.object, memory_class, extent, texel_bytes(tensor.dtype),
                               tensor.id),
        [&] { place.own = create_image(context_, extent, tensor.dtype, named(tensor)); });
  } else {
    place.created_by = recorder_.create(
        create_buffer_operation(place.object, memory_class, tensor.bytes, tensor.id),
        [&] { place.buffer = HostFilledBuffer(context_, tensor.bytes, named(tensor)); });
  }
  place.memory = place.own.get();
}

void TensorMemory::hand_over(const std::string& from, const std::string& to) {
  auto node = places_.extract(from);
  node.key() = to;
  places_.insert(std::move(node));
}

std::uint64_t TensorMemory::created_by(const std::string& tensor) const {
  return places_.at(tensor).created_by;
}

void TensorMemory::release_weight(const std::string& tensor, std::uint64_t cause) {
  const auto found = places_.find(tensor);
  if (found == places_.end()) return;
  const std::uint64_t id =
      recorder_.begin(main_thread, release_operation(found->second.object), {cause});
  places_.erase(found);
  recorder_.end(id);
}

void TensorMemory::write(const OpenClQueue& queue, const PlanTensor& tensor,
                         const std::vector<std::uint8_t>& bytes) {
  const Place& place = places_.at(tensor.id);
  const OpenClMemory& pool = place.pool->memory;
  const std::uint64_t id = recorder_.begin(
      main_thread, transfer_operation(place.object, place.offset, tensor.bytes, true));
  if (tensor.placement == Placement::image2d) {
    write_image(queue, pool, grid_extent(tensor.layout, tensor.shape), bytes.data(), named(tensor));
  } else {
    write_buffer(queue, pool, place.offset, bytes.data(), tensor.bytes, named(tensor));
  }
  recorder_.end(id);
}

std::vector<std::uint8_t> TensorMemory::read(const OpenClQueue& queue, const PlanTensor& tensor) {
  const Place& place = places_.at(tensor.id);
  const OpenClMemory& pool = place.pool->memory;
  std::vector<std::uint8_t> bytes(tensor.bytes.count());
  const std::uint64_t id = recorder_.begin(
      main_thread, transfer_operation(place.object, place.offset, tensor.bytes, false));
  if (tensor.placement == Placement::image2d) {
    read_image(queue, pool, grid_extent(tensor.layout, tensor.shape), bytes.data(), named(tensor));
  } else {
    read_buffer(queue, pool, place.offset, bytes.data(), tensor.bytes, named(tensor));
  }
  recorder_.end(id);
  return bytes;
}

void TensorMemory::poison(const OpenClQueue& queue) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const PoolMemory& pool : pools_) {
    if (pool.pool->placement == Placement::image2d) {
      fill_image(queue, pool.memory, pool.pool->extent, {nan, nan, nan, nan}, named(*pool.pool));
    } else {
      fill_buffer(queue, pool.memory, Bytes(0), pool.bytes - pool.bytes % Bytes(4), poison_pattern,
                  named(*pool.pool));
    }
  }
}

}  // namespace fm
