#include "planner/overlap/eager_reading.hpp"

#include <algorithm>
#include <stdexcept>

#include "planner/overlap/read_positions.hpp"

namespace fm {

EagerReading eager_reading(const TimedProblem& original) {
  const TimedProblem problem = chunkwise(original);
  if (problem.budget < minimum_budget(problem).bytes) {
    throw std::invalid_argument("the budget is below its minimum");
  }
  const WeightDemand demand = weight_demand(problem);
  const PointerCaps caps = pointer_caps(problem, demand);
  const ReadPositions positions(problem);
  const auto cap_time = [&](std::int64_t cap) {
    return positions.time_at(static_cast<double>(cap));
  };
  EagerReading reading;
  double now = 0;
  // The pointer in disk time: it advances a nanosecond a nanosecond.
  double pointer =
      std::min(cap_time(caps.waiting[0]), static_cast<double>(problem.head_start.count()));
  for (std::size_t k = 0; k < problem.launches.size(); ++k) {
    const double needed = positions.time_at(static_cast<double>(demand.needed[k]));
    const double wait = std::max(0.0, needed - pointer);
    pointer += wait;
    now += wait;
    reading.start.push_back(now);
    const auto time = static_cast<double>(problem.launches[k].time.count());
    pointer = std::max(pointer, std::min(cap_time(caps.running[k]), pointer + time));
    now += time;
    reading.finish.push_back(now);
    reading.pointer.push_back(positions.bytes_at(pointer));
  }
  reading.latency = now;
  return reading;
}

}  // namespace fm
