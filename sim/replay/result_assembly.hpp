#pragma once
// From what happened in a run to its Result.

#include <map>
#include <optional>

#include "core/plan.hpp"
#include "core/trace_file.hpp"
#include "sim/power/energy_ledger.hpp"
#include "sim/replay/device_heap.hpp"
#include "sim/replay/run_log.hpp"
#include "sim/stats/unit_peaks.hpp"
#include "sim/storage/flash_storage.hpp"

namespace fm {

/// Bytes of each weight by tensor id: the plan's, or what the trace reads from disk under its name.
std::map<std::string, Bytes> weight_bytes(const Trace& trace, const std::optional<Plan>& plan);

/// The plan's launches, kernels and copies, in the order they started. A launch that waited longer
/// for the disk than it ran is bound by "disk"; a weight counts with the first launch that has it
/// as an argument.
std::vector<ResultLaunch> assemble_launches(const Trace& trace, const std::optional<Plan>& plan,
                                            const RunLog& log, const UnitPeaks& peaks,
                                            const EnergyLedger& energy);

/// Lanes gpu, copy, disk, host and reader.
std::vector<TimelineEvent> assemble_timeline(const RunLog& log);

/// integrated: until the last operation ended; init: until the first launch started; exec: from
/// then on.
ResultLatency assemble_latency(const RunLog& log);

/// The laws of the host side: what the trace asked for is what was done. `bytes_read` from storage.
void append_host_checks(const Trace& trace, const std::optional<Plan>& plan, const RunLog& log,
                        const DeviceHeap& heap, Bytes bytes_read, std::vector<ResultCheck>* checks);

}  // namespace fm
