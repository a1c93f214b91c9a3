#include "planner/weight_stay.hpp"

#include <algorithm>

namespace fm {

std::map<std::string, std::size_t> launch_positions(const Plan& plan) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions[plan.launches[i].id] = i;
  return positions;
}

WeightStay stay_of(const Plan& plan, const WeightSlice& slice,
                   const std::map<std::string, std::size_t>& positions) {
  WeightStay stay;
  if (!slice.earliest_launch.empty()) stay.read = positions.at(slice.earliest_launch);
  stay.release = positions.at(slice.release_after);
  stay.image = stay.release;
  for (const WeightTransform& transform : slice.transforms) {
    const Bytes begin = std::min(plan.chunk_bytes * transform.first_chunk, slice.bytes);
    const Bytes end =
        std::min(plan.chunk_bytes * (transform.first_chunk + transform.chunk_count), slice.bytes);
    stay.parts.push_back({positions.at(transform.launch), end - begin});
    stay.image = std::min(stay.image, stay.parts.back().moved);
  }
  return stay;
}

}  // namespace fm
