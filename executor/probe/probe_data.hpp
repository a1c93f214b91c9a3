#pragma once
// What a probe measured, as its file of raw data holds it.

#include <map>
#include <string>
#include <vector>

#include "core/microbench_curve.hpp"

namespace fm {

/// The order in which a pointer chase visits its ring.
enum class RingOrder {
  sequential,  ///< as the catalogue's recordings: LRU's steps show
  shuffled     ///< for devices whose prefetchers follow strides
};

struct ProbeData {
  std::string device;
  std::string date;  ///< "2026-12-02"; "" of a simulated device
  double clock_hertz = 0;
  double cores = 0;
  RingOrder order = RingOrder::sequential;
  std::map<std::string, std::string> facts;  ///< what the driver says of the device
  std::map<std::string, MicrobenchCurve> curves;
  /// A reference launch's times through the run, nanoseconds, in order.
  std::vector<double> reference_ns;
  std::vector<std::string> notes;  ///< what could not be measured, and why

  /// Null when it was not measured.
  const MicrobenchCurve* curve(const std::string& name) const;
};

/// How far the reference launch's second half of the run is from its first, relative; 0 with fewer
/// than four times.
double drift_of(const std::vector<double>& reference_ns);

/// Reads what to_json() wrote, or what `fmsim microbench --json` did. Throws UserError.
ProbeData read_probe_data(const std::string& path);
std::string to_json(const ProbeData& data);

}  // namespace fm
