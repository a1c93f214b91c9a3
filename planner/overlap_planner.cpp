#include "planner/overlap_planner.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

/// Networks planned for one choice of fusion: LC-OPG is solved sooner than a timed problem.
constexpr std::size_t most_lc_opg_plans = 40;
constexpr std::size_t most_optimal_plans = 12;

/// The only launch that computes `node`; empty when parts of a split weight share it.
std::optional<std::size_t> launch_of(const Plan& plan, const std::string& node) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < plan.launches.size(); ++k) {
    const std::vector<std::string>& nodes = plan.launches[k].nodes;
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) continue;
    if (found) return std::nullopt;
    found = k;
  }
  return found;
}

/// By kernel launch: chunks that copies before it move.
std::vector<std::uint64_t> chunks_copied(const Plan& plan) {
  std::map<std::string, std::uint64_t> by_launch;
  for (const WeightSlice& slice : plan.weights) {
    for (const WeightTransform& transform : slice.transforms) {
      by_launch[transform.launch] += transform.chunk_count;
    }
  }
  std::vector<std::uint64_t> copied(1);
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind == LaunchKind::copy) {
      copied.back() += by_launch[launch.id];
    } else {
      copied.push_back(0);
    }
  }
  copied.pop_back();
  return copied;
}

/// Nanoseconds of all runs, the later ones with their preloaded weights still there.
double total_time(const OverlapReport& report, bool programs_count) {
  return (programs_count ? static_cast<double>(report.program_load.count()) : 0) +
         static_cast<double>(report.predicted.count()) +
         static_cast<double>(report.runs - 1) * static_cast<double>(report.predicted_warm.count());
}

}  // namespace

struct OverlapPlanner::ModelledDraft : PricedDraft {
  ModelledDraft(PricedDraft draft, const DeviceConfig& config)
      : PricedDraft(std::move(draft)),
        costs(config, profiles.copy_nanoseconds_per_byte),
        model(priced.plan, priced.launches, costs) {}
  ModelledDraft(const ModelledDraft&) = delete;
  ModelledDraft& operator=(const ModelledDraft&) = delete;

  DeviceCosts costs;
  OverlapModel model;  // refers to `priced` and `costs`
};

OverlapPlanner::OverlapPlanner(ImportedModel imported, const DeviceConfig& config,
                               const PlanOptions& options, const ProfileFiles& profile,
                               const OverlapRequest& request,
                               const std::optional<LcOpgRequest>& lc_opg)
    : imported_(std::move(imported)),
      config_(config),
      options_(options),
      profile_(profile),
      request_(request),
      lc_opg_(lc_opg) {}

std::vector<OverlapPlan> OverlapPlanner::plans() const {
  if (options_.fusion == FusionMode::adaptive) return adapted();
  return plans_with(options_.fusion == FusionMode::none ? all_apart(imported_) : UnfusedNodes{});
}

std::unique_ptr<OverlapPlanner::ModelledDraft> OverlapPlanner::priced(
    const UnfusedNodes& unfused) const {
  return std::make_unique<ModelledDraft>(
      priced_draft(imported_, config_, options_, profile_, !lc_opg_, unfused), config_);
}

std::vector<OverlapPlan> OverlapPlanner::planned(const ModelledDraft& draft,
                                                 const OverlapRequest& request) const {
  std::vector<OverlapPlan> plans;
  if (lc_opg_) {
    plans.push_back(plan_lc_opg(draft.model, draft.costs, *lc_opg_, request));
  } else {
    plans = plan_optimal(draft.model, draft.costs, request);
  }
  for (OverlapPlan& planned : plans) {
    planned.report.estimated = draft.profiles.estimated;
    planned.report.profile = draft.profiles.source;
    planned.report.carrying =
        carrying_launches(planned.plan, draft.priced.plan, draft.priced.launches);
  }
  return plans;
}

std::vector<OverlapPlan> OverlapPlanner::plans_with(const UnfusedNodes& unfused) const {
  return planned(*priced(unfused), request_);
}

std::vector<FusionSplit> OverlapPlanner::splits_of(const ModelledDraft& draft,
                                                   const UnfusedNodes& unfused) const {
  UnfusedNodes apart = unfused;
  for (const EpilogueSplit& split : draft.splits) apart.insert(split.unfused);
  const std::unique_ptr<ModelledDraft> parts = priced(apart);
  const Plan& fused = draft.model.plan();
  const Plan& divided = parts->model.plan();
  const auto capacity = [&](std::size_t k) {
    return parts->model.capacity(k) / divided.chunk_bytes;
  };
  std::vector<FusionSplit> splits;
  for (const EpilogueSplit& split : draft.splits) {
    const auto layer = launch_of(fused, split.unfused);
    const auto second = launch_of(divided, split.unfused);
    if (!layer || !second) continue;
    const auto first = launch_of(divided, fused.launches[*layer].nodes.front());
    if (!first || *first == *second) continue;
    splits.push_back({*layer, capacity(*first), capacity(*second), split.unfused});
  }
  return splits;
}

FusedSchedule OverlapPlanner::lc_opg_schedule(const ModelledDraft& draft,
                                              const UnfusedNodes& unfused) const {
  FusedSchedule schedule;
  schedule.problem = lc_opg_problem(draft.model, lc_opg_.value_or(LcOpgRequest{}));
  LcOpgOptions options;
  options.time_limit = request_.seconds;
  schedule.result = solve_lc_opg(schedule.problem, options);
  schedule.splits = splits_of(draft, unfused);
  schedule.cost = schedule.result.objective;
  return schedule;
}

/// What is known of the choices of fusion that were planned.
struct OverlapPlanner::Adaptation {
  OverlapRequest request;
  std::map<UnfusedNodes, OverlapPlan> plans;  // of choices that have a cost
  FusionReport report;
};

/// The choice planned in full: in time within the request; by LC-OPG, which plans for no budget,
/// without one.
OverlapPlan OverlapPlanner::chosen(const ModelledDraft& draft, Adaptation* adaptation) const {
  if (lc_opg_) {
    OverlapRequest unlimited = request_;
    unlimited.budget.reset();
    return planned(draft, unlimited).at(0);
  }
  OverlapPlan plan = planned(draft, adaptation->request).at(0);
  // Without a budget, times are compared within the memory of the fused plan.
  if (!adaptation->request.budget) adaptation->request.budget = plan.report.peak.total();
  return plan;
}

FusedSchedule OverlapPlanner::schedule_of(const UnfusedNodes& unfused,
                                          Adaptation* adaptation) const {
  const std::unique_ptr<ModelledDraft> draft = priced(unfused);
  FusedSchedule schedule = lc_opg_schedule(*draft, unfused);
  try {
    OverlapPlan plan = chosen(*draft, adaptation);
    if (!lc_opg_) {
      schedule.cost = total_time(plan.report, request_.programs_count);
      schedule.copied = chunks_copied(plan.plan);
    }
    adaptation->plans.emplace(unfused, std::move(plan));
  } catch (const UserError&) {  // the budget is below the least of this choice
    if (unfused.empty()) throw;
    schedule.cost = std::numeric_limits<double>::infinity();
  }
  if (unfused.empty()) {
    adaptation->report.offered = schedule.splits.size();
    adaptation->report.fixed_cost = schedule.cost;
  }
  return schedule;
}

std::vector<OverlapPlan> OverlapPlanner::adapted() const {
  const auto began = std::chrono::steady_clock::now();
  AdaptiveFusionOptions options;
  options.alpha = options_.alpha;
  options.mu = 1 - lc_opg_.value_or(LcOpgRequest{}).lambda;
  options.most_plans = lc_opg_ ? most_lc_opg_plans : most_optimal_plans;
  Adaptation adaptation{request_, {}, {}};
  const AdaptiveFusionResult result = adapt_fusion(
      [&](const UnfusedNodes& unfused) { return schedule_of(unfused, &adaptation); }, options);
  OverlapPlan best = adaptation.plans.at(result.unfused);
  best.report.budget = request_.budget;
  if (lc_opg_) check_budget(best);
  FusionReport report = adaptation.report;
  report.alpha = options.alpha;
  report.timed = !lc_opg_;
  report.unfused.assign(result.unfused.begin(), result.unfused.end());
  report.plans = result.plans;
  report.cost = result.schedule.cost;
  report.fixed_programs = adaptation.plans.at({}).report.program_load;
  report.programs = best.report.program_load;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  best.report.fusion = std::move(report);
  return {std::move(best)};
}

}  // namespace fm
