#include "executor/launch_memory.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "executor/plan_names.hpp"

namespace fm {
namespace {

/// Two half ones, or a small float: no time depends on values, but NaN and denormals do.
constexpr std::uint32_t fill_pattern = 0x3c003c00;

OpenClMemory filled(const OpenClContext& context, const OpenClQueue& queue,
                    const PlanTensor& tensor) {
  const std::string name = named(tensor);
  if (tensor.placement == Placement::image2d) {
    const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
    OpenClMemory image = create_image(context, extent, tensor.dtype, name);
    fill_image(queue, image, extent, {1, 1, 1, 1}, name);
    return image;
  }
  const Bytes words = Bytes((tensor.bytes.count() + 3) / 4 * 4);
  OpenClMemory buffer = create_buffer(context, words, CL_MEM_READ_WRITE, name);
  // Integers may be indices: the first element is always there.
  fill_buffer(queue, buffer, Bytes(0), words, tensor.dtype == DataType::i32 ? 0 : fill_pattern,
              name);
  return buffer;
}

}  // namespace

const OpenClMemory& LaunchMemory::of(const std::string& tensor) {
  const auto found = memory_.find(tensor);
  if (found != memory_.end()) return found->second;
  return memory_.emplace(tensor, filled(context_, queue_, plan_.tensor(tensor))).first->second;
}

std::vector<KernelValue> LaunchMemory::values(const PlanLaunch& launch) {
  std::vector<KernelValue> values;
  for (const LaunchArgument& argument : launch.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
      values.emplace_back(of(tensor->tensor).get());
    } else if (const auto* integer = std::get_if<IntArgument>(&argument)) {
      values.emplace_back(integer->value);
    } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
      values.emplace_back(real->value);
    } else {
      values.emplace_back(LocalMemory{std::get<LocalArgument>(argument).bytes});
    }
  }
  return values;
}

LaunchTime time_launch(const OpenClQueue& queue, const OpenClKernel& kernel, WorkSize global,
                       WorkSize local, const std::string& name, std::size_t repetitions) {
  using std::chrono::steady_clock;
  const steady_clock::time_point began = steady_clock::now();
  const OpenClEvent first = enqueue_kernel(queue, kernel, global, local, name);
  OpenClEvent later;
  for (std::size_t i = 1; i < repetitions; ++i) {
    later = enqueue_kernel(queue, kernel, global, local, name);
  }
  const OpenClEvent& last = repetitions > 1 ? later : first;
  flush(queue, "flushing " + name);
  wait_for(last, name);
  const std::chrono::nanoseconds on_host = steady_clock::now() - began;
  const std::optional<EventTimes> start = times_of(first, name), end = times_of(last, name);
  const bool on_device = start && end && end->ended >= start->started;
  const double all = on_device ? static_cast<double>(end->ended - start->started)
                               : static_cast<double>(on_host.count());
  return {std::max(1.0, all / static_cast<double>(repetitions)), !on_device};
}

std::size_t repetitions_of(const PlanLaunch& launch, const LaunchTime& once,
                           const OpenClDevice& device) {
  constexpr double together = 16e6;  // nanoseconds
  constexpr double most = 1000;
  if (device.computes_in_host_memory() && !once.host_timed) return 1;
  std::set<std::string> read, written;
  for (const TensorArgument* argument : tensors_in(launch)) {
    (argument->write ? written : read).insert(argument->tensor);
  }
  for (const std::string& tensor : written) {
    if (read.count(tensor) != 0) return 1;
  }
  return static_cast<std::size_t>(std::clamp(std::ceil(together / once.nanoseconds), 1.0, most));
}

}  // namespace fm
