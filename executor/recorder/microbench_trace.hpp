#pragma once
// A microbenchmark's trace: its kernels' accesses recorded on an OpenCL device, its host program as
// a benchmark issues it, nothing executed.

#include <map>
#include <string>

#include "core/trace_file.hpp"
#include "executor/recorder/program_recorder.hpp"
#include "kernels/microbench_suite.hpp"

namespace fm {

/// Objects are created, steps issued in order, and everything waited for. The device's facts go
/// into the header: pass only those that do not change from run to run.
Trace record_microbench(const Microbench& bench, ProgramRecorder& programs,
                        const std::map<std::string, std::string>& device_facts);

}  // namespace fm
