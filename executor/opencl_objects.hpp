#pragma once
// OpenCL objects that release themselves. Every call but a release is checked: a failure throws
// OpenClError saying what was attempted, the function and OpenCL's name of the error. `name` is
// what messages call the object.

#include <array>
#include <cstdint>
#include <optional>
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

constexpr const char* perf_hint_extension = "cl_qcom_perf_hint";

/// One context on one device; it asks for the highest clocks where cl_qcom_perf_hint lets it.
class OpenClContext {
 public:
  explicit OpenClContext(const OpenClDevice& device);
  const OpenClDevice& device() const { return device_; }
  cl_context get() const { return context_.get(); }
  bool has_perf_hint() const { return perf_hint_; }

 private:
  OpenClDevice device_;
  bool perf_hint_ = false;
  OpenClHandle<cl_context, &OpenClFunctions::clReleaseContext> context_;
};

/// In-order queue, with profiling unless the device refuses that. `name` says what it is for.
OpenClQueue create_queue(const OpenClContext& context, const std::string& name);
/// `attempt`: what is waited for, or handed over.
void finish(const OpenClQueue& queue, const std::string& attempt = "waiting for a queue");
void flush(const OpenClQueue& queue, const std::string& attempt = "flushing a queue");

// ---- memory
// ------------------------------------------------------------------------------------------------------

OpenClMemory create_buffer(const OpenClContext& context, Bytes bytes, cl_mem_flags flags,
                           const std::string& name);
/// `offset` must be a multiple of the device's sub_buffer_alignment.
OpenClMemory create_sub_buffer(const OpenClMemory& parent, Bytes offset, Bytes bytes,
                               const std::string& name);
/// An RGBA image2d of half (f16), float (f32) or normalised byte (u8) channels. Checks
/// check_image_limits() first: drivers answer an image that is too large with various codes.
OpenClMemory create_image(const OpenClContext& context, GridExtent extent, DataType dtype,
                          const std::string& name);
/// Throws UserError naming `name`, its extent and the device's limits.
void check_image_limits(const OpenClDevice& device, GridExtent extent, const std::string& name);

// Blocking transfers. Images are dense rows of texels on the host side.
void write_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset,
                  const void* data, Bytes bytes, const std::string& name = "a buffer");
void read_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, void* data,
                 Bytes bytes, const std::string& name = "a buffer");
void write_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent,
                 const void* data, const std::string& name = "an image");
void read_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent, void* data,
                const std::string& name = "an image");
/// Repeats `value` over [offset, offset + bytes); both multiples of 4.
void fill_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, Bytes bytes,
                 std::uint32_t value, const std::string& name = "a buffer");
void fill_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent,
                std::array<float, 4> texel, const std::string& name = "an image");

/// Host view of a buffer's range, until unmap() or for as long as the object lives; unmaps through
/// the same queue and waits.
class MappedRange {
 public:
  MappedRange(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, Bytes bytes,
              cl_map_flags flags, const std::string& name = "a buffer");
  ~MappedRange();
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  std::uint8_t* data() const { return data_; }
  Bytes size() const { return bytes_; }
  /// For whoever needs what was written: the destructor cannot tell that it failed.
  void unmap();

 private:
  const OpenClQueue& queue_;
  const OpenClMemory& buffer_;
  Bytes bytes_;
  std::string name_;
  std::uint8_t* data_ = nullptr;
};

// ---- programs and launches
// ---------------------------------------------------------------------------------------

/// The compiler refused source or options; some compile only when the kernel is created.
class ProgramBuildError : public OpenClError {
 public:
  using OpenClError::OpenClError;
};
/// Failures name kernel and options and show the compiler's log.
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
                   cl_uint first = 0, const std::string& name = "a kernel");

using WorkSize = std::array<std::uint64_t, 3>;
/// Enqueues and returns its event. `offset`: of the first work-item.
OpenClEvent enqueue_kernel(const OpenClQueue& queue, const OpenClKernel& kernel, WorkSize global,
                           WorkSize local, const std::string& name,
                           const std::vector<cl_event>& after = {}, WorkSize offset = {});
void wait_for(const OpenClEvent& event, const std::string& name);

/// Nanoseconds on the device's clock.
struct EventTimes {
  std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
};
constexpr const char* no_profiling =
    "the driver gives no profiling times (or impossible ones): launches are timed by the host's "
    "clock until it sees them complete, so times are longer than the device's own";
/// None where the driver measures none, or what it says cannot be.
std::optional<EventTimes> times_of(const OpenClEvent& event, const std::string& name);

/// Compile, run once and wait: the compact form for tests and probes.
void run_kernel(const OpenClContext& context, const OpenClQueue& queue, const std::string& name,
                const std::string& source, const std::string& options,
                const std::vector<KernelValue>& arguments, WorkSize global, WorkSize local);

}  // namespace fm
