#include "executor/probe/measurements.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/diagnostics.hpp"
#include "core/microbench_label.hpp"
#include "executor/probe/ring.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

/// Of the further work of a point: far above what a clock's tick and a launch's start vary by.
constexpr double enough_ns = 1e6;
/// Kernels compute positions of rounds x 16 x work-items in 32 bits.
constexpr double most_steps = 2147483647.0 / 16;
constexpr std::int64_t most_times = 1 << 16;
constexpr int series_launches = 64;

using Clock = std::chrono::steady_clock;
double since(Clock::time_point began) {
  return static_cast<double>(std::chrono::nanoseconds(Clock::now() - began).count());
}

std::int64_t axis_of(const MicrobenchLabel& label, const std::string& name) {
  for (const auto& [known, place] : label.axes) {
    if (known == name) return place;
  }
  return 0;
}

std::int64_t integer_at(const PlanLaunch& launch, std::size_t argument) {
  return std::get<IntArgument>(launch.arguments.at(argument)).value;
}

/// Rounds or hops are the last argument of the suite's kernels.
std::size_t amount_of(const PlanLaunch& launch) { return launch.arguments.size() - 1; }

}  // namespace

ProbeDevice::ProbeDevice(const OpenClDevice& chosen)
    : context(chosen),
      cache(context),
      queue(create_queue(context, "probing")),
      order(chosen.computes_in_host_memory() ? RingOrder::shuffled : RingOrder::sequential) {}

BenchRunner::BenchRunner(ProbeDevice& device, Microbench bench)
    : device_(device),
      bench_(std::move(bench)),
      memory_(device.context, device.queue, bench_.plan) {}

const OpenClKernel& BenchRunner::kernel(const PlanLaunch& launch) {
  return device_.cache.kernel(launch.kernel, kernel_source(bench_.plan, launch),
                              compile_options(bench_.plan, launch, false));
}

bool BenchRunner::is_possible(const PlanLaunch& launch, std::string* why) const {
  const OpenClDevice& device = device_.context.device();
  if (launch.local[0] > device.work_group_limit) {
    *why = "work-groups of " + std::to_string(launch.local[0]) + " work-items";
    return false;
  }
  const auto type = launch.parameters.find("TYPE");
  if (type != launch.parameters.end() && type->second == "HALF" &&
      !device.has_extension("cl_khr_fp16")) {
    *why = "half arithmetic";
    return false;
  }
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&argument);
    if (used == nullptr) continue;
    const PlanTensor& tensor = bench_.plan.tensor(used->tensor);
    if (tensor.placement == Placement::image2d) {
      const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
      if (device.images && extent.width <= device.image_width_limit &&
          extent.height <= device.image_height_limit) {
        continue;
      }
      *why = "images of " + std::to_string(extent.width) + " x " + std::to_string(extent.height);
      return false;
    }
    if (tensor.bytes > device.allocation_limit) {
      *why = "buffers of " + std::to_string(tensor.bytes.count()) + " bytes";
      return false;
    }
  }
  const auto local = launch.parameters.find("LOCAL_FLOATS");
  if (local != launch.parameters.end() &&
      Bytes(4 * static_cast<std::uint64_t>(std::stoll(local->second))) > device.local_memory) {
    *why = "as much local memory";
    return false;
  }
  return true;
}

void BenchRunner::fill_ring(const PlanLaunch& launch) {
  const MicrobenchLabel label = microbench_label_from(launch.id);
  std::vector<float> ring;
  if (launch.kernel == "pointer_chase") {
    constexpr std::int64_t element = 16;
    ring = chase_ring(axis_of(label, "footprint") / element, axis_of(label, "stride") / element,
                      device_.order);
  } else if (launch.kernel == "block_walk") {
    const PlanTensor& square = bench_.plan.tensor("ring");
    ring = block_ring(static_cast<std::int64_t>(grid_extent(square.layout, square.shape).height),
                      axis_of(label, "across"), axis_of(label, "down"));
  } else {
    return;
  }
  const PlanTensor& tensor = bench_.plan.tensor("ring");
  const OpenClMemory& memory = memory_.of("ring");
  if (tensor.placement == Placement::image2d) {
    ring.resize(tensor.bytes.count() / sizeof(float));
    write_image(device_.queue, memory, grid_extent(tensor.layout, tensor.shape), ring.data());
  } else {
    write_buffer(device_.queue, memory, Bytes(0), ring.data(), Bytes(ring.size() * sizeof(float)));
  }
}

double BenchRunner::run(const PlanLaunch& launch, std::size_t amount_argument,
                        std::int64_t amount) {
  const OpenClKernel& built = kernel(launch);
  std::vector<KernelValue> values = memory_.values(launch);
  values[amount_argument] = static_cast<std::int32_t>(amount);
  set_arguments(built, values, 0, launch.id);
  const LaunchTime time = time_launch(device_.queue, built, launch.global, launch.local, launch.id);
  device_.host_timed = device_.host_timed || time.host_timed;
  return time.nanoseconds;
}

Sample BenchRunner::run(Parts* parts) {
  const PlanLaunch &brief = *parts->brief, &full = *parts->full;
  const std::size_t argument = amount_of(full);
  const std::int64_t little = integer_at(brief, argument);
  const std::int64_t further = std::max<std::int64_t>(1, integer_at(full, argument) - little);
  const double unit = static_cast<double>(microbench_label_from(full.id).work) /
                      static_cast<double>(integer_at(full, argument));
  fill_ring(full);
  run(*parts->warm, argument, integer_at(*parts->warm, argument));
  const auto difference = [&](std::int64_t times) {
    const double short_ns = run(brief, argument, little);
    return run(full, argument, little + times * further) - short_ns;
  };
  if (parts->times == 0) {
    const double items = static_cast<double>(full.global[0]);
    const double most = std::max(
        1.0, (most_steps / items - static_cast<double>(little)) / static_cast<double>(further));
    const auto limit = static_cast<std::int64_t>(std::min(most, double{most_times}));
    parts->times = 1;
    for (double ns = difference(1); ns < enough_ns && parts->times < limit;
         ns = difference(parts->times)) {
      const double missing = enough_ns / std::max(ns, enough_ns / 16);
      parts->times = std::min(
          limit, static_cast<std::int64_t>(std::ceil(static_cast<double>(parts->times) * missing)));
    }
  }
  return {difference(parts->times),
          unit * static_cast<double>(parts->times) * static_cast<double>(further)};
}

Sample BenchRunner::run_alone(const PlanLaunch& launch, double work) {
  const OpenClKernel& built = kernel(launch);
  set_arguments(built, memory_.values(launch), 0, launch.id);
  const LaunchTime time = time_launch(device_.queue, built, launch.global, launch.local, launch.id);
  device_.host_timed = device_.host_timed || time.host_timed;
  return {time.nanoseconds, work};
}

/// By the host's clock: the host is part of what is measured.
Sample BenchRunner::run_series(const PlanLaunch& launch, bool waits, bool enqueueing) {
  const OpenClKernel& built = kernel(launch);
  set_arguments(built, memory_.values(launch), 0, launch.id);
  finish(device_.queue);
  double in_calls = 0;
  const Clock::time_point began = Clock::now();
  for (int i = 0; i < series_launches; ++i) {
    const Clock::time_point called = Clock::now();
    const OpenClEvent event =
        enqueue_kernel(device_.queue, built, launch.global, launch.local, launch.id);
    in_calls += since(called);
    if (waits) finish(device_.queue);
  }
  finish(device_.queue);
  return {enqueueing ? in_calls : since(began), series_launches};
}

Sample BenchRunner::run_copy(const MicrobenchCopy& copy, double bytes) {
  const PlanTensor& image = bench_.plan.tensor(copy.image);
  const GridExtent extent = grid_extent(image.layout, image.shape);
  const OpenClMemory &from = memory_.of(copy.buffer), &to = memory_.of(copy.image);
  const std::size_t origin[3] = {0, 0, 0}, region[3] = {extent.width, extent.height, 1};
  finish(device_.queue);
  const Clock::time_point began = Clock::now();
  check_opencl(opencl().clEnqueueCopyBufferToImage(device_.queue.get(), from.get(), to.get(), 0,
                                                   origin, region, 0, nullptr, nullptr),
               "clEnqueueCopyBufferToImage", "copying to " + copy.image);
  finish(device_.queue);
  return {since(began), bytes};
}

std::vector<ProbePoint> BenchRunner::measurements(std::vector<std::string>* notes) {
  std::vector<ProbePoint> points;
  std::map<std::string, std::shared_ptr<Parts>> by_axes;
  const auto add = [&](const MicrobenchLabel& label, std::function<Sample()> measure) {
    points.push_back({bench_.name, label.unit, label.axes, std::move(measure)});
  };
  const auto add_launch = [&](const MicrobenchLaunch& step) {
    const PlanLaunch& launch = bench_.plan.launches[step.launch];
    const MicrobenchLabel label = microbench_label_from(launch.id);
    std::string key, why;
    for (const auto& [name, place] : label.axes) key += name + "=" + std::to_string(place) + " ";
    const bool first = by_axes.count(key) == 0;
    std::shared_ptr<Parts>& parts = by_axes[key];
    if (first) parts = std::make_shared<Parts>();
    if (label.part == MicrobenchPart::warm) parts->warm = &launch;
    if (label.part == MicrobenchPart::brief) parts->brief = &launch;
    if (label.part == MicrobenchPart::full) parts->full = &launch;
    if (!first) return;
    if (!is_possible(launch, &why)) {
      notes->push_back(bench_.name + " " + key + "is not measured: the device takes no " + why);
    } else if (label.part == MicrobenchPart::series) {
      const bool waits = axis_of(label, "queued") == 1;
      add(label, [this, &launch, waits] { return run_series(launch, waits, false); });
      if (waits) return;
      points.push_back({"enqueue", label.unit, label.axes,
                        [this, &launch] { return run_series(launch, false, true); }});
    } else if (label.part == MicrobenchPart::alone) {
      add(label, [this, &launch, work = static_cast<double>(label.work)] {
        return run_alone(launch, work);
      });
    } else {
      add(label, [this, parts] { return run(parts.get()); });
    }
  };
  for (const MicrobenchStep& step : bench_.steps) {
    if (const auto* launch = std::get_if<MicrobenchLaunch>(&step)) add_launch(*launch);
    const auto* copy = std::get_if<MicrobenchCopy>(&step);
    if (copy == nullptr) continue;
    if (!device_.context.device().images) {
      notes->push_back(bench_.name + " is not measured: the device has no images");
      break;
    }
    const MicrobenchLabel label = microbench_label_from(copy->label);
    add(label,
        [this, copy, bytes = static_cast<double>(label.work)] { return run_copy(*copy, bytes); });
  }
  return points;
}

std::vector<ProbePoint> host_measurements(ProbeDevice& device) {
  constexpr std::uint64_t mib = 1 << 20, largest = 16 * mib;
  const auto buffer = std::make_shared<OpenClMemory>(create_buffer(
      device.context, Bytes(largest), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, "transfers"));
  const auto data = std::make_shared<std::vector<std::uint8_t>>(largest, std::uint8_t{1});
  std::vector<ProbePoint> points;
  for (const std::uint64_t bytes : {mib, 4 * mib, largest}) {
    points.push_back({"transfer",
                      "B/ns",
                      {{"bytes", static_cast<std::int64_t>(bytes)}},
                      [&device, buffer, data, bytes]() -> Sample {
                        const Clock::time_point began = Clock::now();
                        write_buffer(device.queue, *buffer, Bytes(0), data->data(), Bytes(bytes));
                        return {since(began), static_cast<double>(bytes)};
                      }});
  }
  for (const std::uint64_t bytes : {std::uint64_t{4096}, largest}) {
    points.push_back({"map",
                      "ns/map",
                      {{"bytes", static_cast<std::int64_t>(bytes)}},
                      [&device, buffer, bytes]() -> Sample {
                        constexpr int maps = 16;
                        const Clock::time_point began = Clock::now();
                        for (int i = 0; i < maps; ++i) {
                          MappedRange range(device.queue, *buffer, Bytes(0), Bytes(bytes),
                                            CL_MAP_READ | CL_MAP_WRITE);
                          range.unmap();
                        }
                        return {since(began), 2.0 * maps};
                      }});
  }
  return points;
}

}  // namespace fm
