#pragma once
// What reads, copies and starting up cost on a device, as its config says.

#include <optional>

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "core/staged_piece.hpp"
#include "planner/overlap/timed_problem.hpp"

namespace fm {

class DeviceCosts {
 public:
  /// `config` must outlive it. `copy_nanoseconds_per_byte`: as measured, instead of
  /// host.copy_bandwidth.
  explicit DeviceCosts(const DeviceConfig& config,
                       std::optional<double> copy_nanoseconds_per_byte = std::nullopt)
      : config_(config), copy_nanoseconds_per_byte_(copy_nanoseconds_per_byte) {}

  /// What a weight's read, request after request, adds to the disk's time: its data at
  /// storage.read_bandwidth, or a reader thread's share of data, CPU time, command latency, map and
  /// unmap where that is longer: `reader_threads` of them overlap. What follows in the file is read
  /// sequentially.
  Nanoseconds read_time(Bytes bytes, Bytes request = disk_request) const;
  /// What dividing a read adds for each further part of this size.
  Nanoseconds part_overhead(Bytes part) const;
  /// A copy from a buffer to an image.
  CopyCost copy() const;
  /// Enqueueing, and making images: a driver call, pages, and their zeros.
  HostCost host() const;
  /// Loading the plan's programs, one after the other, during which preloaded weights are read.
  Nanoseconds program_load(const Plan& plan) const;
  /// All bytes at the storage's best bandwidth, without latencies: the disk's floor.
  Nanoseconds disk_floor(Bytes bytes) const;

 private:
  /// Of one request, nanoseconds.
  struct ReadCost {
    double data = 0;      ///< the disk's
    double overhead = 0;  ///< the thread's, before and after
  };
  ReadCost read_cost(double bytes) const;

  const DeviceConfig& config_;
  std::optional<double> copy_nanoseconds_per_byte_;
};

}  // namespace fm
