#include "executor/opencl_loader.hpp"

#include <dlfcn.h>

namespace fm {
namespace {

// Pixel phones hide the entry points behind this one.
using PixelPointerLoader = void* (*)(const char*);
using PixelEnable = void (*)();

struct Library {
  void* handle = nullptr;
  std::string name;
  PixelPointerLoader pixel_pointer = nullptr;
};

/// Says more than that the file is not there.
std::string why_not_loaded(const char* error) {
  const std::string text = error == nullptr ? "" : error;
  return text.empty() || text.find("No such file") != std::string::npos ? "" : " [" + text + "]";
}

Library open_library() {
  std::string tried;
  for (const std::string& name : opencl_library_names()) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      Library library{handle, name, nullptr};
      if (auto enable = reinterpret_cast<PixelEnable>(dlsym(handle, "enableOpenCL"))) {
        enable();
        library.pixel_pointer =
            reinterpret_cast<PixelPointerLoader>(dlsym(handle, "loadOpenCLPointer"));
      }
      return library;
    }
    tried += (tried.empty() ? "" : ", ") + name + why_not_loaded(dlerror());
  }
  throw DeviceError(
      "no OpenCL library found (tried " + tried +
      "). On Debian install `ocl-icd-libopencl1` and a device such as "
      "`pocl-opencl-icd`; in an Android app declare the library with "
      "uses-native-library, in a shell of adb set LD_LIBRARY_PATH to the folder that has "
      "it (/vendor/lib64), since the linker opens no others of the vendor's");
}

void* find_function(const Library& library, const char* name) {
  void* function = library.pixel_pointer ? library.pixel_pointer(name) : nullptr;
  if (!function) function = dlsym(library.handle, name);
  if (!function) {
    throw DeviceError("OpenCL library " + library.name + " has no " + name +
                      "; OpenCL 1.2 or newer is needed");
  }
  return function;
}

OpenClFunctions load_functions() {
  const Library library = open_library();
  OpenClFunctions functions;
#define FM_LOAD(name) \
  functions.name = reinterpret_cast<decltype(functions.name)>(find_function(library, #name));
  FM_OPENCL_FUNCTIONS(FM_LOAD)
#undef FM_LOAD
  return functions;
}

}  // namespace

const std::vector<std::string>& opencl_library_names() {
  static const std::vector<std::string> names = {
    "libOpenCL.so.1",
    "libOpenCL.so",
    "libOpenCL-pixel.so",
    "libOpenCL-car.so",
    "libGLES_mali.so",
    "libmali.so",
    "libPVROCL.so",
#if defined(__ANDROID__) || defined(__aarch64__)
    "/vendor/lib64/libOpenCL.so",
    "/system/vendor/lib64/libOpenCL.so",
    "/system/lib64/libOpenCL.so",
    "/vendor/lib64/egl/libGLES_mali.so",
    "/system/vendor/lib64/egl/libGLES_mali.so",
    "/vendor/lib64/libPVROCL.so",
#elif defined(__arm__)
    "/vendor/lib/libOpenCL.so",
    "/system/vendor/lib/libOpenCL.so",
    "/vendor/lib/egl/libGLES_mali.so",
    "/system/vendor/lib/egl/libGLES_mali.so",
#endif
  };
  return names;
}

const OpenClFunctions& opencl() {
  static const OpenClFunctions functions = load_functions();
  return functions;
}

std::string opencl_error_name(cl_int code) {
  switch (code) {
#define FM_NAME(name) \
  case name:          \
    return #name;
    FM_NAME(CL_SUCCESS)
    FM_NAME(CL_DEVICE_NOT_FOUND)
    FM_NAME(CL_DEVICE_NOT_AVAILABLE)
    FM_NAME(CL_COMPILER_NOT_AVAILABLE)
    FM_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    FM_NAME(CL_OUT_OF_RESOURCES)
    FM_NAME(CL_OUT_OF_HOST_MEMORY)
    FM_NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
    FM_NAME(CL_MEM_COPY_OVERLAP)
    FM_NAME(CL_IMAGE_FORMAT_MISMATCH)
    FM_NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED)
    FM_NAME(CL_BUILD_PROGRAM_FAILURE)
    FM_NAME(CL_MAP_FAILURE)
    FM_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    FM_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    FM_NAME(CL_COMPILE_PROGRAM_FAILURE)
    FM_NAME(CL_LINKER_NOT_AVAILABLE)
    FM_NAME(CL_LINK_PROGRAM_FAILURE)
    FM_NAME(CL_DEVICE_PARTITION_FAILED)
    FM_NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    FM_NAME(CL_INVALID_VALUE)
    FM_NAME(CL_INVALID_DEVICE_TYPE)
    FM_NAME(CL_INVALID_PLATFORM)
    FM_NAME(CL_INVALID_DEVICE)
    FM_NAME(CL_INVALID_CONTEXT)
    FM_NAME(CL_INVALID_QUEUE_PROPERTIES)
    FM_NAME(CL_INVALID_COMMAND_QUEUE)
    FM_NAME(CL_INVALID_HOST_PTR)
    FM_NAME(CL_INVALID_MEM_OBJECT)
    FM_NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
    FM_NAME(CL_INVALID_IMAGE_SIZE)
    FM_NAME(CL_INVALID_SAMPLER)
    FM_NAME(CL_INVALID_BINARY)
    FM_NAME(CL_INVALID_BUILD_OPTIONS)
    FM_NAME(CL_INVALID_PROGRAM)
    FM_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    FM_NAME(CL_INVALID_KERNEL_NAME)
    FM_NAME(CL_INVALID_KERNEL_DEFINITION)
    FM_NAME(CL_INVALID_KERNEL)
    FM_NAME(CL_INVALID_ARG_INDEX)
    FM_NAME(CL_INVALID_ARG_VALUE)
    FM_NAME(CL_INVALID_ARG_SIZE)
    FM_NAME(CL_INVALID_KERNEL_ARGS)
    FM_NAME(CL_INVALID_WORK_DIMENSION)
    FM_NAME(CL_INVALID_WORK_GROUP_SIZE)
    FM_NAME(CL_INVALID_WORK_ITEM_SIZE)
    FM_NAME(CL_INVALID_GLOBAL_OFFSET)
    FM_NAME(CL_INVALID_EVENT_WAIT_LIST)
    FM_NAME(CL_INVALID_EVENT)
    FM_NAME(CL_INVALID_OPERATION)
    FM_NAME(CL_INVALID_GL_OBJECT)
    FM_NAME(CL_INVALID_BUFFER_SIZE)
    FM_NAME(CL_INVALID_MIP_LEVEL)
    FM_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
    FM_NAME(CL_INVALID_PROPERTY)
    FM_NAME(CL_INVALID_IMAGE_DESCRIPTOR)
    FM_NAME(CL_INVALID_COMPILER_OPTIONS)
    FM_NAME(CL_INVALID_LINKER_OPTIONS)
    FM_NAME(CL_INVALID_DEVICE_PARTITION_COUNT)
#undef FM_NAME
    case -1001:
      return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
      return "CL error " + std::to_string(code);
  }
}

OpenClError::OpenClError(cl_int code, const std::string& function, const std::string& attempt,
                         const std::string& details)
    : DeviceError(attempt + ": " + function + " failed with " + opencl_error_name(code) + " (" +
                  std::to_string(code) + ")" + details),
      code_(code) {}

bool OpenClError::is_exhaustion() const {
  return code_ == CL_MEM_OBJECT_ALLOCATION_FAILURE || code_ == CL_OUT_OF_RESOURCES ||
         code_ == CL_OUT_OF_HOST_MEMORY;
}

void check_opencl(cl_int code, const char* function, const std::string& attempt) {
  if (code != CL_SUCCESS) throw OpenClError(code, function, attempt);
}

}  // namespace fm
