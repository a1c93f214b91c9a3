#pragma once
// result.json: what a run took, measured by fmexec or simulated by fmsim, under the same keys
// (result.schema.json).

#include <cstdint>
#include <map>
#include <optional>
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
/// How the address space of memory objects looked when the most memory was resident.
struct ResultFragmentation {
  Bytes padding;       ///< resident beyond what was asked for: pages, rows, tiles
  Bytes free;          ///< all holes of the address space
  Bytes largest_hole;  ///< the largest object that could still be placed, alignment apart
  /// Part of the free address space that the largest hole does not give; 0 when all is taken.
  double share() const {
    return free.count() == 0
               ? 0
               : 1 - static_cast<double>(largest_hole.count()) / static_cast<double>(free.count());
  }
};
struct ResultMemory {
  Bytes peak, average;
  MemoryClaims peak_by_class;  ///< each class's own peak
  Bytes peak_driver;
  std::vector<MemorySample> over_time;               ///< one sample a change
  std::optional<ResultFragmentation> fragmentation;  ///< simulated
};

/// One bar of the timeline: something that occupied one lane ("gpu", "disk", "copy", "host") for a
/// while.
struct TimelineEvent {
  std::string lane;
  std::string name;
  Nanoseconds start, end;
};

struct ResultEnergy {
  double total_nj = 0;
  double average_power_mw = 0;
  double outside_launches_nj = 0;  ///< of the run: what no launch's time covers
  std::map<std::string, double> by_component;
};

/// Position under the roofs of the device: how much arithmetic a byte at each level feeds.
struct ResultRoofline {
  double flops = 0;                         ///< floating-point operations, an FMA counted as two
  std::map<std::string, double> intensity;  ///< flops a byte: "dram", "l2", "texture", if any moved
  double achieved_gflops = 0, attainable_gflops = 0;
  std::string bound;  ///< the lowest roof: alu | dram | l2 | texture; "" without arithmetic
};

/// Clocks, power and temperature at one moment of a run in which they may change.
struct PowerSample {
  Nanoseconds time;
  double gpu_speed = 1, dram_speed = 1, cpu_speed = 1;  ///< shares of the fastest clocks
  double power_mw = 0;                                  ///< mean since the sample before
  double temperature_c = 0;
};

struct ResultLaunch {
  std::string id, kernel, operation;
  std::string model;  ///< in a queue of models
  Nanoseconds start, end;
  std::string bound;  ///< disk | dram | l2 | load_store | texture | alu | launch | latency | local;
                      ///< "measured" when a simulation took its recorded time, "" when not known
  std::uint64_t macs = 0;
  Bytes weight_bytes;                ///< of the weights it is first to use
  std::uint32_t resident_waves = 0;  ///< of a core at a time, at most (simulated)
  std::string occupancy_limit;  ///< wave_slots | registers | local_memory | work_groups | launch;
                                ///< "" when not known (measured)
  std::map<std::string, double>
      stalls;  ///< fraction of core cycles by cause; sums to 1 (simulated)
  std::map<std::string, double> counters;
  std::map<std::string, double> peaks;  ///< achieved / peak by unit (simulated)
  ResultRoofline roofline;              ///< simulated
  ResultEnergy energy;                  ///< simulated
  double clock_mhz = 0;                 ///< of the GPU while it ran (simulated)
};

/// One model of a queue.
struct ResultModel {
  std::string name;
  Nanoseconds start, end;  ///< of its first kernel, and of its last
  Nanoseconds integrated;  ///< from when the run began to its outputs: what a user waits for
  Bytes peak;              ///< most that was resident between start and end, of all classes
};

struct ResultCounter {
  double value = 0;
  std::string unit;
  std::string description;
};

/// How often something took how long.
struct ResultHistogram {
  std::string name;    ///< "l2.read_latency"
  std::string client;  ///< on whose behalf
  std::string unit, description;
  std::vector<std::uint64_t> bounds;  ///< where each bin begins; it ends where the next begins
  std::vector<std::uint64_t> counts;  ///< as many
};

/// What the counters moved by, part by part of the run (fmsim --interval).
struct ResultIntervals {
  Nanoseconds length;             ///< of each but the last; 0: not asked for
  std::vector<Nanoseconds> ends;  ///< of each, rising
  /// One movement an interval, of every counter that moved at all; they sum to the counter's value.
  std::map<std::string, std::vector<double>> counters;
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
  std::vector<std::string> perfect;  ///< parts of the device that cost nothing: "dram", ...
  ResultLatency latency;
  /// Of every repetition, when there were several: the rest of the result is of the last.
  std::vector<ResultLatency> repetitions;
  ResultFloor floor;
  ResultMemory memory;
  std::vector<TimelineEvent> timeline;
  std::map<std::string, double>
      peaks;  ///< achieved / peak by unit: "dram", "l2", "texture", "alu", "disk", ..
  ResultRoofline roofline;
  ResultEnergy energy;
  std::vector<PowerSample> power_over_time;  ///< empty where nothing can change
  std::vector<ResultLaunch> launches;
  std::vector<ResultModel> models;  ///< of a queue, in the order of their starts
  std::map<std::string, ResultCounter> counters;
  std::vector<ResultHistogram> latency_histograms;
  ResultIntervals intervals;
  std::vector<ResultCheck> checks;
};

/// Models that launches name, from launches and memory over time. A model's first kernel need not
/// be the first of its commands: weights come before.
std::vector<ResultModel> models_of(const Result& result);

/// Deterministic JSON, keys as in result.schema.json.
std::string to_json(const Result& result);
/// Chrome/Perfetto trace-event JSON of timeline, memory, and the counters of intervals.
std::string to_chrome_trace(const Result& result);

}  // namespace fm
