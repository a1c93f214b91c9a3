#include "executor/opencl_objects.hpp"

namespace fm {

namespace {

// Of cl_qcom_perf_hint, which headers lack.
constexpr cl_context_properties perf_hint_property = 0x40C2;  // CL_CONTEXT_PERF_HINT_QCOM
constexpr cl_context_properties highest_clocks = 0x40C3;      // CL_PERF_HINT_HIGH_QCOM

}  // namespace

OpenClContext::OpenClContext(const OpenClDevice& device) : device_(device) {
  cl_int code = CL_SUCCESS;
  const auto create = [&](cl_context_properties hint) {
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), hint,
        hint == 0 ? 0 : highest_clocks, 0};
    context_ = decltype(context_)(
        opencl().clCreateContext(properties, 1, &device.id, nullptr, nullptr, &code));
  };
  if (device.has_extension(perf_hint_extension)) create(perf_hint_property);
  perf_hint_ = context_ && code == CL_SUCCESS;
  if (!perf_hint_) create(0);
  check_opencl(code, "clCreateContext", "creating a context on " + device.name);
}

OpenClQueue create_queue(const OpenClContext& context, const std::string& name) {
  cl_int code = CL_SUCCESS;
  const auto create = [&](cl_command_queue_properties properties) {
    return OpenClQueue(
        opencl().clCreateCommandQueue(context.get(), context.device().id, properties, &code));
  };
  OpenClQueue queue = create(CL_QUEUE_PROFILING_ENABLE);
  if (code == CL_INVALID_QUEUE_PROPERTIES) queue = create(0);
  check_opencl(code, "clCreateCommandQueue", "creating the " + name + " queue");
  return queue;
}

void finish(const OpenClQueue& queue, const std::string& attempt) {
  check_opencl(opencl().clFinish(queue.get()), "clFinish", attempt);
}

void flush(const OpenClQueue& queue, const std::string& attempt) {
  check_opencl(opencl().clFlush(queue.get()), "clFlush", attempt);
}

// ---- programs and launches
// ---------------------------------------------------------------------------------------

namespace {

std::string build_log(const OpenClProgram& program, cl_device_id device) {
  std::size_t size = 0;
  if (opencl().clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                     &size) != CL_SUCCESS) {
    return "(no build log)";
  }
  std::string log(size, '\0');
  if (opencl().clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                                     nullptr) != CL_SUCCESS) {
    return "(no build log)";
  }
  log.resize(std::min(log.size(), log.find('\0')));
  return log;
}

}  // namespace

OpenClProgram build_program(const OpenClContext& context, const std::string& name,
                            const std::string& source, const std::string& options) {
  const char* text = source.data();
  const std::size_t length = source.size();
  cl_int code = CL_SUCCESS;
  OpenClProgram program(
      opencl().clCreateProgramWithSource(context.get(), 1, &text, &length, &code));
  check_opencl(code, "clCreateProgramWithSource", "creating the program of kernel " + name);
  const cl_device_id device = context.device().id;
  code = opencl().clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  const std::string attempt = "building kernel " + name + " with \"" + options + "\"";
  const std::string log = "\n" + build_log(program, device);
  if (code == CL_BUILD_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS) {
    throw ProgramBuildError(code, "clBuildProgram", attempt, log);
  }
  throw OpenClError(code, "clBuildProgram", attempt, log);
}

OpenClKernel create_kernel(const OpenClProgram& program, const std::string& name) {
  cl_int code = CL_SUCCESS;
  OpenClKernel kernel(opencl().clCreateKernel(program.get(), name.c_str(), &code));
  if (code == CL_SUCCESS) return kernel;
  const std::string attempt = "creating kernel " + name;
  if (code == CL_OUT_OF_HOST_MEMORY) throw OpenClError(code, "clCreateKernel", attempt);
  throw ProgramBuildError(code, "clCreateKernel", attempt);
}

void set_arguments(const OpenClKernel& kernel, const std::vector<KernelValue>& values,
                   cl_uint first, const std::string& name) {
  for (cl_uint i = 0; i < values.size(); ++i) {
    const cl_int code = std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, LocalMemory>) {
            return opencl().clSetKernelArg(kernel.get(), first + i, value.bytes.count(), nullptr);
          } else {
            // NOLINTNEXTLINE(bugprone-sizeof-expression): a cl_mem is passed by its handle
            return opencl().clSetKernelArg(kernel.get(), first + i, sizeof value, &value);
          }
        },
        values[i]);
    if (code != CL_SUCCESS)
      check_opencl(code, "clSetKernelArg",
                   "setting argument " + std::to_string(first + i) + " of " + name);
  }
}

OpenClEvent enqueue_kernel(const OpenClQueue& queue, const OpenClKernel& kernel, WorkSize global,
                           WorkSize local, const std::string& name,
                           const std::vector<cl_event>& after, WorkSize offset) {
  const std::size_t first[] = {offset[0], offset[1], offset[2]};
  const std::size_t global_size[] = {global[0], global[1], global[2]};
  const std::size_t local_size[] = {local[0], local[1], local[2]};
  cl_event event = nullptr;
  const cl_int code = opencl().clEnqueueNDRangeKernel(
      queue.get(), kernel.get(), 3, offset == WorkSize{} ? nullptr : first, global_size, local_size,
      static_cast<cl_uint>(after.size()), after.empty() ? nullptr : after.data(), &event);
  if (code != CL_SUCCESS) check_opencl(code, "clEnqueueNDRangeKernel", "enqueueing " + name);
  return OpenClEvent(event);
}

void wait_for(const OpenClEvent& event, const std::string& name) {
  const cl_event handle = event.get();
  const cl_int code = opencl().clWaitForEvents(1, &handle);
  if (code != CL_SUCCESS) check_opencl(code, "clWaitForEvents", "waiting for " + name);
}

std::optional<EventTimes> times_of(const OpenClEvent& event, const std::string& name) {
  bool available = true;
  const auto read = [&](cl_profiling_info what) {
    cl_ulong value = 0;
    const cl_int code =
        opencl().clGetEventProfilingInfo(event.get(), what, sizeof value, &value, nullptr);
    available = available && code != CL_PROFILING_INFO_NOT_AVAILABLE;
    if (available) check_opencl(code, "clGetEventProfilingInfo", "reading the times of " + name);
    return static_cast<std::uint64_t>(value);
  };
  const EventTimes times{read(CL_PROFILING_COMMAND_QUEUED), read(CL_PROFILING_COMMAND_SUBMIT),
                         read(CL_PROFILING_COMMAND_START), read(CL_PROFILING_COMMAND_END)};
  const bool possible =
      times.queued <= times.started && times.started <= times.ended && times.ended > 0;
  if (!available || !possible) return std::nullopt;
  return times;
}

void run_kernel(const OpenClContext& context, const OpenClQueue& queue, const std::string& name,
                const std::string& source, const std::string& options,
                const std::vector<KernelValue>& arguments, WorkSize global, WorkSize local) {
  const OpenClProgram program = build_program(context, name, source, options);
  const OpenClKernel kernel = create_kernel(program, name);
  set_arguments(kernel, arguments);
  wait_for(enqueue_kernel(queue, kernel, global, local, name), name);
}

}  // namespace fm
