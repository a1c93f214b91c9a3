#pragma once
// The layer's functions, by subject: each passes its arguments on unchanged and returns what the
// driver returned.

#include <CL/cl_layer.h>

namespace fm {

void install_context_calls(cl_icd_dispatch* own);
void install_memory_calls(cl_icd_dispatch* own);
void install_kernel_calls(cl_icd_dispatch* own);
void install_event_calls(cl_icd_dispatch* own);
void install_transfer_calls(cl_icd_dispatch* own);
void install_map_calls(cl_icd_dispatch* own);

}  // namespace fm
