#include "planner/memory_reuse.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "planner/streaming.hpp"

namespace fm {
namespace {

/// A streamed weight by launch positions.
struct Stay {
  WeightSlice* slice = nullptr;
  std::size_t filled = 0;    ///< image: the first launch that moves a part of it; buffer: the first
                             ///< during which it is read
  std::size_t released = 0;  ///< its last user
};

std::vector<Stay> stays_by_filling(Plan* plan) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < plan->launches.size(); ++i) positions[plan->launches[i].id] = i;
  std::vector<Stay> stays;
  for (WeightSlice& slice : plan->weights) {
    if (slice.residency != Residency::stream) continue;
    Stay stay{&slice, 0, positions.at(slice.release_after)};
    if (!slice.earliest_launch.empty()) stay.filled = positions.at(slice.earliest_launch);
    if (!slice.transforms.empty()) stay.filled = plan->launches.size();
    for (const WeightTransform& transform : slice.transforms) {
      stay.filled = std::min(stay.filled, positions.at(transform.launch));
    }
    stays.push_back(stay);
  }
  std::stable_sort(stays.begin(), stays.end(),
                   [](const Stay& a, const Stay& b) { return a.filled < b.filled; });
  return stays;
}

class MemoryReuse {
 public:
  MemoryReuse(std::optional<Bytes> budget, const Plan& plan)
      : ahead_(static_cast<std::size_t>(plan.enqueue_ahead) - 1) {
    for (const PlanLaunch& launch : plan.launches) claimed_.push_back(launch.claims.total());
    budget_ = budget.value_or(*std::max_element(claimed_.begin(), claimed_.end()));
  }

  void provide(const Stay& stay, const MemoryKind& kind) {
    std::vector<Stay>& idle = owners_[kind];
    auto latest = idle.end();
    for (auto owner = idle.begin(); owner != idle.end(); ++owner) {
      if (owner->released >= stay.filled) continue;
      if (latest == idle.end() || owner->released > latest->released) latest = owner;
    }
    if (latest != idle.end() && keep(*latest, stay)) {
      stay.slice->reuses = latest->slice->tensor;
      idle.erase(latest);
    }
    idle.push_back(stay);
  }

 private:
  /// Claims the owner's memory until the taker's own claim begins, where the budget allows.
  bool keep(const Stay& owner, const Stay& taker) {
    const std::size_t first = owner.released + 1;
    // An image is claimed when the launch that fills it is enqueued.
    const std::size_t ahead = taker.slice->transforms.empty() ? 0 : ahead_;
    const std::size_t end = taker.filled - std::min(ahead, taker.filled);
    const Bytes bytes = taker.slice->bytes;
    for (std::size_t k = first; k < end; ++k) {
      if (claimed_[k] + bytes > budget_) return false;
    }
    for (std::size_t k = first; k < end; ++k) claimed_[k] += bytes;
    return true;
  }

  const std::size_t ahead_;
  Bytes budget_;
  std::vector<Bytes> claimed_;                      // by launch
  std::map<MemoryKind, std::vector<Stay>> owners_;  // of memory nobody took over yet
};

}  // namespace

MemoryKind memory_kind(const PlanTensor& weight) {
  if (weight.placement == Placement::buffer) {
    return {Placement::buffer, weight.bytes.count(), 0, DataType::u8};
  }
  const GridExtent extent = grid_extent(weight.layout, weight.shape);
  return {Placement::image2d, extent.width, extent.height, weight.dtype};
}

void reuse_memory(std::optional<Bytes> budget, Plan* plan) {
  MemoryReuse reuse(budget, *plan);
  for (const Stay& stay : stays_by_filling(plan)) {
    reuse.provide(stay, memory_kind(plan->tensor(stay.slice->tensor)));
  }
  set_claims(plan);
}

}  // namespace fm
