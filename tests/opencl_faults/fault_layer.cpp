// An OpenCL layer (OPENCL_LAYERS=libopencl_faults.so) that makes chosen calls fail, answers chosen
// questions falsely and counts calls, so that tests see what a program does with a bad driver.
//
//   FM_FAULT=FUNCTION:WHICH:CODE[,..]  WHICH: 3 the third call, 3+ that and all later ones, 3* from
//                                      then on every function: the device is lost
//   FM_FAULT_BUILD=TEXT                programs whose options contain TEXT do not build
//   FM_FAULT_SOURCE=KERNEL|FROM|TO     the compiler reads TO for FROM in that kernel: wrong results
//   FM_FAULT_DROP=N                    the Nth launch is lost: it completes, but nothing runs
//   FM_FAULT_FACTS=NAME=VALUE[,..]     what clGetPlatformInfo, clGetDeviceInfo and
//                                      clGetEventProfilingInfo answer. Without
//                                      CL_QUEUE_PROFILING_ENABLE among CL_DEVICE_QUEUE_PROPERTIES
//                                      such queues are refused
//   FM_FAULT_COUNTS=FILE               gets "FUNCTION CALLS" lines when the process ends
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/opencl_layer/layer_entry.hpp"
#include "executor/opencl_loader.hpp"

// Questions that headers of OpenCL 1.2 lack.
#ifndef CL_DEVICE_HALF_FP_CONFIG
#define CL_DEVICE_HALF_FP_CONFIG 0x1033
#endif
#ifndef CL_DEVICE_IMAGE_PITCH_ALIGNMENT
#define CL_DEVICE_IMAGE_PITCH_ALIGNMENT 0x104A
#endif

namespace {

enum class Function : std::size_t {
#define FM_ENUMERATOR(name) name,
  FM_OPENCL_FUNCTIONS(FM_ENUMERATOR)
#undef FM_ENUMERATOR
      count
};

constexpr const char* function_names[] = {
#define FM_NAME(name) #name,
    FM_OPENCL_FUNCTIONS(FM_NAME)
#undef FM_NAME
};

std::string setting(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// A misspelt test must not pass because nothing failed.
[[noreturn]] void refuse(const std::string& text) {
  std::cerr << "opencl_faults: cannot read `" << text << "`" << std::endl;
  std::_Exit(99);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

struct Fault {
  enum class Reach { once, function, device };
  Function function = Function::count;
  std::uint64_t call = 0;
  Reach reach = Reach::once;
  cl_int code = CL_SUCCESS;
};

Fault parse_fault(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3) refuse(text);
  Fault fault;
  for (std::size_t i = 0; i < std::size(function_names); ++i) {
    if (parts[0] == function_names[i]) fault.function = static_cast<Function>(i);
  }
  char* end = nullptr;
  fault.call = std::strtoull(parts[1].c_str(), &end, 10);
  if (std::string(end) == "+") fault.reach = Fault::Reach::function;
  if (std::string(end) == "*") fault.reach = Fault::Reach::device;
  fault.code = std::atoi(parts[2].c_str());
  const bool known_end = *end == '\0' || fault.reach != Fault::Reach::once;
  if (fault.function == Function::count || fault.call == 0 || !known_end || fault.code >= 0) {
    refuse(text);
  }
  return fault;
}

/// A text that the compiler takes for another.
struct Misreading {
  std::string kernel, from, to;
};

Misreading parse_misreading(const std::string& text) {
  const std::vector<std::string> parts = split(text, '|');
  if (parts.size() != 3) refuse(text);
  return {parts[0], parts[1], parts[2]};
}

/// What a question is answered with, as the bytes that go to the caller.
struct Fact {
  cl_uint question = 0;
  std::string bytes;
};

template <class T>
std::string bytes_of(const std::string& text) {
  const T value = static_cast<T>(std::strtoull(text.c_str(), nullptr, 0));
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string text_bytes(const std::string& text) { return text + '\0'; }

Fact parse_fact(const std::string& text) {
  struct Question {
    const char* name;
    cl_uint number;
    std::string (*bytes)(const std::string&);
  };
#define FM_QUESTION(name, bytes) \
  { #name, name, bytes }
  static const Question questions[] = {
      FM_QUESTION(CL_PLATFORM_NAME, text_bytes),
      FM_QUESTION(CL_PLATFORM_VERSION, text_bytes),
      FM_QUESTION(CL_DEVICE_NAME, text_bytes),
      FM_QUESTION(CL_DEVICE_VENDOR, text_bytes),
      FM_QUESTION(CL_DEVICE_VERSION, text_bytes),
      FM_QUESTION(CL_DRIVER_VERSION, text_bytes),
      FM_QUESTION(CL_DEVICE_EXTENSIONS, text_bytes),
      FM_QUESTION(CL_DEVICE_TYPE, bytes_of<cl_device_type>),
      FM_QUESTION(CL_DEVICE_COMPILER_AVAILABLE, bytes_of<cl_bool>),
      FM_QUESTION(CL_DEVICE_HALF_FP_CONFIG, bytes_of<cl_device_fp_config>),
      FM_QUESTION(CL_DEVICE_IMAGE_SUPPORT, bytes_of<cl_bool>),
      FM_QUESTION(CL_DEVICE_IMAGE2D_MAX_WIDTH, bytes_of<std::size_t>),
      FM_QUESTION(CL_DEVICE_IMAGE2D_MAX_HEIGHT, bytes_of<std::size_t>),
      FM_QUESTION(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, bytes_of<cl_uint>),
      FM_QUESTION(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, bytes_of<cl_uint>),
      FM_QUESTION(CL_DEVICE_MAX_MEM_ALLOC_SIZE, bytes_of<cl_ulong>),
      FM_QUESTION(CL_DEVICE_GLOBAL_MEM_SIZE, bytes_of<cl_ulong>),
      FM_QUESTION(CL_DEVICE_LOCAL_MEM_SIZE, bytes_of<cl_ulong>),
      FM_QUESTION(CL_DEVICE_MEM_BASE_ADDR_ALIGN, bytes_of<cl_uint>),
      FM_QUESTION(CL_DEVICE_MAX_WORK_GROUP_SIZE, bytes_of<std::size_t>),
      FM_QUESTION(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, bytes_of<cl_uint>),
      FM_QUESTION(CL_DEVICE_MAX_COMPUTE_UNITS, bytes_of<cl_uint>),
      FM_QUESTION(CL_DEVICE_MAX_CLOCK_FREQUENCY, bytes_of<cl_uint>),
      FM_QUESTION(CL_DEVICE_QUEUE_PROPERTIES, bytes_of<cl_command_queue_properties>),
      FM_QUESTION(CL_DEVICE_PROFILING_TIMER_RESOLUTION, bytes_of<std::size_t>),
      FM_QUESTION(CL_PROFILING_COMMAND_QUEUED, bytes_of<cl_ulong>),
      FM_QUESTION(CL_PROFILING_COMMAND_SUBMIT, bytes_of<cl_ulong>),
      FM_QUESTION(CL_PROFILING_COMMAND_START, bytes_of<cl_ulong>),
      FM_QUESTION(CL_PROFILING_COMMAND_END, bytes_of<cl_ulong>),
  };
#undef FM_QUESTION
  const std::size_t equals = text.find('=');
  for (const Question& question : questions) {
    if (equals == std::string::npos || text.substr(0, equals) != question.name) continue;
    return {question.number, question.bytes(text.substr(equals + 1))};
  }
  refuse(text);
}

class Faults {
 public:
  Faults() {
    for (const std::string& text : split(setting("FM_FAULT"), ',')) {
      faults_.push_back(parse_fault(text));
    }
    for (const std::string& text : split(setting("FM_FAULT_FACTS"), ',')) {
      facts_.push_back(parse_fact(text));
    }
    if (std::getenv("FM_FAULT_BUILD") != nullptr) refused_option_ = setting("FM_FAULT_BUILD");
    const std::string misread = setting("FM_FAULT_SOURCE"), dropped = setting("FM_FAULT_DROP");
    if (!misread.empty()) misreading_ = parse_misreading(misread);
    if (!dropped.empty()) dropped_launch_ = std::strtoull(dropped.c_str(), nullptr, 10);
  }
  ~Faults() {
    const std::string path = setting("FM_FAULT_COUNTS");
    if (path.empty()) return;
    std::ofstream file(path);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      file << function_names[i] << " " << calls_[i] << "\n";
    }
  }

  /// The code that this call of the function is to return, if it is to fail.
  std::optional<cl_int> next_call(Function function) {
    const std::uint64_t call = ++calls_[static_cast<std::size_t>(function)];
    if (const cl_int code = lost_) return code;
    for (const Fault& fault : faults_) {
      if (fault.function != function || call < fault.call) continue;
      if (call > fault.call && fault.reach == Fault::Reach::once) continue;
      if (fault.reach == Fault::Reach::device) lost_ = fault.code;
      return fault.code;
    }
    return std::nullopt;
  }

  const Fact* fact(cl_uint question) const {
    for (const Fact& fact : facts_) {
      if (fact.question == question) return &fact;
    }
    return nullptr;
  }

  /// The source as the compiler reads it.
  std::string read(std::string source) const {
    if (!misreading_) return source;
    const std::size_t kernel = source.find("__kernel void " + misreading_->kernel + "(");
    if (kernel == std::string::npos) return source;
    const std::size_t at = source.find(misreading_->from, kernel);
    if (at == std::string::npos) refuse(misreading_->from);
    return source.replace(at, misreading_->from.size(), misreading_->to);
  }

  bool drops_this_launch() const {
    return calls_[static_cast<std::size_t>(Function::clEnqueueNDRangeKernel)] == dropped_launch_;
  }

  bool refuses_to_build(const char* options) const {
    return refused_option_ && options != nullptr &&
           std::string(options).find(*refused_option_) != std::string::npos;
  }
  void failed_to_build(cl_program program) {
    const std::lock_guard<std::mutex> lock(mutex_);
    unbuilt_.insert(program);
  }
  bool unbuilt(cl_program program) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return unbuilt_.count(program) != 0;
  }

 private:
  std::vector<Fault> faults_;
  std::vector<Fact> facts_;
  std::optional<std::string> refused_option_;
  std::optional<Misreading> misreading_;
  std::uint64_t dropped_launch_ = 0;  // 0: none
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Function::count)> calls_{};
  std::atomic<cl_int> lost_{CL_SUCCESS};
  std::mutex mutex_;
  std::set<cl_program> unbuilt_;
};

Faults& faults() {
  static Faults faults;
  return faults;
}

const cl_icd_dispatch* below = nullptr;  // the next layer or the driver

template <Function function>
using Called = std::integral_constant<Function, function>;

/// What a function returns instead of being called, for reasons of its own.
template <Function function, class... Arguments>
std::optional<cl_int> answer(Called<function>, Arguments...) {
  return std::nullopt;
}

std::optional<cl_int> answer(Called<Function::clGetDeviceInfo>, cl_device_id, cl_device_info what,
                             std::size_t room, void* to, std::size_t* needed) {
  const Fact* fact = faults().fact(what);
  if (fact == nullptr) return std::nullopt;
  return fm::answer_query(fact->bytes, room, to, needed);
}

std::optional<cl_int> answer(Called<Function::clGetPlatformInfo>, cl_platform_id,
                             cl_platform_info what, std::size_t room, void* to,
                             std::size_t* needed) {
  const Fact* fact = faults().fact(what);
  if (fact == nullptr) return std::nullopt;
  return fm::answer_query(fact->bytes, room, to, needed);
}

std::optional<cl_int> answer(Called<Function::clGetEventProfilingInfo>, cl_event,
                             cl_profiling_info what, std::size_t room, void* to,
                             std::size_t* needed) {
  const Fact* fact = faults().fact(what);
  if (fact == nullptr) return std::nullopt;
  return fm::answer_query(fact->bytes, room, to, needed);
}

std::optional<cl_int> answer(Called<Function::clCreateCommandQueue>, cl_context, cl_device_id,
                             cl_command_queue_properties wanted, cl_int*) {
  const Fact* fact = faults().fact(CL_DEVICE_QUEUE_PROPERTIES);
  if (fact == nullptr) return std::nullopt;
  cl_command_queue_properties served = 0;
  std::memcpy(&served, fact->bytes.data(), sizeof served);
  if ((wanted & ~served) == 0) return std::nullopt;
  return CL_INVALID_QUEUE_PROPERTIES;
}

std::optional<cl_int> answer(Called<Function::clBuildProgram>, cl_program program, cl_uint,
                             const cl_device_id*, const char* options, void (*)(cl_program, void*),
                             void*) {
  if (!faults().refuses_to_build(options)) return std::nullopt;
  faults().failed_to_build(program);
  return CL_BUILD_PROGRAM_FAILURE;
}

std::optional<cl_int> answer(Called<Function::clGetProgramBuildInfo>, cl_program program,
                             cl_device_id, cl_program_build_info what, std::size_t room, void* to,
                             std::size_t* needed) {
  if (what != CL_PROGRAM_BUILD_LOG || !faults().unbuilt(program)) return std::nullopt;
  return fm::answer_query(text_bytes("opencl_faults: option refused"), room, to, needed);
}

/// What a function is called with instead.
template <Function function, class... Arguments>
void alter(Called<function>, Arguments&...) {}

void alter(Called<Function::clCreateProgramWithSource>, cl_context&, cl_uint& count,
           const char**& strings, const std::size_t*& lengths, cl_int*&) {
  thread_local std::string source;
  thread_local const char* text = nullptr;
  source.clear();
  for (cl_uint i = 0; i < count; ++i) {
    const bool has_length = lengths != nullptr && lengths[i] != 0;
    source += has_length ? std::string(strings[i], lengths[i]) : std::string(strings[i]);
  }
  source = faults().read(source);
  text = source.c_str();
  count = 1;
  strings = &text;
  lengths = nullptr;
}

std::optional<cl_int> answer(Called<Function::clEnqueueNDRangeKernel>, cl_command_queue queue,
                             cl_kernel, cl_uint, const std::size_t*, const std::size_t*,
                             const std::size_t*, cl_uint count, const cl_event* after,
                             cl_event* event) {
  if (!faults().drops_this_launch()) return std::nullopt;
  return below->clEnqueueMarkerWithWaitList(queue, count, after, event);
}

template <class Result, class... Arguments>
Result fail(cl_int code, Arguments... arguments) {
  if constexpr (std::is_same_v<Result, cl_int>) {
    return code;
  } else {  // what returns an object has its code as last argument
    cl_int* to = std::get<sizeof...(Arguments) - 1>(std::make_tuple(arguments...));
    if (to != nullptr) *to = code;
    return nullptr;
  }
}

template <Function function, class Pointer, Pointer cl_icd_dispatch::*entry>
struct Layered;

template <Function function, class Result, class... Arguments,
          Result (CL_API_CALL* cl_icd_dispatch::*entry)(Arguments...)>
struct Layered<function, Result(CL_API_CALL*)(Arguments...), entry> {
  static Result CL_API_CALL call(Arguments... arguments) {
    if (const std::optional<cl_int> code = faults().next_call(function)) {
      return fail<Result>(*code, arguments...);
    }
    if (const std::optional<cl_int> code = answer(Called<function>{}, arguments...)) {
      return fail<Result>(*code, arguments...);
    }
    alter(Called<function>{}, arguments...);
    return (below->*entry)(arguments...);
  }
};

}  // namespace

namespace fm {

const char* const layer_name = "opencl_faults";

void install_layer(const cl_icd_dispatch& target, cl_icd_dispatch* own) {
  below = &target;
#define FM_LAYER(name) \
  own->name =          \
      Layered<Function::name, decltype(cl_icd_dispatch::name), &cl_icd_dispatch::name>::call;
  FM_OPENCL_FUNCTIONS(FM_LAYER)
#undef FM_LAYER
  faults();
}

}  // namespace fm
