#include "executor/opencl_layer/layer_entry.hpp"

#include <cstring>

#define FM_EXPORTED __attribute__((visibility("default")))

namespace fm {

cl_int answer_query(const std::string& answer, std::size_t room, void* to, std::size_t* needed) {
  if (needed != nullptr) *needed = answer.size();
  if (to == nullptr) return CL_SUCCESS;
  if (room < answer.size()) return CL_INVALID_VALUE;
  std::memcpy(to, answer.data(), answer.size());
  return CL_SUCCESS;
}

}  // namespace fm

extern "C" {

FM_EXPORTED CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, std::size_t room,
                                                           void* to, std::size_t* needed) {
  if (what == CL_LAYER_NAME) {
    return fm::answer_query(std::string(fm::layer_name) + '\0', room, to, needed);
  }
  if (what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  return fm::answer_query_with(version, room, to, needed);
}

FM_EXPORTED CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries,
                                                        const cl_icd_dispatch* target,
                                                        cl_uint* entries_made,
                                                        const cl_icd_dispatch** dispatch_made) {
  constexpr cl_uint own_entries = sizeof(cl_icd_dispatch) / sizeof(void*);
  if (entries < own_entries) return CL_INVALID_VALUE;
  static cl_icd_dispatch dispatch;
  dispatch = *target;
  fm::install_layer(*target, &dispatch);
  *entries_made = own_entries;
  *dispatch_made = &dispatch;
  return CL_SUCCESS;
}

}  // extern "C"
