#pragma once
// What the workloads share: their flags, an OpenCL device, buffers, launches, and how they end.

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace workload {

inline void check(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw std::runtime_error(what + " failed: " + std::to_string(code));
}

/// The result differs from the computation on the host.
inline void require(bool equal, const std::string& what) {
  if (!equal) throw std::runtime_error("wrong result: " + what);
}

struct Flag {
  std::string name;
  std::uint32_t value;  ///< by default
  std::string meaning;
};

/// Sizes by flag.
class Sizes {
 public:
  std::uint32_t operator[](const std::string& name) const { return values_.at(name); }

 private:
  friend int run_main(int, char**, const std::string&, const std::vector<Flag>&,
                      const std::function<void(const Sizes&)>&);
  std::map<std::string, std::uint32_t> values_;
};

/// Parses the flags, runs `body` and prints "NAME: ok", or what is wrong (exit status 1).
inline int run_main(int argc, char** argv, const std::string& what, const std::vector<Flag>& flags,
                    const std::function<void(const Sizes&)>& body) {
  namespace options = boost::program_options;
  const std::string name = std::string(argv[0]).substr(std::string(argv[0]).rfind('/') + 1);
  Sizes sizes;
  options::options_description described(name + ": " + what);
  described.add_options()("help", "this text");
  for (const Flag& flag : flags) {
    described.add_options()(flag.name.c_str(),
                            options::value(&sizes.values_[flag.name])->default_value(flag.value),
                            flag.meaning.c_str());
  }
  try {
    options::variables_map given;
    options::store(options::parse_command_line(argc, argv, described), given);
    options::notify(given);
    if (given.count("help") != 0) {
      std::cout << described;
      return 0;
    }
    for (const auto& [flag, value] : sizes.values_) {
      if (value == 0) throw options::error("--" + flag + " must be above 0");
    }
  } catch (const options::error& error) {
    std::cerr << name << ": error: " << error.what() << "; see --help\n";
    return 2;
  }
  try {
    body(sizes);
    std::cout << name << ": ok\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << name << ": error: " << error.what() << "\n";
    return 1;
  }
}

/// Numbers that are the same everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}
  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  std::uint32_t below(std::uint32_t end) { return next() % end; }

 private:
  std::uint32_t state_;
};

/// The first device with one in-order queue and one program.
class Device {
 public:
  explicit Device(const char* source) {
    cl_platform_id platform = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), "clGetDeviceIDs");
    cl_int code = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, 0, &code);
    check(code, "clCreateCommandQueue");
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &code);
    check(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
  }
  ~Device() {
    for (const cl_mem buffer : buffers_) clReleaseMemObject(buffer);
    for (const auto& [name, kernel] : kernels_) clReleaseKernel(kernel);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  cl_command_queue queue() const { return queue_; }

  template <class T>
  cl_mem buffer(const std::vector<T>& contents) {
    cl_int code = CL_SUCCESS;
    const std::size_t bytes = contents.size() * sizeof(T);
    buffers_.push_back(clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &code));
    check(code, "clCreateBuffer");
    check(clEnqueueWriteBuffer(queue_, buffers_.back(), CL_TRUE, 0, bytes, contents.data(), 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
    return buffers_.back();
  }

  template <class T>
  std::vector<T> read(cl_mem buffer, std::size_t count) {
    std::vector<T> contents(count);
    check(clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, count * sizeof(T), contents.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
    return contents;
  }

  /// One work-item each, in groups of 64; the kernel is told by its last argument how many count.
  template <class... Arguments>
  void launch(const std::string& name, std::uint32_t items, const Arguments&... arguments) {
    cl_kernel& kernel = kernels_[name];
    cl_int code = CL_SUCCESS;
    if (kernel == nullptr) kernel = clCreateKernel(program_, name.c_str(), &code);
    check(code, name);
    cl_uint index = 0;
    (check(clSetKernelArg(kernel, index++, sizeof arguments, &arguments), name), ...);
    check(clSetKernelArg(kernel, index, sizeof items, &items), name);
    const std::size_t group = 64, all = (items + group - 1) / group * group;
    check(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &all, &group, 0, nullptr, nullptr),
          name);
  }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::vector<cl_mem> buffers_;
  std::map<std::string, cl_kernel> kernels_;
};

}  // namespace workload
