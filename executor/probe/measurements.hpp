#pragma once
// The points a probe measures: each can be measured again and again.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/launch_memory.hpp"
#include "executor/probe/probe_data.hpp"
#include "executor/program_cache.hpp"
#include "kernels/microbench_suite.hpp"

namespace fm {

struct Sample {
  double nanoseconds = 0, work = 0;  ///< neither is above 0: nothing to be said
};

struct ProbePoint {
  std::string curve, unit;
  std::vector<std::pair<std::string, std::int64_t>> axes;
  std::function<Sample()> measure;  ///< throws DeviceError
};

/// What measurements share, and outlives them.
struct ProbeDevice {
  explicit ProbeDevice(const OpenClDevice& chosen);
  OpenClContext context;
  ProgramCache cache;
  OpenClQueue queue;
  RingOrder order;
  bool host_timed = false;
};

/// Launches of one benchmark and their memory.
class BenchRunner {
 public:
  BenchRunner(ProbeDevice& device, Microbench bench);
  /// All of its points that the device takes; what it does not is said in `notes`. They refer to
  /// this object.
  std::vector<ProbePoint> measurements(std::vector<std::string>* notes);

 private:
  struct Parts {
    const PlanLaunch *warm = nullptr, *brief = nullptr, *full = nullptr;
    std::int64_t times = 0;  ///< how often full's further work is done; 0: not known yet
  };
  Sample run(Parts* parts);
  Sample run_alone(const PlanLaunch& launch, double work);
  Sample run_series(const PlanLaunch& launch, bool waits, bool enqueueing);
  Sample run_copy(const MicrobenchCopy& copy, double bytes);
  double run(const PlanLaunch& launch, std::size_t amount_argument, std::int64_t amount);
  void fill_ring(const PlanLaunch& launch);
  const OpenClKernel& kernel(const PlanLaunch& launch);
  bool is_possible(const PlanLaunch& launch, std::string* why) const;

  ProbeDevice& device_;
  Microbench bench_;
  LaunchMemory memory_;
};

/// Transfers and maps, of which the suite has none.
std::vector<ProbePoint> host_measurements(ProbeDevice& device);

/// Reads of a file made and removed in `folder`, past the page cache: requests one after another,
/// and eight at a time. None, with a note, where the file system takes no direct reads.
std::vector<ProbePoint> disk_measurements(const std::string& folder,
                                          std::vector<std::string>* notes);

}  // namespace fm
