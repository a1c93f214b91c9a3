#include "planner/overlap/timed_problem.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace fm {
namespace {

/// Images of launch k + ahead are claimed while k runs.
void claim_images_ahead(const TimedProblem& problem, WeightDemand* demand) {
  const std::size_t n = problem.launches.size();
  std::vector<std::uint64_t> images(n, 0);  // end of the last image first used by each launch
  std::uint64_t end = 0;
  for (const TimedWeight& weight : problem.weights) {
    end += weight.bytes.count();
    if (weight.form == WeightForm::image) images[weight.first_use] = end;
  }
  for (std::size_t k = 1; k < n; ++k) images[k] = std::max(images[k], images[k - 1]);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t enqueued = std::min(k + problem.ahead, n - 1);
    demand->claimed[k] = std::max(demand->claimed[k], images[enqueued]);
  }
}

/// The end of the last chunk that ends at `cap` or before; `ends`: of weights, from 0 on.
std::int64_t chunk_end(const TimedProblem& problem, const std::vector<std::int64_t>& ends,
                       std::int64_t cap) {
  if (cap < 0) return cap;
  const std::int64_t begin = *(std::upper_bound(ends.begin(), ends.end(), cap) - 1);
  const auto chunk = static_cast<std::int64_t>(problem.chunk.count());
  return begin == ends.back() ? begin : begin + (cap - begin) / chunk * chunk;
}

std::uint64_t constant_ring(const TimedProblem& problem) {
  if (!problem.whole_claims) return 0;
  const bool images =
      std::any_of(problem.weights.begin(), problem.weights.end(),
                  [](const TimedWeight& weight) { return weight.form == WeightForm::image; });
  return images ? problem.ring.count() : 0;
}

}  // namespace

bool is_convex(const SlowdownCurve& curve) {
  double bytes = 0, time = 0, slope = 0, slope_error = 0;
  for (const SlowdownPoint& point : curve) {
    const auto next_bytes = static_cast<double>(point.streamed.count());
    const auto next_time = static_cast<double>(point.extra.count());
    const double run = next_bytes - bytes;
    if (run <= 0) return false;
    // Points are whole nanoseconds, so that a rise may be off by one: no concavity.
    const double next_slope = (next_time - time) / run, next_error = 1 / run;
    if (next_slope < slope - slope_error - next_error) return false;
    bytes = next_bytes, time = next_time;
    if (next_slope > slope) slope = next_slope, slope_error = next_error;
  }
  return true;
}

void check(const TimedProblem& problem) {
  if (problem.launches.empty()) throw std::invalid_argument("no launches");
  if (problem.chunk == Bytes(0)) throw std::invalid_argument("chunk of 0 bytes");
  std::size_t before = 0;
  for (std::size_t w = 0; w < problem.weights.size(); ++w) {
    const TimedWeight& weight = problem.weights[w];
    const bool ordered = weight.first_use >= before && weight.first_use <= weight.last_use &&
                         weight.first_use < problem.launches.size() &&
                         weight.last_use <= problem.launches.size();
    if (!ordered || weight.bytes == Bytes(0)) {
      throw std::invalid_argument("weight " + std::to_string(w) +
                                  ": empty, or its uses are out of order");
    }
    before = weight.first_use;
  }
  for (std::size_t k = 0; k < problem.launches.size(); ++k) {
    if (is_convex(problem.launches[k].slowdown)) continue;
    throw std::invalid_argument("launch " + std::to_string(k) +
                                ": its slowdown is not rising and convex");
  }
}

TimedProblem chunkwise(const TimedProblem& problem) {
  TimedProblem relaxed = problem;
  relaxed.whole_claims = false;
  relaxed.ring = unlimited_bytes;
  return relaxed;
}

WeightDemand weight_demand(const TimedProblem& problem) {
  const std::size_t n = problem.launches.size();
  WeightDemand demand;
  demand.needed.assign(n, 0);
  demand.freed.assign(n + 1, 0);
  for (const TimedWeight& weight : problem.weights) {
    demand.needed[weight.first_use] += weight.bytes.count();
    if (weight.last_use < n) demand.freed[weight.last_use + 1] += weight.bytes.count();
  }
  for (std::size_t k = 1; k < n; ++k) {
    demand.needed[k] += demand.needed[k - 1];
    demand.freed[k] += demand.freed[k - 1];
  }
  demand.freed.resize(n);
  demand.claimed = demand.needed;
  if (problem.whole_claims) claim_images_ahead(problem, &demand);
  return demand;
}

PointerCaps pointer_caps(const TimedProblem& problem, const WeightDemand& demand) {
  const std::size_t n = problem.launches.size();
  const auto budget = static_cast<std::int64_t>(problem.budget.count()) -
                      static_cast<std::int64_t>(constant_ring(problem));
  PointerCaps caps;
  caps.waiting.resize(n);
  caps.running.resize(n);
  std::int64_t later = budget;
  std::vector<std::int64_t> ends{0};
  for (const TimedWeight& weight : problem.weights) {
    ends.push_back(ends.back() + static_cast<std::int64_t>(weight.bytes.count()));
  }
  later = std::max(later, ends.back());
  for (std::size_t k = n; k-- > 0;) {
    const TimedLaunch& launch = problem.launches[k];
    const auto freed = static_cast<std::int64_t>(demand.freed[k]);
    later = std::min(later, budget - static_cast<std::int64_t>(launch.running.count()) + freed);
    caps.running[k] = chunk_end(problem, ends, later);
    later = std::min(later, budget - static_cast<std::int64_t>(launch.waiting.count()) + freed);
    caps.waiting[k] = chunk_end(problem, ends, later);
  }
  return caps;
}

MinimumBudget minimum_budget(const TimedProblem& problem) {
  const WeightDemand demand = weight_demand(problem);
  const Bytes ring(constant_ring(problem));
  MinimumBudget minimum;
  for (std::size_t k = 0; k < problem.launches.size(); ++k) {
    const Bytes activations = std::max(problem.launches[k].running, problem.launches[k].waiting);
    const Bytes weights(demand.claimed[k] - demand.freed[k]);
    const Bytes all = activations + weights + ring;
    if (k > 0 && all <= minimum.bytes) continue;
    minimum = {all, k, activations, weights, ring, false};
  }
  // Nothing is streamed yet.
  if (problem.preloading > minimum.bytes) {
    minimum = {problem.preloading, 0, problem.preloading, Bytes(0), Bytes(0), true};
  }
  return minimum;
}

TimeFloor time_floor(const TimedProblem& problem) {
  const std::size_t n = problem.launches.size();
  std::vector<std::uint64_t> disk(n, 0);
  TimeFloor floor;
  for (const TimedWeight& weight : problem.weights) {
    disk[weight.first_use] += weight.read.count();
    floor.disk += weight.read;
  }
  for (std::size_t k = 1; k < n; ++k) disk[k] += disk[k - 1];
  for (std::size_t k = n; k-- > 0;) {
    floor.compute += problem.launches[k].time;
    const Nanoseconds read(disk[k]);
    const Nanoseconds wait = read > problem.head_start ? read - problem.head_start : Nanoseconds(0);
    floor.latency = std::max(floor.latency, wait + floor.compute);
  }
  return floor;
}

}  // namespace fm
