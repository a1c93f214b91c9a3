#include "planner/overlap/optimal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/diagnostics.hpp"
#include "core/figures_text.hpp"
#include "planner/overlap/chunk_rounding.hpp"
#include "planner/overlap/eager_reading.hpp"
#include "planner/overlap/overlap_lp.hpp"
#include "planner/overlap/stream_filling.hpp"

namespace fm {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

constexpr double good_enough = 0.002;  // gap at which improving stops
constexpr int fillings = 4;            // until the times of a run are about those of the next
constexpr int improving_rounds = 4;
constexpr std::uint64_t improving_work = 2000000;  // a tenth of a second

void refuse_small_budget(const TimedProblem& problem) {
  const MinimumBudget minimum = minimum_budget(problem);
  if (problem.budget >= minimum.bytes) return;
  throw UserError("a budget of " + mebibytes_down(problem.budget) + " is below the minimum, " +
                  least_budget_text(minimum.bytes) + ": launch " + std::to_string(minimum.launch) +
                  " holds " + mebibytes_up(minimum.activations) + " beside " +
                  mebibytes_up(minimum.weights) + " of weights");
}

void keep_if_faster(OverlapSchedule&& schedule, TimedRun&& run, OptimalSolution* best) {
  if (run.latency >= best->run.latency) return;
  best->schedule = std::move(schedule);
  best->run = std::move(run);
}

/// Streams what is read in time where it is cheapest, by the times of the run before.
void fill(const TimedProblem& problem, const ChunkList& chunks, std::size_t lead,
          OptimalSolution* best) {
  for (const double price : stream_prices(problem)) {
    std::vector<std::uint64_t> in_time = chunks_in_time(problem, chunks, best->run, lead);
    for (int i = 0; i < fillings && best->gap() > good_enough; ++i) {
      OverlapSchedule schedule =
          with_late_copies(problem, chunks, fill_streams(problem, chunks, in_time, price));
      TimedRun run = run_without_late_streams(problem, chunks, &schedule);
      in_time = chunks_in_time(problem, chunks, run, lead);
      keep_if_faster(std::move(schedule), std::move(run), best);
    }
  }
}

}  // namespace

double OptimalSolution::gap() const {
  if (lower_bound <= 0) return 0;
  return std::max(0.0, static_cast<double>(run.latency.count()) / lower_bound - 1);
}

OptimalSolution solve_optimal(const TimedProblem& problem, const OptimalLimits& limits) {
  const Clock::time_point began = Clock::now();
  check(problem);
  refuse_small_budget(problem);
  const ChunkList chunks(problem);
  OptimalSolution best;
  best.schedule = copies_before_use(problem, chunks);
  best.run = run_schedule(problem, chunks, best.schedule);
  best.lower_bound = eager_reading(problem).latency;
  fill(problem, chunks, 0, &best);
  if (problem.whole_claims && problem.ahead > 0) fill(problem, chunks, problem.ahead, &best);
  if (best.gap() > good_enough) {
    if (const auto relaxed = solve_overlap_lp(problem, limits.seconds)) {
      best.relaxation_solved = true;
      best.lower_bound = std::max(best.lower_bound, relaxed->latency * (1 - 1e-7));
      for (const double share : {1.0, 0.5, 0.05}) {
        OverlapSchedule schedule = round_to_chunks(problem, chunks, *relaxed, share);
        TimedRun run = run_schedule(problem, chunks, schedule);
        keep_if_faster(std::move(schedule), std::move(run), &best);
      }
    }
    if (best.gap() > good_enough && since(began) < limits.seconds) {
      improve_schedule(problem, chunks, improving_rounds, improving_work, &best.schedule,
                       &best.run);
    }
  }
  best.seconds = since(began);
  return best;
}

BudgetedSolution minimize_memory(const TimedProblem& problem, double slowdown, Bytes resolution,
                                 const OptimalLimits& limits) {
  TimedProblem budgeted = problem;
  BudgetedSolution best;
  best.solution = solve_optimal(problem, limits);
  const auto target = static_cast<double>(best.solution.run.latency.count()) * (1 + slowdown);
  best.budget = std::min(problem.budget, best.solution.run.peak.total);
  std::uint64_t low = minimum_budget(problem).bytes.count();  // may do
  std::uint64_t high = best.budget.count();                   // does
  // The first try is the minimum itself.
  for (std::uint64_t middle = low; low < high; middle = low + (high - low) / 2) {
    budgeted.budget = Bytes(middle);
    OptimalSolution tried = solve_optimal(budgeted, limits);
    if (static_cast<double>(tried.run.latency.count()) <= target) {
      high = std::min(middle, tried.run.peak.total.count());
      best = {Bytes(high), std::move(tried)};
    } else {
      low = middle + 1;
    }
    if (high - low < resolution.count()) break;
  }
  return best;
}

std::vector<BudgetedSolution> pareto_front(const TimedProblem& problem, std::size_t count,
                                           const OptimalLimits& limits) {
  const BudgetedSolution fastest = minimize_memory(problem, 0, problem.chunk, limits);
  const Bytes least = minimum_budget(problem).bytes;
  std::vector<BudgetedSolution> front;
  TimedProblem budgeted = problem;
  const double ratio = static_cast<double>(fastest.budget.count()) /
                       static_cast<double>(std::max<std::uint64_t>(least.count(), 1));
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    const auto budget = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(least.count()) * std::pow(ratio, share)));
    budgeted.budget = std::max(least, Bytes(budget));
    OptimalSolution solution = solve_optimal(budgeted, limits);
    if (!front.empty() && solution.run.latency >= front.back().solution.run.latency) continue;
    front.push_back({budgeted.budget, std::move(solution)});
  }
  if (front.empty() || fastest.solution.run.latency < front.back().solution.run.latency) {
    front.push_back(fastest);
  }
  return front;
}

}  // namespace fm
