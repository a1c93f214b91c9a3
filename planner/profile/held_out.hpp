#pragma once
// How well times are predicted for what was not profiled: parts of profiles are held out in turn.

#include <cstddef>
#include <string>
#include <vector>

#include "planner/profile/capacity_margin.hpp"
#include "planner/profile/device_profile.hpp"

namespace fm {

HeldOutErrors errors_of(std::vector<double> relative);

/// Of slowdowns (slowed over bare time), the bare time known or learnt too; and of bare times.
struct ModelErrors {
  HeldOutErrors slowed, slowed_and_bare, bare;
  ClassMargins slowed_margins, slowed_and_bare_margins;  ///< of the same predictions
};
/// What is held out together.
enum class HeldOutGroup {
  shape,   ///< every `folds`-th launch
  kernel,  ///< all launches of a kernel
  profile  ///< all launches of a profile: a network, or a device
};
std::string to_string(HeldOutGroup group);
/// For each group learns from the launches of all others and predicts its own. No predictions when
/// there is only one group or too little to learn from.
/// Errors are those of the first profile's launches.
ModelErrors held_out(const std::vector<const DeviceProfile*>& profiles, HeldOutGroup group,
                     std::size_t folds);

/// All of the above for a device: amounts, and shapes and kernels learnt from all profiles; with
/// others also the whole profile, learnt from the others alone. Errors are those of `profile`'s
/// launches, and its margins those of amounts and shapes.
void hold_out(DeviceProfile* profile, const std::vector<DeviceProfile>& others, std::size_t folds);

/// Each point between others left out in turn, its slowed time read off the curve of the rest.
std::vector<HeldOutPrediction> held_out_points(const DeviceProfile& profile);
/// Relative errors of predictions.
HeldOutErrors errors_of(const std::vector<HeldOutPrediction>& predictions);

}  // namespace fm
