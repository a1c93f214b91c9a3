#include "planner/activation_memory.hpp"

#include <algorithm>
#include <map>

namespace fm {
namespace {

/// CL_DEVICE_MEM_BASE_ADDR_ALIGN is at most 4096 bits on the devices of this project: sub-buffers
/// may start here.
constexpr Bytes offset_alignment{512};

/// Launch positions of a tensor's first and last use.
struct Life {
  std::size_t first = 0;
  std::size_t last = 0;
  bool overlaps(const Life& other) const { return first <= other.last && other.first <= last; }
};

std::map<std::string, std::size_t> launch_positions(const Plan& plan) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions[plan.launches[i].id] = i;
  return positions;
}

struct Placed {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Life life;
};

/// The lowest offset where `size` bytes are free of all placed tensors alive at the same time.
std::uint64_t lowest_offset(const std::vector<Placed>& placed, std::uint64_t size,
                            const Life& life) {
  std::vector<Placed> rivals;
  for (const Placed& other : placed) {
    if (other.life.overlaps(life)) rivals.push_back(other);
  }
  std::sort(rivals.begin(), rivals.end(),
            [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
  std::uint64_t offset = 0;
  for (const Placed& rival : rivals) {
    if (offset + size <= rival.begin) break;
    offset = std::max(offset, round_up(rival.end, offset_alignment.count()));
  }
  return offset;
}

void assign_buffers(Plan* plan, const std::vector<Life>& lives) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan->tensors.size(); ++i) {
    const PlanTensor& tensor = plan->tensors[i];
    if (tensor.role == TensorRole::activation && tensor.placement == Placement::buffer) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plan->tensors[a].bytes > plan->tensors[b].bytes;
  });
  std::vector<Placed> placed;
  std::uint64_t total = 0;
  for (std::size_t i : order) {
    PlanTensor& tensor = plan->tensors[i];
    const std::uint64_t size = tensor.bytes.count();
    const std::uint64_t offset = lowest_offset(placed, size, lives[i]);
    placed.push_back({offset, offset + size, lives[i]});
    total = std::max(total, offset + size);
    tensor.pool = "activations";
    tensor.offset = Bytes(offset);
  }
  if (order.empty()) return;
  Pool pool;
  pool.id = "activations";
  pool.bytes = round_up(Bytes(total), offset_alignment);
  plan->pools.push_back(std::move(pool));
}

std::uint64_t area(const GridExtent& extent) { return extent.width * extent.height; }

/// An image whose tensors are alive at different times.
struct ImageSlot {
  GridExtent extent;
  DataType dtype = DataType::f16;
  std::vector<Life> lives;
  std::vector<PlanTensor*> tensors;

  bool is_free(const Life& life) const {
    return std::none_of(lives.begin(), lives.end(),
                        [&](const Life& other) { return other.overlaps(life); });
  }
  GridExtent grown_for(const GridExtent& other) const {
    return {std::max(extent.width, other.width), std::max(extent.height, other.height)};
  }
};

/// The free slot that has to grow least for the tensor, where that is less than an image of its
/// own.
ImageSlot* cheapest_slot(std::vector<ImageSlot>* slots, const PlanTensor& tensor,
                         const GridExtent& extent, const Life& life) {
  ImageSlot* best = nullptr;
  std::uint64_t least = area(extent);
  for (ImageSlot& slot : *slots) {
    if (slot.dtype != tensor.dtype || !slot.is_free(life)) continue;
    const std::uint64_t growth = area(slot.grown_for(extent)) - area(slot.extent);
    if (growth < least) {
      least = growth;
      best = &slot;
    }
  }
  return best;
}

void assign_images(Plan* plan, const std::vector<Life>& lives) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan->tensors.size(); ++i) {
    const PlanTensor& tensor = plan->tensors[i];
    if (tensor.role == TensorRole::activation && tensor.placement == Placement::image2d) {
      order.push_back(i);
    }
  }
  const auto extent_of = [&](std::size_t i) {
    return grid_extent(plan->tensors[i].layout, plan->tensors[i].shape);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return area(extent_of(a)) > area(extent_of(b));
  });
  std::vector<ImageSlot> slots;
  for (std::size_t i : order) {
    PlanTensor& tensor = plan->tensors[i];
    ImageSlot* slot = cheapest_slot(&slots, tensor, extent_of(i), lives[i]);
    if (slot == nullptr) {
      slots.push_back({extent_of(i), tensor.dtype, {}, {}});
      slot = &slots.back();
    }
    slot->extent = slot->grown_for(extent_of(i));
    slot->lives.push_back(lives[i]);
    slot->tensors.push_back(&tensor);
  }
  for (std::size_t s = 0; s < slots.size(); ++s) {
    Pool pool;
    pool.id = "image" + std::to_string(s);
    pool.placement = Placement::image2d;
    pool.extent = slots[s].extent;
    pool.dtype = slots[s].dtype;
    pool.bytes = size_of(pool.dtype) * 4 * area(pool.extent);
    for (PlanTensor* tensor : slots[s].tensors) tensor->pool = pool.id;
    plan->pools.push_back(std::move(pool));
  }
}

}  // namespace

void set_uses(Plan* plan) {
  std::map<std::string, PlanTensor*> tensors;
  for (PlanTensor& tensor : plan->tensors) {
    tensor.first_use.clear();
    tensor.last_use.clear();
    tensors[tensor.id] = &tensor;
  }
  for (const PlanLaunch& launch : plan->launches) {
    for (const LaunchArgument& argument : launch.arguments) {
      const auto* used = std::get_if<TensorArgument>(&argument);
      if (used == nullptr) continue;
      PlanTensor& tensor = *tensors.at(used->tensor);
      if (tensor.first_use.empty()) tensor.first_use = launch.id;
      tensor.last_use = launch.id;
    }
  }
}

void assign_pools(Plan* plan) {
  plan->pools.clear();
  const auto positions = launch_positions(*plan);
  std::vector<Life> lives(plan->tensors.size());
  for (std::size_t i = 0; i < plan->tensors.size(); ++i) {
    PlanTensor& tensor = plan->tensors[i];
    if (!tensor.first_use.empty()) {
      lives[i] = {positions.at(tensor.first_use), positions.at(tensor.last_use)};
    }
    if (tensor.role != TensorRole::input && tensor.role != TensorRole::output) continue;
    Pool pool;
    pool.id = to_string(tensor.role) + "_" + tensor.id;
    pool.bytes = round_up(tensor.bytes, offset_alignment);
    tensor.pool = pool.id;
    plan->pools.push_back(std::move(pool));
  }
  assign_buffers(plan, lives);
  assign_images(plan, lives);
}

Bytes pool_bytes(const Plan& plan) {
  Bytes total;
  for (const Pool& pool : plan.pools) total += pool.bytes;
  return total;
}

}  // namespace fm
