#include "core/plan_streams.hpp"

#include <algorithm>

namespace fm {

int stream_slots(const PlanLaunch& launch) {
  const auto found = launch.parameters.find(streams_parameter);
  if (found == launch.parameters.end() || found->second.size() != 1) return 0;
  const char digit = found->second[0];
  return digit >= '0' && digit <= '9' ? digit - '0' : 0;
}

WeightRows rows_of(const Plan& plan, const WeightSlice& slice, const WeightTransform& transform) {
  const PlanTensor& tensor = plan.tensor(slice.tensor);
  WeightRows rows;
  rows.width = grid_extent(tensor.layout, tensor.shape).width;
  rows.row_bytes = size_of(tensor.dtype) * 4 * rows.width;
  const auto rows_before = [&](std::uint64_t chunk) {
    return std::min(plan.chunk_bytes * chunk, slice.bytes) / rows.row_bytes;
  };
  rows.first = rows_before(transform.first_chunk);
  rows.count = rows_before(transform.first_chunk + transform.chunk_count) - rows.first;
  return rows;
}

std::vector<WeightStream> streams_in(const Plan& plan, const PlanLaunch& launch) {
  std::vector<WeightStream> streams;
  if (launch.kind != LaunchKind::kernel || stream_slots(launch) == 0) return streams;
  for (std::size_t i = 0; i < plan.weights.size(); ++i) {
    for (const WeightTransform& transform : plan.weights[i].transforms) {
      if (transform.launch != launch.id) continue;
      streams.push_back({i, rows_of(plan, plan.weights[i], transform)});
    }
  }
  return streams;
}

}  // namespace fm
