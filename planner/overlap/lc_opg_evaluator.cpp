#include "planner/overlap/lc_opg_evaluator.hpp"

#include <algorithm>
#include <functional>

namespace fm {
namespace {

/// What starting a run costs, in layers run.
constexpr std::uint64_t call_work = 16;

}  // namespace

PreloadEvaluator::PreloadEvaluator(const LcOpgInstance& instance, std::vector<char> preloaded)
    : instance_(instance), preloaded_(std::move(preloaded)) {
  for (std::size_t w = instance.weight_count(); w > 0; --w) {
    if (groups_.empty() || groups_.back().consumer != instance.consumer[w - 1]) {
      groups_.push_back({instance.consumer[w - 1], w - 1, w, 0, 0, 0});
    }
    groups_.back().begin = w - 1;
  }
  run_all();
}

void PreloadEvaluator::release(const Group& group, const std::vector<std::size_t>& moved) const {
  for (std::size_t w = group.begin; w < group.end; ++w) {
    bool preloaded = preloaded_[w] != 0;
    if (std::find(moved.begin(), moved.end(), w) != moved.end()) preloaded = !preloaded;
    if (preloaded) continue;
    const std::int64_t chunks = instance_.chunks[w];
    jobs_.insert(std::lower_bound(jobs_.begin(), jobs_.end(), chunks, std::greater<>()), chunks);
  }
}

/// Runs layers `from` down to `to`; the layers of distance that the unfinished
/// jobs pass.
std::int64_t PreloadEvaluator::run_slots(std::int64_t from, std::int64_t to) const {
  std::int64_t distance = 0;
  for (std::int64_t layer = from; layer >= to && !jobs_.empty(); --layer) {
    ++work_;
    distance += static_cast<std::int64_t>(jobs_.size());
    std::int64_t capacity = instance_.capacity[layer];
    while (capacity > 0 && !jobs_.empty()) {
      const std::int64_t taken = std::min(capacity, jobs_.back());
      capacity -= taken;
      jobs_.back() -= taken;
      if (jobs_.back() == 0) jobs_.pop_back();
    }
  }
  return distance;
}

std::int64_t PreloadEvaluator::next_consumer(std::size_t group) const {
  return group + 1 < groups_.size() ? groups_[group + 1].consumer : 0;
}

void PreloadEvaluator::run_all() {
  work_ += call_work + instance_.weight_count();
  jobs_.clear();
  states_.clear();
  distance_ = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.state_begin = states_.size();
    states_.insert(states_.end(), jobs_.begin(), jobs_.end());
    group.state_end = states_.size();
    group.distance = distance_;
    release(group, {});
    distance_ += run_slots(group.consumer - 1, next_consumer(g));
  }
  preloaded_chunks_ = 0;
  for (std::size_t w = 0; w < instance_.weight_count(); ++w) {
    if (preloaded_[w]) preloaded_chunks_ += instance_.chunks[w];
  }
  fits_ = jobs_.empty();
  const bool possible = fits_ && preloaded_chunks_ <= instance_.preload_limit;
  cost_ = possible ? instance_.chunk_cost * preloaded_chunks_ + instance_.layer_cost * distance_
                   : impossible;
}

bool PreloadEvaluator::joins(std::size_t group) const {
  const Group& kept = groups_[group];
  return jobs_.size() == kept.state_end - kept.state_begin &&
         std::equal(jobs_.begin(), jobs_.end(),
                    states_.begin() + static_cast<std::ptrdiff_t>(kept.state_begin));
}

std::int64_t PreloadEvaluator::cost_with(const std::vector<std::size_t>& moved,
                                         std::int64_t limit) const {
  if (moved.empty()) return cost_;
  work_ += call_work;
  std::int64_t chunks = preloaded_chunks_;
  for (const std::size_t w : moved) {
    chunks += preloaded_[w] ? -instance_.chunks[w] : instance_.chunks[w];
  }
  if (chunks > instance_.preload_limit) return impossible;
  const std::int64_t base = instance_.chunk_cost * chunks;
  const auto [first, last] = std::minmax_element(moved.begin(), moved.end());
  const auto begins_after = [](std::size_t w, const Group& group) { return w >= group.begin; };
  std::size_t g = static_cast<std::size_t>(
      std::upper_bound(groups_.begin(), groups_.end(), *last, begins_after) - groups_.begin());
  std::int64_t distance = groups_[g].distance;
  jobs_.assign(states_.begin() + static_cast<std::ptrdiff_t>(groups_[g].state_begin),
               states_.begin() + static_cast<std::ptrdiff_t>(groups_[g].state_end));
  for (; g < groups_.size(); ++g) {
    if (groups_[g].end <= *first && joins(g)) {
      if (!fits_) return impossible;
      distance += distance_ - groups_[g].distance;
      jobs_.clear();
      break;
    }
    release(groups_[g], moved);
    distance += run_slots(groups_[g].consumer - 1, next_consumer(g));
    if (base + instance_.layer_cost * distance >= limit) return impossible;
  }
  const std::int64_t cost = base + instance_.layer_cost * distance;
  return jobs_.empty() && cost < limit ? cost : impossible;
}

void PreloadEvaluator::move(const std::vector<std::size_t>& moved) {
  for (const std::size_t w : moved) preloaded_[w] = preloaded_[w] ? 0 : 1;
  run_all();
}

}  // namespace fm
