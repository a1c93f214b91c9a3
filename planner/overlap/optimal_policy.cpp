#include "planner/overlap/optimal_policy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/diagnostics.hpp"
#include "core/figures_text.hpp"
#include "kernels/catalogue.hpp"
#include "planner/dependencies.hpp"
#include "planner/memory_reuse.hpp"
#include "planner/overlap/copying_settings.hpp"
#include "planner/overlap/setting_candidates.hpp"
#include "planner/streaming.hpp"

namespace fm {
namespace {

constexpr double fastest_tolerance = 0.01;
/// Launches in problems solved within one budget: large networks try fewer settings.
constexpr std::size_t launches_solved = 2400;

/// A setting and its schedule.
struct Candidate {
  OverlapSetting setting;
  OptimalSolution solution;
  double total = std::numeric_limits<double>::infinity();  ///< nanoseconds of all runs
};

class OptimalPolicy {
 public:
  OptimalPolicy(const OverlapModel& model, const DeviceCosts& costs, const OverlapRequest& request)
      : model_(model),
        costs_(costs),
        request_(request),
        limits_{request.seconds},
        candidates_(setting_candidates(model, request.runs)),
        copying_(model, candidates_),
        least_(least_budget()) {}

  std::vector<OverlapPlan> plans() {
    if (request_.budget && *request_.budget < least_.bytes) refuse_budget();
    const Bytes most = request_.budget.value_or(unlimited_bytes);
    const Candidate fastest = best_within(most);
    const Bytes peak = std::min(most, fastest.solution.run.peak.total);
    if (request_.pareto >= 2) return front(fastest, peak);
    if (request_.budget && !request_.minimize_memory) return {finished(fastest, most)};
    const double allowed = request_.minimize_memory ? request_.slowdown : fastest_tolerance;
    return {finished(least_memory(fastest, peak, allowed), most)};
  }

 private:
  MinimumBudget least_budget() {
    MinimumBudget least = copying_.minimum(0);
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      const MinimumBudget minimum = copying_.minimum(i);
      if (minimum.bytes < least.bytes) least = minimum;
    }
    return least;
  }

  [[noreturn]] void refuse_budget() const {
    const MinimumBudget& minimum = least_;
    const PlanLaunch& launch = model_.plan().launches[minimum.launch];
    const std::string least = "--budget " + mebibytes_down(*request_.budget) + ": at least " +
                              least_budget_text(minimum.bytes) + " are needed, held by ";
    if (minimum.preloading) throw UserError(least + preloading_name);
    throw UserError(least + launch_name(launch) + ": " + mebibytes_up(minimum.activations) +
                    " of activations and preloaded weights, " + mebibytes_up(minimum.weights) +
                    " of streamed weights, " + mebibytes_up(minimum.ring) + " of staging ring");
  }

  double total_of(const OverlapSetting& setting, Nanoseconds programs, const TimedRun& run) const {
    return (request_.programs_count ? static_cast<double>(programs.count()) : 0) +
           static_cast<double>(model_.preload_wait(setting).count()) +
           static_cast<double>(request_.runs) * static_cast<double>(run.latency.count());
  }

  /// Of the settings that are best with copies alone for their ring, as many as time allows, at
  /// least one, the best as a plan; where kernels stream, each with streams too. Throws
  /// std::logic_error when none fits.
  Candidate best_within(Bytes budget, std::size_t launches = launches_solved) {
    const std::size_t solved = launches / model_.plan().launches.size();
    std::vector<Candidate> tried = copying(budget, std::max<std::size_t>(solved, 1));
    if (tried.empty()) throw std::logic_error("no setting fits a budget above the least");
    if (model_.kernels_stream()) add_streaming(budget, &tried);
    for (Candidate& candidate : tried) set_total(budget, &candidate);
    const Candidate& best = *std::min_element(tried.begin(), tried.end(), faster);
    return request_.programs_count ? with_fewer_programs(best, budget) : best;
  }

  /// With copies alone, the fastest first: the best settings of `most` rings and enqueue depths.
  std::vector<Candidate> copying(Bytes budget, std::size_t most) {
    std::vector<std::pair<double, std::size_t>> totals;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const std::optional<TimedRun> run = copying_.run(i, budget);
      if (run) totals.emplace_back(total_of(candidates_[i], model_.program_load(), *run), i);
    }
    std::sort(totals.begin(), totals.end());
    std::vector<Candidate> best;
    std::set<std::pair<Bytes, int>> seen;
    for (const auto& [total, i] : totals) {
      const OverlapSetting& setting = candidates_[i];
      if (best.size() == most) break;
      if (!seen.insert({setting.ring, setting.enqueue_ahead}).second) continue;
      best.push_back({setting, copying_.solution(i, budget), total});
    }
    return best;
  }

  /// The same settings, solved with streams in kernels.
  void add_streaming(Bytes budget, std::vector<Candidate>* candidates) const {
    const std::size_t copying = candidates->size();
    for (std::size_t i = 0; i < copying; ++i) {
      candidates->push_back((*candidates)[i]);
      candidates->back().solution =
          solve_optimal(model_.problem(candidates->back().setting, budget), limits_);
    }
  }

  static bool faster(const Candidate& a, const Candidate& b) { return a.total < b.total; }

  /// As a plan: its weights may take over memory, and its streaming kernels are programs.
  void set_total(Bytes budget, Candidate* candidate) const {
    const MadePlan plan = made(*candidate, budget);
    candidate->total = total_of(candidate->setting, costs_.program_load(plan.plan), plan.run);
  }

  /// A kernel that streams is a program beside its bare one, which may take longer to load than it
  /// saves: those that carry least are given up, while that helps.
  Candidate with_fewer_programs(Candidate best, Bytes budget) const {
    for (const std::vector<std::size_t>& launches : carrying_launches(best)) {
      Candidate fewer = best;
      fewer.setting.carries.resize(model_.plan().launches.size(), 1);
      for (const std::size_t k : launches) fewer.setting.carries[k] = 0;
      fewer.solution = solve_optimal(model_.problem(fewer.setting, budget), limits_);
      set_total(budget, &fewer);
      if (faster(fewer, best)) best = std::move(fewer);
    }
    return best;
  }

  /// Launches that may stream, those of one program together; that which carries least first.
  std::vector<std::vector<std::size_t>> carrying_launches(const Candidate& candidate) const {
    struct Carrying {
      std::uint64_t chunks = 0;
      std::vector<std::size_t> launches;
    };
    std::map<std::string, Carrying> programs;
    for (std::size_t k = 0; k < model_.plan().launches.size(); ++k) {
      if (model_.capacity(k) == Bytes(0)) continue;
      Carrying& program = programs[program_name(model_.plan(), model_.plan().launches[k])];
      program.chunks += candidate.solution.schedule.streamed[k];
      program.launches.push_back(k);
    }
    std::vector<Carrying> sorted;
    for (auto& [name, program] : programs) {
      if (program.chunks > 0) sorted.push_back(std::move(program));
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Carrying& a, const Carrying& b) { return a.chunks < b.chunks; });
    std::vector<std::vector<std::size_t>> launches;
    for (Carrying& program : sorted) launches.push_back(std::move(program.launches));
    return launches;
  }

  /// Bisection on the budget: the least whose best takes at most (1 + slowdown) as long.
  Candidate least_memory(const Candidate& fastest, Bytes peak, double slowdown) {
    const double allowed = fastest.total * (1 + slowdown);
    Candidate best = fastest;
    std::uint64_t low = least_.bytes.count(), high = peak.count();
    const std::uint64_t resolution = std::max<std::uint64_t>(1 << 16, high / 200);
    for (std::uint64_t middle = low; low < high; middle = low + (high - low) / 2) {
      Candidate tried = best_within(Bytes(middle), launches_solved / 4);
      if (tried.total <= allowed) {
        high = std::min(middle, tried.solution.run.peak.total.count());
        best = std::move(tried);
      } else {
        low = middle + 1;
      }
      if (high - std::min(low, high) < resolution) break;
    }
    return best;
  }

  std::vector<OverlapPlan> front(const Candidate& fastest, Bytes peak) {
    std::vector<OverlapPlan> plans;
    const auto least = static_cast<double>(least_.bytes.count());
    const double ratio = static_cast<double>(peak.count()) / least;
    double before = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < request_.pareto; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(request_.pareto - 1);
      const Bytes budget(std::max(least_.bytes.count(), static_cast<std::uint64_t>(std::llround(
                                                            least * std::pow(ratio, share)))));
      const bool last = i + 1 == request_.pareto;
      Candidate best = last ? fastest : best_within(budget);
      if (best.total >= before) continue;
      before = best.total;
      plans.push_back(finished(best, last ? peak : budget));
    }
    return plans;
  }

  /// The candidate as a plan. Claims count launch by launch what the timed problem bounds: should
  /// they exceed the budget, a tighter one is planned for.
  OverlapPlan finished(Candidate candidate, Bytes budget) {
    for (Bytes within = budget;;) {
      OverlapPlan result = described(candidate, within);
      const Bytes peak = result.report.peak.total();
      if (peak <= budget) return result;
      const Bytes excess = peak - budget;
      if (within < least_.bytes + excess) {
        throw UserError("--budget " + mebibytes_down(budget) + ": the best plan found needs " +
                        least_budget_text(peak) + ", held by " +
                        launch_name(result.plan.launch(result.report.peak_launch)));
      }
      within -= excess;
      candidate = best_within(within);
    }
  }

  struct MadePlan {
    Plan plan;
    TimedRun run;
  };

  /// The candidate's plan, its weights taking over memory where they can, and how it runs.
  MadePlan made(const Candidate& candidate, Bytes budget) const {
    MadePlan made{
        model_.plan_of(candidate.setting, candidate.solution.schedule, candidate.solution.run), {}};
    set_claims(&made.plan);
    reuse_memory(request_.budget, &made.plan);
    made.run = model_.run_of(made.plan, candidate.setting, budget, candidate.solution.schedule);
    return made;
  }

  OverlapPlan described(const Candidate& candidate, Bytes budget) const {
    OverlapPlan result;
    MadePlan made_plan = made(candidate, budget);
    const TimedRun& run = made_plan.run;
    result.plan = std::move(made_plan.plan);
    result.plan.policy = "optimal";
    set_dependencies(&result.plan);
    OverlapReport& report = result.report;
    describe_floors(model_, costs_, &report);
    report.program_load = costs_.program_load(result.plan);
    report.predicted_warm = model_.reread_time(candidate.setting) + run.latency;
    report.predicted = model_.preload_wait(candidate.setting) + run.latency;
    report.runs = request_.runs;
    report.budget = request_.budget;
    report.minimum = least_;
    report.minimum_launch =
        least_.preloading ? preloading_name : model_.plan().launches[least_.launch].id;
    report.copying = run.copying;
    report.slowed = run.slowed;
    report.waiting = run.waiting + model_.preload_wait(candidate.setting);
    for (const Nanoseconds time : run.finish) {
      result.finish.push_back(model_.preload_wait(candidate.setting) + time);
    }
    describe_plan(result.plan, &report);
    const Bytes held = std::max(report.peak.total(), least_.bytes);
    report.lower_bound =
        solve_optimal(model_.relaxed_problem(request_.budget.value_or(held)), limits_).lower_bound;
    return result;
  }

  const OverlapModel& model_;
  const DeviceCosts& costs_;
  const OverlapRequest& request_;
  const OptimalLimits limits_;
  const std::vector<OverlapSetting> candidates_;
  CopyingSettings copying_;
  const MinimumBudget least_;
};

}  // namespace

std::vector<OverlapPlan> plan_optimal(const OverlapModel& model, const DeviceCosts& costs,
                                      const OverlapRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<OverlapPlan> plans = OptimalPolicy(model, costs, request).plans();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  for (OverlapPlan& plan : plans) {
    plan.report.seconds = spent.count() / static_cast<double>(plans.size());
  }
  return plans;
}

}  // namespace fm
