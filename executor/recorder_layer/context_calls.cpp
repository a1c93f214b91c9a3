// Contexts, queues and programs.
#include <iostream>
#include <vector>

#include "core/digest.hpp"
#include "executor/opencl_layer/layer_entry.hpp"
#include "executor/recorder_layer/calls.hpp"
#include "executor/recorder_layer/command.hpp"

namespace fm {
namespace {

std::string device_text(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (below->clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (below->clGetDeviceInfo(device, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(size - 1);
  return text;
}

void note_context(cl_context context, std::uint64_t since) {
  record([&](ApiRecorder& recorder) {
    cl_device_id devices[16] = {};
    std::size_t size = 0;
    below->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices, &size);
    std::map<std::string, std::string> facts;
    if (size > 0 && devices[0] != nullptr) {
      facts["name"] = device_text(devices[0], CL_DEVICE_NAME);
      facts["vendor"] = device_text(devices[0], CL_DEVICE_VENDOR);
      facts["version"] = device_text(devices[0], CL_DEVICE_VERSION);
      facts["driver"] = device_text(devices[0], CL_DRIVER_VERSION);
    }
    recorder.describe_device(facts);
    recorder.note_context(since);
  });
}

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* devices,
                                      void(CL_CALLBACK* notify)(const char*, const void*,
                                                                std::size_t, void*),
                                      void* data, cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_context made = below->clCreateContext(properties, count, devices, notify, data, code);
  if (made != nullptr) note_context(made, since);
  return made;
}

cl_context CL_API_CALL create_context_from_type(const cl_context_properties* properties,
                                                cl_device_type type,
                                                void(CL_CALLBACK* notify)(const char*, const void*,
                                                                          std::size_t, void*),
                                                void* data, cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_context made = below->clCreateContextFromType(properties, type, notify, data, code);
  if (made != nullptr) note_context(made, since);
  return made;
}

cl_int CL_API_CALL release_context(cl_context context) {
  CommandWatch::instance().collect();
  return below->clReleaseContext(context);
}

// ---- queues: with profiling where the device can -----------------------------------------------

void say_untimed(cl_int code) {
  static std::once_flag said;
  std::call_once(said, [&] {
    std::cerr << "fmtrace_layer: a queue cannot be made with CL_QUEUE_PROFILING_ENABLE (" << code
              << "): its commands are recorded without times" << std::endl;
  });
}

void add_queue(cl_command_queue made, cl_command_queue_properties asked, bool timed,
               const std::string& property_array) {
  record([&](ApiRecorder& recorder) {
    QueueFacts facts;
    facts.properties = asked;
    facts.in_order = (asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    facts.timed = timed;
    facts.forced = timed && (asked & CL_QUEUE_PROFILING_ENABLE) == 0;
    facts.property_array = property_array;
    recorder.add_queue(made, facts);
  });
}

/// `make` with the properties it is given; first with profiling.
template <class Make>
cl_command_queue create_queue(cl_command_queue_properties asked, const std::string& property_array,
                              cl_int* code, const Make& make) {
  const bool asked_profiling = (asked & CL_QUEUE_PROFILING_ENABLE) != 0;
  if (Recording::recorder() != nullptr && !asked_profiling) {
    cl_int profiling_code = CL_SUCCESS;
    const cl_command_queue made = make(asked | CL_QUEUE_PROFILING_ENABLE, &profiling_code);
    if (made != nullptr) {
      if (code != nullptr) *code = CL_SUCCESS;
      add_queue(made, asked, true, property_array);
      return made;
    }
    const cl_command_queue plain = make(asked, code);
    if (plain != nullptr) {
      say_untimed(profiling_code);
      add_queue(plain, asked, false, property_array);
    }
    return plain;
  }
  const cl_command_queue made = make(asked, code);
  if (made != nullptr) add_queue(made, asked, asked_profiling, property_array);
  return made;
}

cl_command_queue CL_API_CALL create_command_queue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties asked, cl_int* code) {
  return create_queue(asked, "", code, [&](cl_command_queue_properties with, cl_int* made_code) {
    return below->clCreateCommandQueue(context, device, with, made_code);
  });
}

cl_command_queue CL_API_CALL create_command_queue_with_properties(
    cl_context context, cl_device_id device, const cl_queue_properties* properties, cl_int* code) {
  cl_command_queue_properties asked = 0;
  std::vector<cl_queue_properties> others;
  std::size_t words = 0;
  bool on_device = false;
  while (properties != nullptr && properties[words] != 0) {
    if (properties[words] == CL_QUEUE_PROPERTIES) {
      asked = properties[words + 1];
    } else {
      others.insert(others.end(), {properties[words], properties[words + 1]});
    }
    words += 2;
  }
  on_device = (asked & CL_QUEUE_ON_DEVICE) != 0;
  const std::string array = properties == nullptr
                                ? ""
                                : std::string(reinterpret_cast<const char*>(properties),
                                              (words + 1) * sizeof(cl_queue_properties));
  if (on_device) {  // kernels enqueue there, not the host
    return below->clCreateCommandQueueWithProperties(context, device, properties, code);
  }
  return create_queue(asked, array, code, [&](cl_command_queue_properties with, cl_int* made_code) {
    if (with == asked) {
      return below->clCreateCommandQueueWithProperties(context, device, properties, made_code);
    }
    std::vector<cl_queue_properties> all = others;
    all.insert(all.end(), {CL_QUEUE_PROPERTIES, with, 0});
    return below->clCreateCommandQueueWithProperties(context, device, all.data(), made_code);
  });
}

/// Profiling that only the recorder asked for.
std::optional<QueueFacts> forced_facts(cl_command_queue queue) {
  std::optional<QueueFacts> facts;
  record([&](ApiRecorder& recorder) { facts = recorder.queue(queue); });
  if (facts && !facts->forced) facts.reset();
  return facts;
}

cl_int CL_API_CALL get_command_queue_info(cl_command_queue queue, cl_command_queue_info what,
                                          std::size_t room, void* to, std::size_t* needed) {
  if (what == CL_QUEUE_PROPERTIES || what == CL_QUEUE_PROPERTIES_ARRAY) {
    if (const std::optional<QueueFacts> facts = forced_facts(queue)) {
      if (what == CL_QUEUE_PROPERTIES) {
        return answer_query_with(facts->properties, room, to, needed);
      }
      return answer_query(facts->property_array, room, to, needed);
    }
  }
  return below->clGetCommandQueueInfo(queue, what, room, to, needed);
}

cl_int CL_API_CALL get_event_profiling_info(cl_event event, cl_profiling_info what,
                                            std::size_t room, void* to, std::size_t* needed) {
  cl_command_queue queue = nullptr;
  if (below->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr) ==
          CL_SUCCESS &&
      queue != nullptr && forced_facts(queue)) {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  }
  return below->clGetEventProfilingInfo(event, what, room, to, needed);
}

cl_int CL_API_CALL release_command_queue(cl_command_queue queue) {
  CommandWatch::instance().collect();
  return below->clReleaseCommandQueue(queue);
}

cl_int CL_API_CALL finish_queue(cl_command_queue queue) {
  const std::uint64_t since = record_time();
  const cl_int code = below->clFinish(queue);
  if (code == CL_SUCCESS) {
    learn_queue(queue);
    record([&](ApiRecorder& recorder) { recorder.finish(queue, since); });
    CommandWatch::instance().collect();
  }
  return code;
}

// ---- programs ----------------------------------------------------------------------------------

void add_program(cl_program made, const std::string& contents) {
  if (made == nullptr) return;
  record([&](ApiRecorder& recorder) { recorder.add_program(made, digest_of(contents)); });
}

cl_program CL_API_CALL create_program_with_source(cl_context context, cl_uint count,
                                                  const char** texts, const std::size_t* lengths,
                                                  cl_int* code) {
  const cl_program made = below->clCreateProgramWithSource(context, count, texts, lengths, code);
  if (made == nullptr) return made;
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    const bool measured = lengths != nullptr && lengths[i] != 0;
    source += measured ? std::string(texts[i], lengths[i]) : std::string(texts[i]);
  }
  add_program(made, source);
  return made;
}

cl_program CL_API_CALL create_program_with_binary(cl_context context, cl_uint count,
                                                  const cl_device_id* devices,
                                                  const std::size_t* lengths,
                                                  const unsigned char** binaries, cl_int* status,
                                                  cl_int* code) {
  const cl_program made =
      below->clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, code);
  if (made != nullptr && count > 0) {
    add_program(made, {reinterpret_cast<const char*>(binaries[0]), lengths[0]});
  }
  return made;
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void* il,
                                              std::size_t length, cl_int* code) {
  const cl_program made = below->clCreateProgramWithIL(context, il, length, code);
  if (made != nullptr) add_program(made, {static_cast<const char*>(il), length});
  return made;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                 void* data) {
  const std::uint64_t since = record_time();
  const cl_int code = below->clBuildProgram(program, count, devices, options, notify, data);
  record([&](ApiRecorder& recorder) { recorder.note_program(since); });
  return code;
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint inputs, const cl_program* programs,
                                    void(CL_CALLBACK* notify)(cl_program, void*), void* data,
                                    cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_program made =
      below->clLinkProgram(context, count, devices, options, inputs, programs, notify, data, code);
  if (made == nullptr) return made;
  record([&](ApiRecorder& recorder) {
    std::string parts;
    for (cl_uint i = 0; i < inputs; ++i) parts += recorder.program_digest(programs[i]);
    recorder.add_program(made, digest_of(parts));
    recorder.note_program(since);
  });
  return made;
}

}  // namespace

void install_context_calls(cl_icd_dispatch* own) {
  own->clCreateContext = create_context;
  own->clCreateContextFromType = create_context_from_type;
  own->clReleaseContext = release_context;
  own->clCreateCommandQueue = create_command_queue;
  own->clCreateCommandQueueWithProperties = create_command_queue_with_properties;
  own->clGetCommandQueueInfo = get_command_queue_info;
  own->clGetEventProfilingInfo = get_event_profiling_info;
  own->clReleaseCommandQueue = release_command_queue;
  own->clFinish = finish_queue;
  own->clCreateProgramWithSource = create_program_with_source;
  own->clCreateProgramWithBinary = create_program_with_binary;
  own->clCreateProgramWithIL = create_program_with_il;
  own->clBuildProgram = build_program;
  own->clLinkProgram = link_program;
}

}  // namespace fm
