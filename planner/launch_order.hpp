#pragma once
// Launches in another order that the graph allows, where that lowers the peak of live activations.

#include "core/plan.hpp"

namespace fm {

/// Bytes of activations alive at once at most, launch by launch: what pools hold at least.
Bytes live_peak(const Plan& plan);

/// Reorders the kernels of a plan without pools, weights and uses: of the launches whose inputs are
/// there, the next is the one after which the least is alive, the earliest of equals. Keeps the
/// given order unless the peak gets lower. Ids stay with their launches. Returns whether the order
/// changed.
bool reorder_launches(Plan* plan);

}  // namespace fm
