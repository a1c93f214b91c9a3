#pragma once
// What reads, copies and starting up cost on a device, as its config says.

#include <optional>

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "planner/overlap/timed_problem.hpp"

namespace fm {

class DeviceCosts {
 public:
  /// `config` must outlive it. `copy_nanoseconds_per_byte`: as measured, instead of
  /// host.copy_bandwidth.
  explicit DeviceCosts(const DeviceConfig& config,
                       std::optional<double> copy_nanoseconds_per_byte = std::nullopt)
      : config_(config), copy_nanoseconds_per_byte_(copy_nanoseconds_per_byte) {}

  /// One read of a weight or a piece of it into mapped memory, request after request: CPU time,
  /// command latency and storage.read_bandwidth of each, and the map and unmap around them. What
  /// follows in the file is read sequentially.
  Nanoseconds read_time(Bytes bytes) const;
  /// A copy from a buffer to an image.
  CopyCost copy() const;
  /// The host's part of a launch, which shows when none is enqueued ahead.
  Nanoseconds enqueue() const;
  /// Loading the plan's programs, during which preloaded weights are read.
  Nanoseconds program_load(const Plan& plan) const;
  /// All bytes at the storage's best bandwidth, without latencies: the disk's floor.
  Nanoseconds disk_floor(Bytes bytes) const;

 private:
  const DeviceConfig& config_;
  std::optional<double> copy_nanoseconds_per_byte_;
};

}  // namespace fm
