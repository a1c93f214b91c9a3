#include "executor/tile_tuner.hpp"

#include <algorithm>
#include <chrono>

#include "core/plan_streams.hpp"
#include "executor/launch_kernels.hpp"
#include "executor/plan_names.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/tile_candidates.hpp"

namespace fm {
namespace {

constexpr int most_rounds = 7;
constexpr double enough_ns = 200e6;  ///< of a tile's runs, from the second round on

/// Two half ones, or a small float: no time depends on values, but NaN and denormals do.
constexpr std::uint32_t fill_pattern = 0x3c003c00;

/// Memory of a launch's tensors, filled.
class LaunchMemory {
 public:
  LaunchMemory(const OpenClContext& context, const OpenClQueue& queue, const Plan& plan,
               const PlanLaunch& launch) {
    for (const LaunchArgument& argument : launch.arguments) {
      if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
        const PlanTensor& planned = plan.tensor(tensor->tensor);
        if (memory_.count(planned.id) == 0) create(context, queue, planned);
        values_.emplace_back(memory_.at(planned.id).get());
      } else if (const auto* integer = std::get_if<IntArgument>(&argument)) {
        values_.emplace_back(integer->value);
      } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
        values_.emplace_back(real->value);
      } else {
        values_.emplace_back(LocalMemory{std::get<LocalArgument>(argument).bytes});
      }
    }
  }
  const std::vector<KernelValue>& values() const { return values_; }

 private:
  void create(const OpenClContext& context, const OpenClQueue& queue, const PlanTensor& tensor) {
    OpenClMemory& memory = memory_[tensor.id];
    const std::string name = named(tensor);
    if (tensor.placement == Placement::image2d) {
      const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
      memory = create_image(context, extent, tensor.dtype, name);
      fill_image(queue, memory, extent, {1, 1, 1, 1}, name);
      return;
    }
    const Bytes words = Bytes((tensor.bytes.count() + 3) / 4 * 4);
    memory = create_buffer(context, words, CL_MEM_READ_WRITE, name);
    // Integers may be indices: the first element is always there.
    fill_buffer(queue, memory, Bytes(0), words, tensor.dtype == DataType::i32 ? 0 : fill_pattern,
                name);
  }

  std::map<std::string, OpenClMemory> memory_;  // by tensor
  std::vector<KernelValue> values_;
};

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
  const LaunchMemory memory(context_, queue_, plan, launch);
  std::vector<Contestant> contestants{prepare(plan, launch, memory.values())};
  for (const LaunchTile& tile : tile_candidates(launch, search)) {
    contestants.push_back(prepare(plan, with_tile(launch, tile), memory.values()));
  }
  for (Contestant& contestant : contestants) run(contestant);  // to warm up
  double total = 0;
  const double enough = enough_ns * static_cast<double>(contestants.size());
  for (int round = 0; round < most_rounds && (round < 2 || total < enough); ++round) {
    for (Contestant& contestant : contestants) {
      const double time = run(contestant);
      contestant.best_ns = round == 0 ? time : std::min(contestant.best_ns, time);
      total += time;
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
  return {launch, &kernel};
}

double TileTuner::run(const Contestant& contestant) {
  const PlanLaunch& launch = contestant.launch;
  using std::chrono::steady_clock;
  const std::string name = named(launch);
  const steady_clock::time_point began = steady_clock::now();
  const OpenClEvent event =
      enqueue_kernel(queue_, *contestant.kernel, launch.global, launch.local, name);
  flush(queue_, "flushing " + name);
  wait_for(event, name);
  const std::chrono::nanoseconds on_host = steady_clock::now() - began;
  const std::optional<EventTimes> times = times_of(event, name);
  if (!times) host_timed_ = true;
  const double time = times ? static_cast<double>(times->ended - times->started)
                            : static_cast<double>(on_host.count());
  // At least the clock's tick: a time in a file of tiles is above 0.
  return std::max(1.0, time);
}

}  // namespace fm
