#include "planner/overlap/lc_opg.hpp"

#include <chrono>
#include <numeric>

#include "core/diagnostics.hpp"
#include "planner/overlap/lc_opg_branch.hpp"

namespace fm {
namespace {

/// Work of a plan that is not to be proven best: layers scanned by prices, layers run by schedules,
/// pivots times rows. About a third of a second each on one core.
constexpr std::uint64_t quick_ascent_work = 15'000'000;
constexpr std::uint64_t quick_search_work = 40'000'000;
constexpr std::uint64_t quick_lp_work = 8'000'000;
constexpr std::uint64_t proof_ascent_work = 300'000'000;
constexpr std::uint64_t proof_search_work = 2'000'000'000;
constexpr std::uint64_t unlimited = UINT64_MAX;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_limit(const LcOpgProblem& problem, const LcOpgInstance& instance,
                 const LcOpgMinimumPreload& least) {
  if (least.chunks <= instance.preload_limit) return;
  std::int64_t settled = 0;
  for (std::size_t w = 0; w < instance.weight_count(); ++w) {
    if (instance.settled[w]) settled += instance.chunks[w];
  }
  std::string message = "preload_limit is " + std::to_string(instance.preload_limit) +
                        " chunks, but at least " + std::to_string(least.chunks) +
                        " must be preloaded: ";
  const LcOpgDue* holding = nullptr;
  for (const LcOpgDue& due : least.due) {
    if (due.least > instance.preload_limit && due.excess > 0) {
      holding = &due;
      break;
    }
  }
  if (holding != nullptr && least.chunks > settled) {
    const std::int64_t carried = instance.capacity_before[holding->consumer];
    message += "the weights read up to layer '" + problem.layers[holding->consumer].name +
               "' have " + std::to_string(holding->excess + carried) +
               " chunks and the layers before it can carry " + std::to_string(carried);
  } else {
    message +=
        "so many have the weights of the first layer, those named by "
        "the user and those too "
        "large for the layers before their consumer";
  }
  throw UserError(message + ". Raise preload_limit, m_peak or the layers' capacities");
}

LcOpgSolution start_plan(const LcOpgInstance& instance, const LcOpgMinimumPreload& least,
                         LcOpgBudget* budget) {
  std::vector<std::size_t> movable;
  for (std::size_t w = 0; w < instance.weight_count(); ++w) {
    if (!instance.settled[w]) movable.push_back(w);
  }
  LcOpgSolution best{least.preloaded, PreloadEvaluator(instance, least.preloaded).cost()};
  LcOpgBudget share = *budget;
  for (std::vector<char> start : {std::vector<char>(instance.weight_count(), 1), least.preloaded}) {
    share.work = budget->work / 8;
    LcOpgSolution found = descend(instance, std::move(start), movable, &share);
    if (found.cost < best.cost) best = std::move(found);
  }
  return best;
}

LcOpgWeightPlan weight_plan(const std::vector<LcOpgShare>& shares) {
  LcOpgWeightPlan plan;
  plan.preloaded = shares.empty();
  std::uint64_t chunk = 0;
  for (const LcOpgShare& share : shares) {
    const auto count = static_cast<std::uint64_t>(share.chunks);
    plan.pieces.push_back({static_cast<std::size_t>(share.layer), chunk, count});
    chunk += count;
  }
  if (!shares.empty()) plan.first_layer = plan.pieces.front().layer;
  return plan;
}

LcOpgResult result_of(const LcOpgInstance& instance, const LcOpgSolution& solution) {
  LcOpgResult result;
  result.weights.resize(instance.weight_count());
  const auto shares = srpt_schedule(instance, solution.preloaded);
  for (std::size_t w = 0; w < instance.weight_count(); ++w) {
    LcOpgWeightPlan plan = weight_plan(shares->at(w));
    if (plan.preloaded) {
      result.preloaded_chunks += static_cast<std::uint64_t>(instance.chunks[w]);
    } else {
      result.distance += static_cast<std::uint64_t>(instance.consumer[w]) - plan.first_layer;
    }
    result.weights[instance.original[w]] = std::move(plan);
  }
  result.objective = static_cast<double>(solution.cost) / static_cast<double>(instance.cost_scale);
  return result;
}

}  // namespace

std::string to_string(LcOpgStatus status) {
  switch (status) {
    case LcOpgStatus::optimal:
      return "optimal";
    case LcOpgStatus::feasible:
      return "feasible";
    case LcOpgStatus::time_limit:
      return "time limit";
  }
  return "";
}

LcOpgResult solve_lc_opg(const LcOpgProblem& problem, const LcOpgOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const LcOpgInstance instance = lc_opg_instance(problem);
  const LcOpgMinimumPreload least = minimum_preload(instance);
  check_limit(problem, instance, least);
  const auto stopped = [&] { return seconds_since(start) >= options.time_limit; };
  LcOpgBudget budget{options.prove ? proof_search_work : quick_search_work, stopped};
  const LcOpgRows rows = relaxation_rows(instance, least);
  LcOpgBranch branch(instance, rows, start_plan(instance, least, &budget));
  branch.root(options.prove ? proof_ascent_work : quick_ascent_work, &budget);
  if (options.prove) budget.work = unlimited;
  branch.branch(options.prove ? unlimited : quick_lp_work, &budget);
  LcOpgResult result = result_of(instance, branch.best());
  result.lower_bound =
      static_cast<double>(branch.bound()) / static_cast<double>(instance.cost_scale);
  result.gap = branch.best().cost == 0 ? 0
                                       : static_cast<double>(branch.best().cost - branch.bound()) /
                                             static_cast<double>(branch.best().cost);
  result.nodes = branch.nodes();
  result.status = branch.bound() >= branch.best().cost ? LcOpgStatus::optimal
                  : stopped()                          ? LcOpgStatus::time_limit
                                                       : LcOpgStatus::feasible;
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace fm
