#pragma once
// The OpenCL devices of this machine, what they can do, and the choice of one.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "executor/opencl_loader.hpp"

namespace fm {

struct OpenClDevice {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::size_t index = 0;  ///< over all platforms, as `--device` counts
  std::string name, vendor, version, driver;
  std::string language;  ///< CL_DEVICE_OPENCL_C_VERSION
  std::string profile;   ///< "FULL_PROFILE", "EMBEDDED_PROFILE"
  std::string platform_name, platform_version;
  std::string extensions;  ///< space separated
  cl_device_type type = CL_DEVICE_TYPE_DEFAULT;
  bool images = false;
  bool unified_memory = false;
  std::uint64_t image_width_limit = 0;   ///< texels
  std::uint64_t image_height_limit = 0;  ///< texels
  std::uint64_t write_image_limit = 0;   ///< images one kernel may write
  Bytes allocation_limit, global_memory, local_memory;
  Bytes sub_buffer_alignment;  ///< CL_DEVICE_MEM_BASE_ADDR_ALIGN, which OpenCL gives in bits
  std::uint64_t work_group_limit = 0;  ///< work-items
  std::vector<std::uint64_t> work_item_limits;
  std::uint32_t compute_units = 0;
  std::uint32_t clock_mhz = 0;
  cl_command_queue_properties queues = 0;
  bool compiles = true;  ///< CL_DEVICE_COMPILER_AVAILABLE
  // Of newer versions or extensions: none where the driver does not answer.
  std::optional<std::uint32_t> image_pitch_alignment;  ///< texels, of images made from buffers
  std::optional<std::uint64_t> shared_virtual_memory;  ///< CL_DEVICE_SVM_CAPABILITIES
  std::optional<std::uint64_t> half_arithmetic;        ///< CL_DEVICE_HALF_FP_CONFIG

  /// A CPU: its memory is the host's own, whatever the driver says of unified memory.
  bool computes_in_host_memory() const { return type == CL_DEVICE_TYPE_CPU; }
  bool has_extension(const std::string& extension) const;
  /// Whether kernels may compute in half: the extension is there, and no answer contradicts it.
  bool computes_in_half() const;
  /// 102 of "OpenCL 1.2 ..", 300 of "OpenCL 3.0 .."; none where the driver names none.
  std::optional<unsigned> version_number() const;
  /// Name, vendor, driver, limits: what a trace carries about where it was recorded.
  std::map<std::string, std::string> facts() const;
};

struct DeviceList {
  std::vector<OpenClDevice> devices;
  /// Of platforms and devices that do not answer: the others can be used.
  std::vector<std::string> failures;
};
/// All devices of all platforms. Throws DeviceError when there is no library or platform, or no
/// device that can be used.
DeviceList list_devices();

/// `wanted`: an index of list_devices(), or a part of a device's or platform's name (any case);
/// empty: the first GPU, else the first accelerator, else the first CPU. Throws UserError naming
/// the devices there are.
OpenClDevice select_device(const std::string& wanted);

/// "0: name (platform, driver)" a line, then what cannot be used.
std::string describe(const DeviceList& list);

}  // namespace fm
