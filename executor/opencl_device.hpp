#pragma once
// The OpenCL devices of this machine, what they can do, and the choice of one.

#include <cstdint>
#include <map>
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

  /// A CPU: its memory is the host's own, whatever the driver says of unified memory.
  bool computes_in_host_memory() const { return type == CL_DEVICE_TYPE_CPU; }
  bool has_extension(const std::string& extension) const;
  /// Name, vendor, driver, limits: what a trace carries about where it was recorded.
  std::map<std::string, std::string> facts() const;
};

/// All devices of all platforms. Throws DeviceError when there is no library, platform or device.
std::vector<OpenClDevice> list_devices();

/// `wanted`: an index of list_devices(), or a part of a device's or platform's name (any case);
/// empty: the first GPU, else the first accelerator, else the first CPU. Throws UserError naming
/// the devices there are.
OpenClDevice select_device(const std::string& wanted);

/// "0: name (platform, driver)" a line.
std::string describe(const std::vector<OpenClDevice>& devices);

}  // namespace fm
