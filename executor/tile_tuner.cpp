#include "executor/tile_tuner.hpp"

#include <algorithm>

#include "core/plan_streams.hpp"
#include "executor/plan_names.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/tile_candidates.hpp"

namespace fm {
namespace {

constexpr int most_rounds = 7;
constexpr double enough_ns = 200e6;  ///< of a tile's runs, from the second round on

/// The launch without the weights that it moves for later ones.
PlanLaunch without_streams(PlanLaunch launch) {
  launch.parameters.erase(streams_parameter);
  return launch;
}

}  // namespace

TileTuner::TileTuner(const OpenClContext& context, ProgramCache& cache)
    : context_(context), cache_(cache), queue_(create_queue(context, "tuning")) {}

TunedTile TileTuner::tune(const Plan& plan, const PlanLaunch& planned) {
  const OpenClDevice& device = context_.device();
  TileSearch search;
  search.compute_units = std::max<std::uint32_t>(1, device.compute_units);
  search.sequential = device.computes_in_host_memory();
  search.group_limit = device.work_group_limit;
  const PlanLaunch launch = without_streams(planned);
  LaunchMemory memory(context_, queue_, plan);
  const std::vector<KernelValue> arguments = memory.values(launch);
  std::vector<Contestant> contestants{prepare(plan, launch, arguments)};
  for (const LaunchTile& tile : tile_candidates(launch, search)) {
    contestants.push_back(prepare(plan, with_tile(launch, tile), arguments));
  }
  for (Contestant& contestant : contestants) {
    run(contestant);  // to warm up
    contestant.repetitions = repetitions_of(contestant.launch, run(contestant), device);
  }
  double total = 0;
  const double enough = enough_ns * static_cast<double>(contestants.size());
  for (int round = 0; round < most_rounds && (round < 2 || total < enough); ++round) {
    for (Contestant& contestant : contestants) {
      const double time = run(contestant).nanoseconds;
      contestant.best_ns = round == 0 ? time : std::min(contestant.best_ns, time);
      total += time * static_cast<double>(contestant.repetitions);
    }
  }
  const auto fastest = std::min_element(
      contestants.begin(), contestants.end(),
      [](const Contestant& left, const Contestant& right) { return left.best_ns < right.best_ns; });
  TunedTile tuned;
  tuned.tile = tile_of(fastest->launch);
  tuned.tile_ns = fastest->best_ns;
  tuned.default_ns = contestants.front().best_ns;
  return tuned;
}

TileTuner::Contestant TileTuner::prepare(const Plan& plan, const PlanLaunch& launch,
                                         const std::vector<KernelValue>& arguments) {
  const OpenClKernel& kernel = cache_.kernel(launch.kernel, kernel_source(plan, launch),
                                             compile_options(plan, launch, false));
  set_arguments(kernel, arguments, 0, named(launch));
  return {launch, &kernel, 0, 1};
}

LaunchTime TileTuner::run(const Contestant& contestant) {
  const PlanLaunch& launch = contestant.launch;
  // At least the clock's tick: a time in a file of tiles is above 0.
  const LaunchTime time = time_launch(queue_, *contestant.kernel, launch.global, launch.local,
                                      named(launch), contestant.repetitions);
  host_timed_ = host_timed_ || time.host_timed;
  return time;
}

}  // namespace fm
