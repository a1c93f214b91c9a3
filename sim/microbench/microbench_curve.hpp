#pragma once
// From a simulated run of a microbenchmark's trace to its curve.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/microbench_curve.hpp"
#include "core/result.hpp"
#include "core/trace_file.hpp"

namespace fm {

using AxisConditions = std::vector<std::pair<std::string, std::int64_t>>;

/// Removes from a microbenchmark's trace what measures other points, and the waits for it.
void keep_points(const AxisConditions& conditions, Trace* trace);

/// From the times of the launches, copies and reads that core/microbench_label.hpp describes;
/// others are passed over. `clock_hertz` of the GPU, for units a cycle. Throws UserError when a
/// point lacks a part or its parts do not differ in time, or the run measures two units.
MicrobenchCurve curve_of(const std::string& name, const Result& result, double clock_hertz);

}  // namespace fm
