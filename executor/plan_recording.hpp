#pragma once
// Traces of a plan, with a run behind them or without.

#include <string>

#include "core/plan.hpp"
#include "executor/model_arrays.hpp"
#include "executor/opencl_device.hpp"
#include "executor/plan_executor.hpp"

namespace fm {

/// Writes the trace of the executor's first run to `path`. The weights file gives the constants
/// that kernels index with. Returns a line for people.
std::string record_run(const Plan& plan, const ArraysByTensor& inputs, const std::string& weights,
                       const std::string& path, PlanExecutor& executor);

/// The same without weights or a run: the host program is what fmexec would do for the plan
/// (host_program), and of every distinct launch only the work-groups that are recorded run. Throws
/// UserError where a kernel indexes with a constant, whose values only the weights file has.
std::string record_weightless(const Plan& plan, const ArraysByTensor& inputs,
                              const std::string& path, const OpenClDevice& device);

}  // namespace fm
