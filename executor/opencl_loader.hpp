#pragma once
// OpenCL through a library found at run time, never linked: one binary runs on phones and PCs and
// says clearly what is missing where there is none.

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <string>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {

// Every OpenCL 1.2 function the executor calls.
#define FM_OPENCL_FUNCTIONS(X)        \
  X(clGetPlatformIDs)                 \
  X(clGetPlatformInfo)                \
  X(clGetDeviceIDs)                   \
  X(clGetDeviceInfo)                  \
  X(clCreateContext)                  \
  X(clReleaseContext)                 \
  X(clCreateCommandQueue)             \
  X(clReleaseCommandQueue)            \
  X(clCreateBuffer)                   \
  X(clCreateSubBuffer)                \
  X(clCreateImage)                    \
  X(clReleaseMemObject)               \
  X(clSetMemObjectDestructorCallback) \
  X(clCreateProgramWithSource)        \
  X(clCreateProgramWithBinary)        \
  X(clBuildProgram)                   \
  X(clGetProgramInfo)                 \
  X(clGetProgramBuildInfo)            \
  X(clReleaseProgram)                 \
  X(clCreateKernel)                   \
  X(clGetKernelWorkGroupInfo)         \
  X(clReleaseKernel)                  \
  X(clSetKernelArg)                   \
  X(clEnqueueNDRangeKernel)           \
  X(clEnqueueReadBuffer)              \
  X(clEnqueueWriteBuffer)             \
  X(clEnqueueFillBuffer)              \
  X(clEnqueueReadImage)               \
  X(clEnqueueWriteImage)              \
  X(clEnqueueFillImage)               \
  X(clEnqueueCopyBufferToImage)       \
  X(clEnqueueMapBuffer)               \
  X(clEnqueueUnmapMemObject)          \
  X(clWaitForEvents)                  \
  X(clGetEventProfilingInfo)          \
  X(clReleaseEvent)                   \
  X(clRetainEvent)                    \
  X(clFlush)                          \
  X(clFinish)

/// Function pointers of the loaded library, by their OpenCL names.
struct OpenClFunctions {
#define FM_DECLARE(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  FM_OPENCL_FUNCTIONS(FM_DECLARE)
#undef FM_DECLARE
};

/// The library, loaded on first use and kept. Throws DeviceError naming what was tried and which
/// package brings one.
const OpenClFunctions& opencl();

/// Names and paths tried, in order.
const std::vector<std::string>& opencl_library_names();

/// "CL_OUT_OF_RESOURCES"; "CL error -1234" for codes the standard does not name.
std::string opencl_error_name(cl_int code);

/// An OpenCL function returned an error.
class OpenClError : public DeviceError {
 public:
  /// "<attempt>: <function> failed with <error name> (<code>)<details>".
  OpenClError(cl_int code, const std::string& function, const std::string& attempt,
              const std::string& details = "");
  cl_int code() const { return code_; }
  /// There was no room, or no more of whatever else the driver has few of.
  bool is_exhaustion() const;

 private:
  cl_int code_;
};

/// Throws OpenClError unless the code is CL_SUCCESS.
void check_opencl(cl_int code, const char* function, const std::string& attempt);

}  // namespace fm
