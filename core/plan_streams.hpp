#pragma once
// Weights that move to their images inside kernel launches (WeightSlice::transforms that name a
// kernel).

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// Launch parameter: how many images the kernel was built to fill. Absent or "0": none.
constexpr const char* streams_parameter = "STREAMS";
/// Its value; 0 when it is no number of one digit.
int stream_slots(const PlanLaunch& launch);

/// Whole rows of an image weight that one transform moves. A row belongs to the chunk that holds
/// its last byte, so that a chunk smaller than a row may move none.
struct WeightRows {
  std::uint64_t first = 0, count = 0;
  std::uint64_t width = 0;  ///< texels a row
  Bytes row_bytes;
};
WeightRows rows_of(const Plan& plan, const WeightSlice& slice, const WeightTransform& transform);

/// One weight that a launch moves while it computes.
struct WeightStream {
  std::size_t weight = 0;  ///< index into Plan::weights
  WeightRows rows;
};
/// By slot: in the order of plan.weights and of each weight's transforms.
std::vector<WeightStream> streams_in(const Plan& plan, const PlanLaunch& launch);

}  // namespace fm
