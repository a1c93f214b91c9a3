#pragma once
// The preload sets and rings that `optimal` tries.

#include <vector>

#include "planner/overlap/plan_problem.hpp"

namespace fm {

/// Preload sets: weights from the first on, as far as the disk gets while programs are loaded, in
/// quarters, and all of them; for several runs also eighths of all weights, the first ones and
/// evenly spread ones. Rings: from the smallest, by halves and doublings, up to all images. One,
/// two or four launches enqueued and unfinished.
std::vector<OverlapSetting> setting_candidates(const OverlapModel& model, std::uint64_t runs);

}  // namespace fm
