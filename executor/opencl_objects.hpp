#pragma once
// OpenCL objects that release themselves. Every call is checked: a failure throws DeviceError
// saying what was attempted and OpenCL's name of the error.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor_layout.hpp"
#include "core/units.hpp"
#include "executor/opencl_device.hpp"

namespace fm {

/// Owns one OpenCL handle; `release` names its function in the table. Movable, not copyable.
template <class Handle, cl_int (CL_API_CALL* OpenClFunctions::*release)(Handle)>
class OpenClHandle {
 public:
  OpenClHandle() = default;
  explicit OpenClHandle(Handle handle) : handle_(handle) {}
  ~OpenClHandle() { reset(); }
  OpenClHandle(OpenClHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  OpenClHandle& operator=(OpenClHandle&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  void reset() {
    if (handle_) (opencl().*release)(std::exchange(handle_, nullptr));
  }

 private:
  Handle handle_ = nullptr;
};

using OpenClQueue = OpenClHandle<cl_command_queue, &OpenClFunctions::clReleaseCommandQueue>;
using OpenClMemory = OpenClHandle<cl_mem, &OpenClFunctions::clReleaseMemObject>;
using OpenClProgram = OpenClHandle<cl_program, &OpenClFunctions::clReleaseProgram>;
using OpenClKernel = OpenClHandle<cl_kernel, &OpenClFunctions::clReleaseKernel>;
using OpenClEvent = OpenClHandle<cl_event, &OpenClFunctions::clReleaseEvent>;

/// One context on one device.
class OpenClContext {
 public:
  explicit OpenClContext(const OpenClDevice& device);
  const OpenClDevice& device() const { return device_; }
  cl_context get() const { return context_.get(); }

 private:
  OpenClDevice device_;
  OpenClHandle<cl_context, &OpenClFunctions::clReleaseContext> context_;
};

/// In-order queue with profiling. `name` says what it is for in messages.
OpenClQueue create_queue(const OpenClContext& context, const std::string& name);
void finish(const OpenClQueue& queue);
void flush(const OpenClQueue& queue);

// ---- memory
// ------------------------------------------------------------------------------------------------------

/// `name` for messages.
OpenClMemory create_buffer(const OpenClContext& context, Bytes bytes, cl_mem_flags flags,
                           const std::string& name);
/// `offset` must be a multiple of the device's sub_buffer_alignment.
OpenClMemory create_sub_buffer(const OpenClMemory& parent, Bytes offset, Bytes bytes,
                               const std::string& name);
/// An RGBA image2d of half (f16) or float (f32) channels. Checks check_image_limits() first:
/// drivers answer an image that is too large with various codes.
OpenClMemory create_image(const OpenClContext& context, GridExtent extent, DataType dtype,
                          const std::string& name);
/// Throws UserError naming `name`, its extent and the device's limits.
void check_image_limits(const OpenClDevice& device, GridExtent extent, const std::string& name);

// Blocking transfers. Images are dense rows of texels on the host side.
void write_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset,
                  const void* data, Bytes bytes);
void read_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, void* data,
                 Bytes bytes);
void write_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent,
                 const void* data);
void read_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent, void* data);
/// Repeats `value` over [offset, offset + bytes); both multiples of 4.
void fill_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, Bytes bytes,
                 std::uint32_t value);
void fill_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent,
                std::array<float, 4> texel);

/// Host view of a buffer's range, for as long as the object lives; unmaps through the same queue
/// and waits.
class MappedRange {
 public:
  MappedRange(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, Bytes bytes,
              cl_map_flags flags);
  ~MappedRange();
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  std::uint8_t* data() const { return data_; }
  Bytes size() const { return bytes_; }

 private:
  const OpenClQueue& queue_;
  const OpenClMemory& buffer_;
  Bytes bytes_;
  std::uint8_t* data_ = nullptr;
};

// ---- programs and launches
// ---------------------------------------------------------------------------------------

/// Compiles; throws DeviceError naming `name` with the compiler's log.
OpenClProgram build_program(const OpenClContext& context, const std::string& name,
                            const std::string& source, const std::string& options);
OpenClKernel create_kernel(const OpenClProgram& program, const std::string& name);

struct LocalMemory {
  Bytes bytes;
};
using KernelValue = std::variant<std::int32_t, std::uint32_t, float, std::array<std::int32_t, 4>,
                                 cl_mem, LocalMemory>;
/// Sets arguments first, first + 1, ...
void set_arguments(const OpenClKernel& kernel, const std::vector<KernelValue>& values,
                   cl_uint first = 0);

using WorkSize = std::array<std::uint64_t, 3>;
/// Enqueues and returns its event. `name` for messages.
OpenClEvent enqueue_kernel(const OpenClQueue& queue, const OpenClKernel& kernel, WorkSize global,
                           WorkSize local, const std::string& name,
                           const std::vector<cl_event>& after = {});
void wait_for(const OpenClEvent& event, const std::string& name);

/// Nanoseconds on the device's clock.
struct EventTimes {
  std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
};
EventTimes times_of(const OpenClEvent& event);

/// Compile, run once and wait: the compact form for tests and probes.
void run_kernel(const OpenClContext& context, const OpenClQueue& queue, const std::string& name,
                const std::string& source, const std::string& options,
                const std::vector<KernelValue>& arguments, WorkSize global, WorkSize local);

}  // namespace fm
