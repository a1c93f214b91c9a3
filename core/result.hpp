#pragma once
// result.json: what a run took, measured by fmexec or simulated by fmsim, under the same keys
// (result.schema.json).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"

namespace fm {

constexpr int result_schema_version = 1;

struct ResultLatency {
  Nanoseconds integrated, startup, init, exec;
};
struct ResultFloor {
  Nanoseconds disk, compute, dram;
};

struct MemorySample {
  Nanoseconds time;
  MemoryClaims claims;
  Bytes driver;
};
struct ResultMemory {
  Bytes peak, average;
  MemoryClaims peak_by_class;  ///< each class's own peak
  Bytes peak_driver;
  std::vector<MemorySample> over_time;  ///< one sample a change
};

/// One bar of the timeline: something that occupied one lane ("gpu", "disk", "copy", "host") for a
/// while.
struct TimelineEvent {
  std::string lane;
  std::string name;
  Nanoseconds start, end;
};

struct ResultLaunch {
  std::string id, kernel, operation;
  Nanoseconds start, end;
  std::string bound;  ///< disk | dram | l2 | load_store | texture | alu | launch | latency | local;
                      ///< "" when not known (measured)
  std::uint64_t macs = 0;
  Bytes weight_bytes;  ///< of the weights it is first to use
  std::map<std::string, double>
      stalls;  ///< fraction of core cycles by cause; sums to 1 (simulated)
  std::map<std::string, double> counters;
};

struct ResultCounter {
  double value = 0;
  std::string unit;
  std::string description;
};

/// A conservation law with its two sides.
struct ResultCheck {
  std::string law;
  double left = 0, right = 0;
  bool holds() const { return left == right; }
};

struct Result {
  std::string tool;         ///< "fmsim 0.1.0"
  std::string config_yaml;  ///< effective config
  std::string trace_file, trace_digest;
  std::string sampling_mode = "full";
  double sampling_error_bound = 0;
  ResultLatency latency;
  ResultFloor floor;
  ResultMemory memory;
  std::vector<TimelineEvent> timeline;
  std::map<std::string, double>
      peaks;  ///< achieved / peak by unit: "dram", "l2", "texture", "alu", "disk"
  double energy_total_nj = 0;
  std::map<std::string, double> energy_by_component;
  std::vector<ResultLaunch> launches;
  std::map<std::string, ResultCounter> counters;
  std::vector<ResultCheck> checks;
};

/// Deterministic JSON, keys as in result.schema.json.
std::string to_json(const Result& result);
/// Chrome/Perfetto trace-event JSON of timeline and memory counters.
std::string to_chrome_trace(const Result& result);

}  // namespace fm
