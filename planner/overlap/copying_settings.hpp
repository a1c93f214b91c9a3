#pragma once
// Settings with copies alone, as many as a search tries: those of one preload set share its
// problem.

#include <optional>
#include <vector>

#include "planner/overlap/optimal.hpp"
#include "planner/overlap/plan_problem.hpp"

namespace fm {

class CopyingSettings {
 public:
  /// Settings of one preload set must follow each other. Both arguments must outlive it.
  CopyingSettings(const OverlapModel& model, const std::vector<OverlapSetting>& settings);

  std::size_t size() const { return settings_.size(); }
  MinimumBudget minimum(std::size_t setting);
  /// Its weights copied as late as possible; nothing where the budget is below its minimum.
  std::optional<TimedRun> run(std::size_t setting, Bytes budget);
  /// With the schedule, of a setting whose minimum the budget holds.
  OptimalSolution solution(std::size_t setting, Bytes budget);

 private:
  struct PreloadSet {
    TimedProblem problem;
    ChunkList chunks;
    OverlapSchedule copies;
  };

  PreloadSet& with(std::size_t setting, Bytes budget);

  const OverlapModel& model_;
  const std::vector<OverlapSetting>& settings_;
  std::vector<PreloadSet> sets_;
  std::vector<std::size_t> set_of_;  // by setting
};

}  // namespace fm
