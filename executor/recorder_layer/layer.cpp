// libfmtrace_layer.so: OPENCL_LAYERS=libfmtrace_layer.so FM_TRACE_FILE=app.trace app
// records what a program asks of OpenCL (docs/recorders.md).
#include "executor/opencl_layer/layer_entry.hpp"
#include "executor/recorder_layer/calls.hpp"
#include "executor/recorder_layer/command_watch.hpp"

namespace fm {

const char* const layer_name = "fmtrace_layer";

void install_layer(const cl_icd_dispatch& target, cl_icd_dispatch* own) {
  below = &target;
  Recording::start({layer_name, true});
  if (Recording::recorder() == nullptr) return;
  install_context_calls(own);
  install_memory_calls(own);
  install_kernel_calls(own);
  install_event_calls(own);
  install_transfer_calls(own);
  install_map_calls(own);
}

}  // namespace fm
