// Kernels and their launches.
#include <vector>

#include "executor/recorder_layer/calls.hpp"
#include "executor/recorder_layer/command.hpp"

namespace fm {
namespace {

std::string name_of(cl_kernel kernel) {
  std::size_t size = 0;
  if (below->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &size) != CL_SUCCESS ||
      size == 0) {
    return "";
  }
  std::string name(size, '\0');
  below->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name.data(), nullptr);
  name.resize(size - 1);
  return name;
}

void add_kernel(cl_kernel kernel, cl_program program) {
  record([&](ApiRecorder& recorder) {
    recorder.add_kernel(kernel, name_of(kernel), recorder.program_digest(program));
  });
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* code) {
  const cl_kernel made = below->clCreateKernel(program, name, code);
  if (made != nullptr) add_kernel(made, program);
  return made;
}

cl_int CL_API_CALL create_kernels_in_program(cl_program program, cl_uint room, cl_kernel* kernels,
                                             cl_uint* count) {
  cl_uint made = 0;
  const cl_int code = below->clCreateKernelsInProgram(program, room, kernels, &made);
  if (count != nullptr) *count = made;
  if (code != CL_SUCCESS || kernels == nullptr) return code;
  for (cl_uint i = 0; i < made; ++i) add_kernel(kernels[i], program);
  return code;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int* code) {
  const cl_kernel made = below->clCloneKernel(source, code);
  if (made != nullptr) {
    record([&](ApiRecorder& recorder) { recorder.clone_kernel(source, made); });
  }
  return made;
}

cl_int CL_API_CALL set_kernel_arg(cl_kernel kernel, cl_uint index, std::size_t size,
                                  const void* value) {
  const cl_int code = below->clSetKernelArg(kernel, index, size, value);
  if (code == CL_SUCCESS) {
    record([&](ApiRecorder& recorder) { recorder.set_argument(kernel, index, size, value); });
  }
  return code;
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint wait_count,
                                  const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  command.launch(kernel, dimensions, offset, global, local);
  return command.finish(below->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                      local, wait_count, waits, command.event()));
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                const cl_event* waits, cl_event* event) {
  const std::size_t one = 1;
  Command command({queue, wait_count, waits, event});
  command.launch(kernel, 1, nullptr, &one, &one);
  return command.finish(below->clEnqueueTask(queue, kernel, wait_count, waits, command.event()));
}

}  // namespace

void install_kernel_calls(cl_icd_dispatch* own) {
  own->clCreateKernel = create_kernel;
  own->clCreateKernelsInProgram = create_kernels_in_program;
  own->clCloneKernel = clone_kernel;
  own->clSetKernelArg = set_kernel_arg;
  own->clEnqueueNDRangeKernel = enqueue_kernel;
  own->clEnqueueTask = enqueue_task;
}

}  // namespace fm
