#include "planner/overlap/copying_settings.hpp"

namespace fm {

CopyingSettings::CopyingSettings(const OverlapModel& model,
                                 const std::vector<OverlapSetting>& settings)
    : model_(model), settings_(settings) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (i == 0 || settings[i].preloaded != settings[i - 1].preloaded) {
      TimedProblem problem = model.problem(settings[i], unlimited_bytes);
      ChunkList chunks(problem);
      OverlapSchedule copies = copies_before_use(problem, chunks);
      sets_.push_back({std::move(problem), std::move(chunks), std::move(copies)});
    }
    set_of_.push_back(sets_.size() - 1);
  }
}

CopyingSettings::PreloadSet& CopyingSettings::with(std::size_t setting, Bytes budget) {
  PreloadSet& set = sets_[set_of_[setting]];
  model_.set_ring(settings_[setting], budget, &set.problem);
  return set;
}

MinimumBudget CopyingSettings::minimum(std::size_t setting) {
  return minimum_budget(with(setting, unlimited_bytes).problem);
}

std::optional<TimedRun> CopyingSettings::run(std::size_t setting, Bytes budget) {
  const PreloadSet& set = with(setting, budget);
  if (minimum_budget(set.problem).bytes > budget) return std::nullopt;
  return run_schedule(set.problem, set.chunks, set.copies);
}

OptimalSolution CopyingSettings::solution(std::size_t setting, Bytes budget) {
  const PreloadSet& set = with(setting, budget);
  OptimalSolution solution;
  solution.schedule = set.copies;
  solution.run = run_schedule(set.problem, set.chunks, set.copies);
  return solution;
}

}  // namespace fm
