#pragma once
// One DRAM channel alone under a closed loop of requests: how DRAM simulators are compared.

#include <cstdint>

#include "sim/memory/dram_parameters.hpp"

namespace fm {

struct DramStream {
  enum class Pattern { sequential, random };
  Pattern pattern = Pattern::sequential;
  std::uint64_t requests = 1000000;
  std::uint32_t window = 0;  ///< requests outstanding; 0: the channel's queue never has a place
  double write_share = 0;    ///< 0 to 1
  std::uint32_t bytes = 64;  ///< of a request; smaller ones make up 64-byte aligned groups
  std::uint64_t span = std::uint64_t{1} << 30;  ///< random addresses: uniform, 64-byte aligned
  std::uint64_t seed = 42;
};

struct DramStreamReport {
  DramCounts counts;
  double seconds = 0;  ///< simulated, first request to last data
  double bytes_per_second = 0;
  double peak_bytes_per_second = 0;
  double clock = 0;  ///< of commands, Hz
  /// Mean over reads, in seconds: from sending, or with a full queue from entry into it, to the
  /// last data.
  double latency = 0;
  double mean_queue = 0;  ///< requests in the scheduler's queue
};

/// Runs the channel that `parameters` describe (as the only one, its line as long as a request) in
/// a simulation of its own. A request is sent when another is answered, and reaches the scheduler
/// one command clock later.
DramStreamReport run_dram_stream(const DramParameters& parameters, const DramStream& stream,
                                 DramObserver* observer = nullptr);

}  // namespace fm
