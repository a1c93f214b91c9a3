#pragma once
// From a plan whose weights are all preloaded to timed problems, and from schedules back to plans.

#include <vector>

#include "core/plan.hpp"
#include "planner/overlap/device_costs.hpp"
#include "planner/overlap/overlap_schedule.hpp"

namespace fm {

/// What is decided before the timed problem: the rest is its schedule.
struct OverlapSetting {
  std::vector<char> preloaded;  ///< by weight of the plan
  /// Of the weights that could be streamed: preloaded ones stay for later runs, or go after their
  /// last use.
  bool preloads_stay = true;
  Bytes ring;  ///< staging ring, when image weights are streamed
  int enqueue_ahead = 2;
  /// By launch of the plan: may carry streams where its kernel can. Empty: all may.
  std::vector<char> carries;
};

/// A plan of kernels only, its weights all preloaded, and what its launches cost.
class OverlapModel {
 public:
  /// `plan` has uses, pools and weights; `launches` is by launch, with slowdowns for those that
  /// may stream. All arguments must outlive it.
  OverlapModel(const Plan& plan, const std::vector<LaunchProfile>& launches,
               const DeviceCosts& costs);

  const Plan& plan() const { return plan_; }
  /// Weights that may be streamed: not too small for reads of their own.
  const std::vector<std::size_t>& streamable() const { return streamable_; }
  Bytes streamable_bytes() const { return streamable_bytes_; }
  bool streams_images() const { return streams_images_; }
  bool kernels_stream() const { return kernels_stream_; }
  Nanoseconds program_load() const { return program_load_; }
  std::size_t first_use(std::size_t weight) const { return first_use_[weight]; }
  /// Bytes that launch `k` may stream; 0 when it cannot.
  Bytes capacity(std::size_t k) const {
    return launches_[k].slowdown.empty() ? Bytes(0) : launches_[k].slowdown.back().streamed;
  }
  Bytes weight_bytes() const;  ///< of all weights but those that stay on disk

  /// Weights too small to be streamed are preloaded, all others not.
  OverlapSetting least_preload() const;
  /// Preloading is over this long after the programs are loaded: the first launch may start.
  Nanoseconds preload_wait(const OverlapSetting& setting) const;
  /// What a later run waits for: preloads that the run before it released.
  Nanoseconds reread_time(const OverlapSetting& setting) const;
  /// Disk and copy time of a setting's preloads.
  Nanoseconds preload_time(const OverlapSetting& setting) const;
  /// The problem that a setting leaves, with whole claims.
  TimedProblem problem(const OverlapSetting& setting, Bytes budget) const;
  /// Makes problem(setting, budget) of that of another setting that differs in ring and enqueue
  /// depth only, or of another budget.
  void set_ring(const OverlapSetting& setting, Bytes budget, TimedProblem* problem) const;
  /// The problem without what executors cannot do: all streamable weights stream, from when
  /// programs begin to load, and claims are by chunk. Its optimum bounds every plan within the
  /// budget from below.
  TimedProblem relaxed_problem(Bytes budget) const;
  /// The plan that a schedule of problem(setting, ..) makes: residency, reads, copies, streams,
  /// ring. Dependencies and claims are left to be set.
  Plan plan_of(const OverlapSetting& setting, const OverlapSchedule& schedule,
               const TimedRun& run) const;
  /// The schedule's run, of problem(setting, budget), with the images that `plan`, made from it,
  /// reuses.
  TimedRun run_of(const Plan& plan, const OverlapSetting& setting, Bytes budget,
                  const OverlapSchedule& schedule) const;

 private:
  /// Resident while preloads are read, where that may be more than the launches claim: images have
  /// a ring then that goes before the first launch. Else 0.
  Bytes preloading(const OverlapSetting& setting, Bytes preloaded) const;
  /// `preloaded`: bytes of preloads by launch.
  TimedProblem problem_of(const std::vector<std::size_t>& streamed,
                          const std::vector<Bytes>& preloaded) const;
  std::vector<Bytes> preloaded_by_launch(const OverlapSetting& setting) const;
  /// Weights whose image an earlier one of the same extent and type leaves before their first use
  /// are taken to reuse it.
  void expect_reuse(const OverlapSetting& setting, TimedProblem* problem) const;
  std::vector<std::size_t> streamed(const OverlapSetting& setting) const;

  /// A weight as problems see it: what every setting's problem asks for again.
  struct Facts {
    bool image = false;
    std::size_t kind = 0;          ///< of memory: equal for weights that can take over each other's
    Bytes row;                     ///< image: its rows
    Nanoseconds read, piece_read;  ///< in the requests of preloading, and of streaming
    Nanoseconds copy;              ///< image: into it
  };
  std::vector<Facts> facts_of_weights() const;

  const Plan& plan_;
  const std::vector<LaunchProfile>& launches_;
  const DeviceCosts& costs_;
  const std::vector<Facts> facts_;  // by weight
  std::vector<std::size_t> streamable_;
  std::vector<std::size_t> first_use_, last_use_;  // by weight
  std::vector<Bytes> beside_;                      // by launch: resident beside weights
  Bytes streamable_bytes_;
  bool streams_images_ = false;
  bool kernels_stream_ = false;
  Nanoseconds program_load_;
};

}  // namespace fm
