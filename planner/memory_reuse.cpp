#include "planner/memory_reuse.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "planner/streaming.hpp"
#include "planner/weight_stay.hpp"

namespace fm {
namespace {

/// A weight that is released, by launch positions.
struct Tenancy {
  WeightSlice* slice = nullptr;
  std::size_t filled = 0;    ///< image: the first launch that moves a part of it; buffer: the first
                             ///< during which it is read; 0 when preloaded
  std::size_t released = 0;  ///< its last user
};

std::vector<Tenancy> tenancies_by_filling(Plan* plan) {
  const auto positions = launch_positions(*plan);
  std::vector<Tenancy> tenancies;
  for (WeightSlice& slice : plan->weights) {
    if (slice.release_after.empty()) continue;
    const WeightStay stay = stay_of(*plan, slice, positions);
    tenancies.push_back({&slice, stay.parts.empty() ? stay.read : stay.image, stay.release});
  }
  std::stable_sort(tenancies.begin(), tenancies.end(),
                   [](const Tenancy& a, const Tenancy& b) { return a.filled < b.filled; });
  return tenancies;
}

class MemoryReuse {
 public:
  MemoryReuse(std::optional<Bytes> budget, const Plan& plan)
      : ahead_(static_cast<std::size_t>(plan.enqueue_ahead) - 1) {
    for (const PlanLaunch& launch : plan.launches) claimed_.push_back(launch.claims.total());
    budget_ = budget.value_or(*std::max_element(claimed_.begin(), claimed_.end()));
  }

  void provide(const Tenancy& tenancy, const MemoryKind& kind) {
    std::vector<Tenancy>& idle = owners_[kind];
    auto latest = idle.end();
    for (auto owner = idle.begin(); owner != idle.end(); ++owner) {
      if (owner->released >= tenancy.filled) continue;
      if (latest == idle.end() || owner->released > latest->released) latest = owner;
    }
    if (latest != idle.end() && keep(*latest, tenancy)) {
      tenancy.slice->reuses = latest->slice->tensor;
      idle.erase(latest);
    }
    idle.push_back(tenancy);
  }

 private:
  /// Claims the owner's memory until the taker's own claim begins, where the budget allows.
  bool keep(const Tenancy& owner, const Tenancy& taker) {
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
  std::vector<Bytes> claimed_;                         // by launch
  std::map<MemoryKind, std::vector<Tenancy>> owners_;  // of memory nobody took over yet
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
  for (const Tenancy& tenancy : tenancies_by_filling(plan)) {
    reuse.provide(tenancy, memory_kind(plan->tensor(tenancy.slice->tensor)));
  }
  set_claims(plan);
}

}  // namespace fm
