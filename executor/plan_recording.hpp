#pragma once
// Traces of a plan, with a run behind them or without.

#include <map>
#include <string>

#include "core/plan.hpp"
#include "executor/model_arrays.hpp"
#include "executor/opencl_device.hpp"
#include "executor/plan_executor.hpp"

namespace fm {

/// Writes the trace of the executor's first run to `path`, with `facts` of the device and the run,
/// and what it used of the device.
/// The weights file gives the constants that kernels index with. Returns lines for people.
std::string record_run(const Plan& plan, const ArraysByTensor& inputs, const std::string& weights,
                       const std::string& path, PlanExecutor& executor,
                       const std::map<std::string, std::string>& facts);

/// The same without weights or a run: the host program is what fmexec would do for the plan
/// (host_program), and of every distinct launch only the work-groups that are recorded run. Throws
/// UserError where a kernel indexes with a constant, whose values only the weights file has.
std::string record_weightless(const Plan& plan, const ArraysByTensor& inputs,
                              const std::string& path, const OpenClDevice& device);

}  // namespace fm
