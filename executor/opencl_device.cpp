#include "executor/opencl_device.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr const char* no_platform =
    "no OpenCL platform found: the OpenCL library is there, but no device driver is registered. "
    "On Debian install `pocl-opencl-icd` (OpenCL on the CPU)";

constexpr const char* no_device =
    "no OpenCL device found: a driver is registered, but has none to offer. `clinfo` says more; "
    "permission to open the GPU's device file may be missing, or on Debian install "
    "`pocl-opencl-icd` (OpenCL on the CPU)";

std::string without_padding(std::string text) {
  text.resize(std::min(text.size(), text.find('\0')));
  const auto last = text.find_last_not_of(" \t\n");
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  check_opencl(opencl().clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo",
               "reading device facts");
  if (size == 0) return "";
  std::string text(size, '\0');
  check_opencl(opencl().clGetDeviceInfo(device, what, size, text.data(), nullptr),
               "clGetDeviceInfo", "reading device facts");
  return without_padding(text);
}

std::string text_of(cl_platform_id platform, cl_platform_info what) {
  std::size_t size = 0;
  check_opencl(opencl().clGetPlatformInfo(platform, what, 0, nullptr, &size), "clGetPlatformInfo",
               "reading platform facts");
  if (size == 0) return "";
  std::string text(size, '\0');
  check_opencl(opencl().clGetPlatformInfo(platform, what, size, text.data(), nullptr),
               "clGetPlatformInfo", "reading platform facts");
  return without_padding(text);
}

template <class T>
T value_of(cl_device_id device, cl_device_info what) {
  T value{};
  check_opencl(opencl().clGetDeviceInfo(device, what, sizeof value, &value, nullptr),
               "clGetDeviceInfo", "reading device facts");
  return value;
}

/// What newer versions and extensions ask; drivers without them answer with various errors.
template <class T>
std::optional<T> answer_of(cl_device_id device, cl_device_info what) {
  T value{};
  if (opencl().clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return value;
}

// Names that headers of OpenCL 1.2 lack.
constexpr cl_device_info half_config = 0x1033;            // CL_DEVICE_HALF_FP_CONFIG
constexpr cl_device_info image_pitch_alignment = 0x104A;  // CL_DEVICE_IMAGE_PITCH_ALIGNMENT
constexpr cl_device_info svm_capabilities = 0x1053;       // CL_DEVICE_SVM_CAPABILITIES

void read_newer_facts(OpenClDevice* device) {
  const bool second = device->version_number().value_or(0) >= 200;
  if (second || device->has_extension("cl_khr_image2d_from_buffer")) {
    device->image_pitch_alignment = answer_of<cl_uint>(device->id, image_pitch_alignment);
  }
  if (second) device->shared_virtual_memory = answer_of<cl_bitfield>(device->id, svm_capabilities);
  if (device->has_extension("cl_khr_fp16")) {
    device->half_arithmetic = answer_of<cl_bitfield>(device->id, half_config);
  }
}

/// By dimension; none where the number of dimensions cannot be.
std::vector<std::uint64_t> work_item_limits(cl_device_id device) {
  constexpr cl_uint most_dimensions = 16;
  const auto dimensions = value_of<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
  if (dimensions < 3 || dimensions > most_dimensions) return {};
  std::vector<std::size_t> items(dimensions);
  check_opencl(opencl().clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                                        items.size() * sizeof(std::size_t), items.data(), nullptr),
               "clGetDeviceInfo", "reading device facts");
  return {items.begin(), items.end()};
}

OpenClDevice read_facts(cl_platform_id platform, cl_device_id id) {
  OpenClDevice device;
  device.platform = platform;
  device.id = id;
  device.name = text_of(id, CL_DEVICE_NAME);
  device.vendor = text_of(id, CL_DEVICE_VENDOR);
  device.version = text_of(id, CL_DEVICE_VERSION);
  device.driver = text_of(id, CL_DRIVER_VERSION);
  device.extensions = text_of(id, CL_DEVICE_EXTENSIONS);
  device.platform_name = text_of(platform, CL_PLATFORM_NAME);
  device.platform_version = text_of(platform, CL_PLATFORM_VERSION);
  device.type =
      value_of<cl_device_type>(id, CL_DEVICE_TYPE) & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT};
  device.images = value_of<cl_bool>(id, CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE;
  device.unified_memory = value_of<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  device.image_width_limit = value_of<std::size_t>(id, CL_DEVICE_IMAGE2D_MAX_WIDTH);
  device.image_height_limit = value_of<std::size_t>(id, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  device.write_image_limit = value_of<cl_uint>(id, CL_DEVICE_MAX_WRITE_IMAGE_ARGS);
  device.allocation_limit = Bytes(value_of<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  device.global_memory = Bytes(value_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE));
  device.local_memory = Bytes(value_of<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE));
  device.sub_buffer_alignment =
      Bytes(std::max<cl_uint>(8, value_of<cl_uint>(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN)) / 8);
  device.work_group_limit = value_of<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  device.work_item_limits = work_item_limits(id);
  device.compute_units = value_of<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS);
  device.clock_mhz = value_of<cl_uint>(id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  device.language = text_of(id, CL_DEVICE_OPENCL_C_VERSION);
  device.profile = text_of(id, CL_DEVICE_PROFILE);
  device.queues = value_of<cl_command_queue_properties>(id, CL_DEVICE_QUEUE_PROPERTIES);
  device.compiles = value_of<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE;
  read_newer_facts(&device);
  return device;
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  const cl_int code = opencl().clGetPlatformIDs(0, nullptr, &count);
  constexpr cl_int platform_not_found = -1001;  // of the ICD loader
  if (code == platform_not_found || (code == CL_SUCCESS && count == 0)) {
    throw DeviceError(no_platform);
  }
  check_opencl(code, "clGetPlatformIDs", "listing OpenCL platforms");
  std::vector<cl_platform_id> found(count);
  check_opencl(opencl().clGetPlatformIDs(count, found.data(), nullptr), "clGetPlatformIDs",
               "listing OpenCL platforms");
  return found;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  const cl_int code = opencl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) return {};
  check_opencl(code, "clGetDeviceIDs", "listing OpenCL devices");
  std::vector<cl_device_id> found(count);
  check_opencl(opencl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, found.data(), nullptr),
               "clGetDeviceIDs", "listing OpenCL devices");
  return found;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string type_name(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return "gpu";
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return "accelerator";
  if (type & CL_DEVICE_TYPE_CPU) return "cpu";
  return "other";
}

OpenClDevice preferred(const std::vector<OpenClDevice>& devices) {
  for (cl_device_type type : {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR}) {
    for (const OpenClDevice& device : devices) {
      if (device.type & type) return device;
    }
  }
  return devices.front();
}

OpenClDevice chosen(const DeviceList& list, const std::string& wanted) {
  if (wanted.empty()) return preferred(list.devices);
  const bool number =
      std::all_of(wanted.begin(), wanted.end(), [](unsigned char c) { return std::isdigit(c); });
  for (const OpenClDevice& device : list.devices) {
    const bool named = lower(device.name).find(lower(wanted)) != std::string::npos ||
                       lower(device.platform_name).find(lower(wanted)) != std::string::npos;
    if (number ? wanted == std::to_string(device.index) : named) return device;
  }
  throw UserError("--device " + wanted +
                  (number ? ": no such device" : ": no device's name contains it") +
                  "; there are:\n" + describe(list));
}

/// No OpenCL device may give these answers, so what else its driver says is not to be trusted.
void check_facts(const OpenClDevice& device) {
  const std::pair<const char*, bool> impossible[] = {
      {"CL_DEVICE_MAX_MEM_ALLOC_SIZE is 0", device.allocation_limit == Bytes(0)},
      {"CL_DEVICE_LOCAL_MEM_SIZE is 0", device.local_memory == Bytes(0)},
      {"CL_DEVICE_MAX_WORK_GROUP_SIZE is 0", device.work_group_limit == 0},
      {"CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS is not 3 to 16", device.work_item_limits.empty()},
      {"CL_DEVICE_MAX_COMPUTE_UNITS is 0", device.compute_units == 0},
      {"CL_DEVICE_COMPILER_AVAILABLE is false", !device.compiles},
  };
  for (const auto& [fact, found] : impossible) {
    if (!found) continue;
    throw DeviceError(device.name + ": its driver says that " + fact +
                      ", which cannot be; update the driver (" + device.driver +
                      "), or choose another device with --device");
  }
  if (device.version_number().value_or(102) < 102) {
    throw DeviceError(device.name + " has " + device.version +
                      ", but OpenCL 1.2 or newer is needed; update the driver, or choose another "
                      "device with --device");
  }
}

}  // namespace

bool OpenClDevice::computes_in_half() const {
  return has_extension("cl_khr_fp16") && half_arithmetic.value_or(1) != 0;
}

std::optional<unsigned> OpenClDevice::version_number() const {
  unsigned major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "OpenCL %2u.%2u", &major, &minor) != 2) return std::nullopt;
  return major * 100 + minor;
}

bool OpenClDevice::has_extension(const std::string& extension) const {
  std::istringstream words(extensions);
  for (std::string word; words >> word;) {
    if (word == extension) return true;
  }
  return false;
}

std::map<std::string, std::string> OpenClDevice::facts() const {
  return {
      {"name", name},
      {"vendor", vendor},
      {"version", version},
      {"driver", driver},
      {"language", language},
      {"profile", profile},
      {"platform", platform_name},
      {"platform_version", platform_version},
      {"type", type_name(type)},
      {"extensions", extensions},
      {"image2d_max_width", std::to_string(image_width_limit)},
      {"image2d_max_height", std::to_string(image_height_limit)},
      {"max_allocation_bytes", std::to_string(allocation_limit.count())},
      {"global_memory_bytes", std::to_string(global_memory.count())},
      {"local_memory_bytes", std::to_string(local_memory.count())},
      {"sub_buffer_alignment_bytes", std::to_string(sub_buffer_alignment.count())},
      {"max_work_group_size", std::to_string(work_group_limit)},
      {"compute_units", std::to_string(compute_units)},
      {"clock_mhz", std::to_string(clock_mhz)},
      {"host_unified_memory", unified_memory ? "yes" : "no"},
  };
}

DeviceList list_devices() {
  DeviceList list;
  std::size_t index = 0;
  std::optional<DeviceError> first;
  const auto failed = [&](const std::string& what, const DeviceError& error) {
    if (!first) first = error;
    list.failures.push_back(what + " cannot be used: " + error.what());
  };
  const std::vector<cl_platform_id> all = platforms();
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::vector<cl_device_id> ids;
    try {
      ids = devices_of(all[p]);
    } catch (const DeviceError& error) {
      failed("platform " + std::to_string(p), error);
    }
    for (cl_device_id id : ids) {
      try {
        list.devices.push_back(read_facts(all[p], id));
        list.devices.back().index = index;
      } catch (const DeviceError& error) {
        failed("device " + std::to_string(index), error);
      }
      ++index;
    }
  }
  if (!list.devices.empty()) return list;
  if (first) throw *first;
  throw DeviceError(no_device);
}

OpenClDevice select_device(const std::string& wanted) {
  OpenClDevice device = chosen(list_devices(), wanted);
  check_facts(device);
  return device;
}

std::string describe(const DeviceList& list) {
  std::string text;
  const auto line = [&](const std::string& words) { text += (text.empty() ? "" : "\n") + words; };
  for (const OpenClDevice& device : list.devices) {
    line(std::to_string(device.index) + ": " + device.name + " (" + device.platform_name +
         ", driver " + device.driver + ", " + type_name(device.type) + ")");
  }
  for (const std::string& failure : list.failures) line(failure);
  return text;
}

}  // namespace fm
