#pragma once
// What launches take when nobody has measured them: a roofline from the device config.

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "planner/profile/slowdown.hpp"

namespace fm {

/// Launch overhead plus the longer of arithmetic and memory traffic (Williams et al., CACM 2009).
/// Arithmetic at a fifth of the device's peak: kernels of ViT-B/16 and ResNet50 reach 13 to 29 % of
/// it when simulated on Adreno 750 and Mali-G715. Traffic: each tensor argument once, at three
/// fifths of the DRAM's peak.
Nanoseconds estimated_time(const Plan& plan, const PlanLaunch& launch, const DeviceConfig& config);

/// Slowdown of a launch that takes `time`: streams hide in the time its own traffic leaves free, at
/// a fifth of their cost, and pay it in full beyond, up to its class's threshold.
SlowdownCurve estimated_slowdown(const Plan& plan, const PlanLaunch& launch,
                                 const DeviceConfig& config, Nanoseconds time);

}  // namespace fm
