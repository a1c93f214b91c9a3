#pragma once
// What a policy that plans in time says about its plan.

#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "planner/overlap/plan_problem.hpp"
#include "planner/overlap/timed_problem.hpp"
#include "planner/profile/slowdown.hpp"

namespace fm {

/// "launch L12 (MatMul)", in a queue with its model.
std::string launch_name(const PlanLaunch& launch);
/// What holds the memory while preloads are read.
constexpr const char* preloading_name = "preloading before the first launch";

/// LC-OPG's own terms.
struct LcOpgTerms {
  double objective = 0, lower_bound = 0, gap = 0, lambda = 0;
  Bytes chunk, m_peak;
  std::uint64_t preloaded_chunks = 0, distance = 0;
  std::string status;
};

/// What adaptive fusion did.
struct FusionReport {
  double alpha = 0;
  std::size_t offered = 0;           ///< fused launches that could be two
  std::vector<std::string> unfused;  ///< ONNX nodes left apart
  std::size_t plans = 0;             ///< networks planned to find them
  bool timed = false;                ///< costs are nanoseconds; else the objective of lc-opg
  double fixed_cost = 0, cost = 0;   ///< of everything fused, and of the plan
  /// Loading their programs, those that stream among them: no part of the costs.
  Nanoseconds fixed_programs, programs;
  double seconds = 0;  ///< of all planning
};

/// A launch that streams weights of later ones, as it was planned.
struct CarryingLaunch {
  std::string launch;
  Bytes streamed;
  Nanoseconds bare, slowed;
  double allowed = 0;  ///< extra time over bare time, by its class
};

struct OverlapReport {
  /// Set by lc-opg, which has no notion of time: `predicted` and `lower_bound` are 0 then.
  std::optional<LcOpgTerms> lc_opg;
  std::optional<FusionReport> fusion;  ///< when it was adaptive

  bool estimated = true;      ///< launch times are a roofline, not a profile
  std::string profile;        ///< file the launch times come from
  Nanoseconds program_load;   ///< preloads are read meanwhile
  Nanoseconds disk_floor;     ///< all weights at the disk's best bandwidth
  Nanoseconds compute_floor;  ///< all launches, bare
  /// From when programs are loaded to the last launch's end: the first run, and one with its
  /// preloaded weights still there.
  Nanoseconds predicted, predicted_warm;
  std::uint64_t runs = 1;
  double lower_bound = 0;  ///< nanoseconds; of the first run of any plan within the budget
  double seconds = 0;      ///< of solving
  std::optional<Bytes> budget;
  MinimumBudget minimum;       ///< of the plan's setting; launches by position in kernels only
  std::string minimum_launch;  ///< the launch that holds it, or preloading_name
  MemoryClaims peak;           ///< the largest claims of a launch
  std::string peak_launch;
  Nanoseconds copying, slowed, waiting;  ///< GPU time beyond bare launches
  Bytes preloaded, copied, streamed_inside, buffers;
  std::vector<CarryingLaunch> carrying;

  Nanoseconds floor() const { return disk_floor < compute_floor ? compute_floor : disk_floor; }
  double over_floor() const;
  double gap() const;
};

/// Fills what no plan of the model can be faster than, and what loading its programs takes.
void describe_floors(const OverlapModel& model, const DeviceCosts& costs, OverlapReport* report);
/// Fills what can be read off the finished plan: peak, bytes by way.
void describe_plan(const Plan& plan, OverlapReport* report);
/// The launches of a finished plan that carry streams. `priced`: the launches it was made of, with
/// their `profiles`, in the same order.
std::vector<CarryingLaunch> carrying_launches(const Plan& plan, const Plan& priced,
                                              const std::vector<LaunchProfile>& profiles);
std::string report_text(const OverlapReport& report);
/// As JSON, to stand beside the plan's summary.
std::string report_json(const OverlapReport& report);

}  // namespace fm
