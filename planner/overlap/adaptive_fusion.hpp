#pragma once
// Adaptive fusion (FlashMem, arXiv 2602.15379, section 4.3): a fused launch that costs overlap is
// split again, and the schedule is made anew.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "planner/overlap/lc_opg.hpp"

namespace fm {

/// A fused launch and the two it can become. Launches of softmax and normalisation are not offered.
struct FusionSplit {
  std::size_t layer = 0;              ///< of the problem, C_v its capacity
  std::uint64_t first_capacity = 0;   ///< C_v1, chunks: the operator
  std::uint64_t second_capacity = 0;  ///< C_v2, chunks: its epilogue
  std::string unfused;                ///< the node that would be left unfused
};

/// A schedule for a choice of unfused nodes, and what could be split in it.
struct FusedSchedule {
  LcOpgProblem problem;
  LcOpgResult result;
  std::vector<FusionSplit> splits;
  /// What is to be lowered: result.objective, or a time when the caller has one.
  double cost = 0;
  /// By layer, of a schedule in time: chunks that copies of their own transform before it. Empty
  /// for LC-OPG, which has none.
  std::vector<std::uint64_t> copied;
};

/// Plans the network anew with these nodes left unfused. May throw; the exception passes through.
using PlanUnfused = std::function<FusedSchedule(const std::set<std::string>& unfused)>;

struct AdaptiveFusionOptions {
  /// Penalty of a layer of distance that the fusion adds. The paper gives no value; 0.1 is
  /// 1 - lambda at its lambda.
  double mu = 0.1;
  /// A split must gain so much capacity: C_v1 + C_v2 >= (1 + alpha) C_v. The paper gives no value.
  double alpha = 0.1;
  std::size_t most_plans = 40;  ///< calls of PlanUnfused
};

struct RankedSplit {
  FusionSplit split;
  /// lambda |W_new| + mu delta_z. W_new: chunks that are preloaded with the fusion and need not be
  /// without it; delta_z: layers of distance that the fusion adds (with the layer that the split
  /// adds counted out). Of a schedule in time, which preloads for other reasons too: chunks of the
  /// lost capacity for which there are copies behind the launch.
  double penalty = 0;
};

/// The splits that gain capacity and whose fusion has a penalty, highest first.
std::vector<RankedSplit> rank_splits(const FusedSchedule& schedule,
                                     const AdaptiveFusionOptions& options);

struct AdaptiveFusionResult {
  FusedSchedule schedule;
  std::set<std::string> unfused;
  std::size_t plans = 0;  ///< calls of PlanUnfused
};

/// Splits while weights are preloaded, or in time copied, for want of capacity and a split lowers
/// the cost: the highest penalties together first, half as many after a failure. Never worse than
/// everything fused.
AdaptiveFusionResult adapt_fusion(const PlanUnfused& plan,
                                  const AdaptiveFusionOptions& options = {});

}  // namespace fm
