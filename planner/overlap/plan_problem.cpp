#include "planner/overlap/plan_problem.hpp"

#include <algorithm>
#include <map>

#include "core/preload_memory.hpp"
#include "planner/activation_memory.hpp"
#include "planner/memory_reuse.hpp"
#include "planner/overlap/plan_transforms.hpp"
#include "planner/streaming.hpp"

namespace fm {
namespace {

/// Bytes beside weights while each launch runs: what claims hold when all weights are preloaded.
std::vector<Bytes> bytes_beside_weights(const Plan& plan) {
  Plan all_preloaded = plan;
  set_claims(&all_preloaded);
  std::vector<Bytes> bytes;
  for (const PlanLaunch& launch : all_preloaded.launches) {
    bytes.push_back(launch.claims.total() - launch.claims.preloaded);
  }
  return bytes;
}

}  // namespace

OverlapModel::OverlapModel(const Plan& plan, const std::vector<LaunchProfile>& launches,
                           const DeviceCosts& costs)
    : plan_(plan),
      launches_(launches),
      costs_(costs),
      facts_(facts_of_weights()),
      first_use_(plan.weights.size()),
      last_use_(plan.weights.size()),
      beside_(bytes_beside_weights(plan)),
      program_load_(costs.program_load(plan)) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions[plan.launches[i].id] = i;
  for (std::size_t w = 0; w < plan.weights.size(); ++w) {
    const WeightSlice& slice = plan.weights[w];
    const PlanTensor& tensor = plan.tensor(slice.tensor);
    if (tensor.first_use.empty()) continue;
    first_use_[w] = positions.at(tensor.first_use);
    last_use_[w] = positions.at(tensor.last_use);
    if (slice.residency != Residency::preload || slice.bytes < smallest_streamed) continue;
    streamable_.push_back(w);
    streamable_bytes_ += slice.bytes;
    streams_images_ = streams_images_ || facts_[w].image;
  }
  for (const LaunchProfile& launch : launches) {
    kernels_stream_ = kernels_stream_ || !launch.slowdown.empty();
  }
}

std::vector<OverlapModel::Facts> OverlapModel::facts_of_weights() const {
  const CopyCost copy = costs_.copy();
  std::map<MemoryKind, std::size_t> kinds;
  std::vector<Facts> all;
  for (const WeightSlice& slice : plan_.weights) {
    const PlanTensor& tensor = plan_.tensor(slice.tensor);
    Facts facts;
    facts.image = tensor.placement == Placement::image2d;
    facts.kind = kinds.emplace(memory_kind(tensor), kinds.size()).first->second;
    facts.read = facts.piece_read = costs_.read_time(slice.bytes);
    if (facts.image) {
      facts.row = size_of(tensor.dtype) * 4 * grid_extent(tensor.layout, tensor.shape).width;
      // Images come in pieces of the ring, each a request.
      facts.piece_read = costs_.read_time(slice.bytes, slice.bytes);
      facts.copy =
          copy.base + Nanoseconds(static_cast<std::uint64_t>(
                          copy.nanoseconds_per_byte * static_cast<double>(slice.bytes.count())));
    }
    all.push_back(facts);
  }
  return all;
}

Bytes OverlapModel::weight_bytes() const {
  Bytes bytes;
  for (const WeightSlice& slice : plan_.weights) {
    if (slice.residency != Residency::disk) bytes += slice.bytes;
  }
  return bytes;
}

OverlapSetting OverlapModel::least_preload() const {
  OverlapSetting setting;
  setting.preloaded.assign(plan_.weights.size(), 1);
  for (const std::size_t w : streamable_) setting.preloaded[w] = 0;
  setting.enqueue_ahead = plan_.enqueue_ahead;
  return setting;
}

Nanoseconds OverlapModel::preload_time(const OverlapSetting& setting) const {
  Nanoseconds time;
  Nanoseconds last_copy;
  for (std::size_t w = 0; w < plan_.weights.size(); ++w) {
    if (plan_.weights[w].residency != Residency::preload || !setting.preloaded[w]) continue;
    time += facts_[w].read;
    // Copies run beside the next reads; the last one is waited for.
    if (facts_[w].image) last_copy = facts_[w].copy;
  }
  return time + last_copy;
}

Nanoseconds OverlapModel::preload_wait(const OverlapSetting& setting) const {
  const Nanoseconds time = preload_time(setting);
  return time > program_load_ ? time - program_load_ : Nanoseconds(0);
}

Nanoseconds OverlapModel::reread_time(const OverlapSetting& setting) const {
  if (setting.preloads_stay) return Nanoseconds(0);
  return preload_time(setting) - preload_time(least_preload());
}

std::vector<std::size_t> OverlapModel::streamed(const OverlapSetting& setting) const {
  std::vector<std::size_t> weights;
  for (const std::size_t w : streamable_) {
    if (!setting.preloaded[w]) weights.push_back(w);
  }
  return weights;
}

TimedProblem OverlapModel::problem_of(const std::vector<std::size_t>& streamed,
                                      const std::vector<Bytes>& preloaded) const {
  TimedProblem problem;
  problem.chunk = plan_.chunk_bytes;
  problem.copy = costs_.copy();
  problem.images_a_launch = images_a_streaming_launch;
  for (std::size_t k = 0; k < plan_.launches.size(); ++k) {
    TimedLaunch launch;
    launch.time = launches_[k].time;
    launch.running = launch.waiting = beside_[k] + preloaded[k];
    launch.slowdown = launches_[k].slowdown;
    problem.launches.push_back(std::move(launch));
  }
  for (const std::size_t w : streamed) {
    TimedWeight weight;
    weight.bytes = plan_.weights[w].bytes;
    weight.first_use = first_use_[w];
    weight.last_use = last_use_[w];
    weight.form = facts_[w].image ? WeightForm::image : WeightForm::buffer;
    weight.read = facts_[w].piece_read;
    problem.weights.push_back(weight);
  }
  return problem;
}

std::vector<Bytes> OverlapModel::preloaded_by_launch(const OverlapSetting& setting) const {
  std::vector<Bytes> bytes(plan_.launches.size());
  std::vector<char> may_go(plan_.weights.size(), 0);
  if (!setting.preloads_stay) {
    for (const std::size_t w : streamable_) may_go[w] = 1;
  }
  Bytes always;
  std::vector<Bytes> leaving(plan_.launches.size());  // last used by each launch
  for (std::size_t w = 0; w < plan_.weights.size(); ++w) {
    const WeightSlice& slice = plan_.weights[w];
    if (slice.residency != Residency::preload || !setting.preloaded[w]) continue;
    if (!may_go[w]) {
      always += slice.bytes;
      continue;
    }
    leaving[last_use_[w]] += slice.bytes;
  }
  Bytes held = always;
  for (std::size_t k = bytes.size(); k-- > 0;) {
    held += leaving[k];
    bytes[k] = held;
  }
  return bytes;
}

TimedProblem OverlapModel::problem(const OverlapSetting& setting, Bytes budget) const {
  const std::vector<Bytes> preloaded = preloaded_by_launch(setting);
  TimedProblem problem = problem_of(streamed(setting), preloaded);
  problem.whole_claims = true;
  problem.host = costs_.host();
  set_ring(setting, budget, &problem);
  problem.preloading = preloading(setting, preloaded.front());
  for (std::size_t k = 0; k < setting.carries.size(); ++k) {
    if (!setting.carries[k]) problem.launches[k].slowdown.clear();
  }
  expect_reuse(setting, &problem);
  return problem;
}

void OverlapModel::set_ring(const OverlapSetting& setting, Bytes budget,
                            TimedProblem* problem) const {
  problem->budget = budget;
  problem->ring = setting.ring;
  problem->piece_overhead = costs_.part_overhead(staged_piece(setting.ring));
  problem->ahead = static_cast<std::size_t>(setting.enqueue_ahead) - 1;
}

void OverlapModel::expect_reuse(const OverlapSetting& setting, TimedProblem* problem) const {
  std::map<std::size_t, std::vector<std::size_t>> idle_after;  // launches that leave an image
  std::size_t streamed = 0;
  for (const std::size_t w : streamable_) {
    const std::size_t i = setting.preloaded[w] ? problem->weights.size() : streamed++;
    if (!facts_[w].image) continue;
    std::vector<std::size_t>& left = idle_after[facts_[w].kind];
    if (i < problem->weights.size()) {
      const auto before = std::find_if(left.begin(), left.end(),
                                       [&](std::size_t launch) { return launch < first_use_[w]; });
      problem->weights[i].new_memory = before == left.end();
      if (before != left.end()) left.erase(before);
    } else if (setting.preloads_stay) {
      continue;
    }
    left.push_back(last_use_[w]);
  }
}

Bytes OverlapModel::preloading(const OverlapSetting& setting, Bytes preloaded) const {
  Bytes images, widest_row;
  for (std::size_t w = 0; w < plan_.weights.size(); ++w) {
    const WeightSlice& slice = plan_.weights[w];
    if (!facts_[w].image || slice.residency != Residency::preload) continue;
    if (!setting.preloaded[w]) return Bytes(0);  // it has a ring, as have the launches
    images += slice.bytes;
    widest_row = std::max(widest_row, facts_[w].row);
  }
  return pool_bytes(plan_) + preloaded + preload_ring(images, widest_row);
}

TimedProblem OverlapModel::relaxed_problem(Bytes budget) const {
  TimedProblem problem = problem_of(streamable_, preloaded_by_launch(least_preload()));
  problem.budget = budget;
  problem.head_start = program_load_;
  return problem;
}

Plan OverlapModel::plan_of(const OverlapSetting& setting, const OverlapSchedule& schedule,
                           const TimedRun& run) const {
  Plan plan = plan_with_schedule(plan_, setting, streamed(setting), schedule, run);
  for (const std::size_t w : streamable_) {
    if (setting.preloads_stay || !setting.preloaded[w]) continue;
    WeightSlice& slice = plan.weights[w];
    slice.release_after = plan.tensor(slice.tensor).last_use;
  }
  return plan;
}

TimedRun OverlapModel::run_of(const Plan& plan, const OverlapSetting& setting, Bytes budget,
                              const OverlapSchedule& schedule) const {
  TimedProblem timed = problem(setting, budget);
  const std::vector<std::size_t> weights = streamed(setting);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    timed.weights[i].new_memory = plan.weights[weights[i]].reuses.empty();
  }
  return run_schedule(timed, ChunkList(timed), schedule);
}

}  // namespace fm
