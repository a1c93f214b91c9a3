#pragma once
// What every OpenCL layer (OPENCL_LAYERS of an ICD loader) does alike: how the loader finds it and
// how it puts its functions between the program and the driver.

#include <CL/cl_layer.h>

#include <cstddef>
#include <string>

namespace fm {

/// Defined by the layer.
extern const char* const layer_name;
/// Defined by the layer, called once: `own` is a copy of `below`, the next layer's or the driver's
/// functions, of which it replaces some. `below` stays valid.
void install_layer(const cl_icd_dispatch& below, cl_icd_dispatch* own);

/// Answers a clGet..Info call with these bytes.
cl_int answer_query(const std::string& answer, std::size_t room, void* to, std::size_t* needed);
/// The same with a value's bytes.
template <class T>
cl_int answer_query_with(const T& value, std::size_t room, void* to, std::size_t* needed) {
  return answer_query({reinterpret_cast<const char*>(&value), sizeof value}, room, to, needed);
}

}  // namespace fm
