#pragma once
// Writing a run's trace: header, access programs, contents of index buffers, host program.

#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/trace.pb.h"
#include "executor/recorder/program_recorder.hpp"

namespace fm {

/// "fmexec 0.1.0", the plan as YAML, its models' digests (one a line) and the device's facts.
trace::Header trace_header(const std::string& tool, const Plan& plan,
                           const std::map<std::string, std::string>& device_facts, bool weightless);

/// Records the programs still unknown and writes `path`. `operations` is the host program as it was
/// logged, its launches named by plan launch id and their `program` not yet set. The file appears
/// whole or not at all.
void write_run_trace(const std::string& path, const trace::Header& header, const Plan& plan,
                     std::vector<trace::HostOperation> operations, ProgramRecorder& programs,
                     const IndexSource& indices);

}  // namespace fm
