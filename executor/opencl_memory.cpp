// Buffers, images and transfers of opencl_objects.hpp.
#include "core/diagnostics.hpp"
#include "executor/opencl_objects.hpp"

namespace fm {
namespace {

std::string texels(GridExtent extent) {
  return std::to_string(extent.width) + " x " + std::to_string(extent.height) + " texels";
}

constexpr std::size_t origin[3] = {0, 0, 0};

}  // namespace

OpenClMemory create_buffer(const OpenClContext& context, Bytes bytes, cl_mem_flags flags,
                           const std::string& name) {
  cl_int code = CL_SUCCESS;
  OpenClMemory buffer(opencl().clCreateBuffer(context.get(), flags, bytes.count(), nullptr, &code));
  if (code != CL_SUCCESS) {
    check_opencl(code, "clCreateBuffer",
                 "creating a buffer of " + std::to_string(bytes.count()) + " bytes for " + name);
  }
  return buffer;
}

OpenClMemory create_sub_buffer(const OpenClMemory& parent, Bytes offset, Bytes bytes,
                               const std::string& name) {
  const cl_buffer_region region{offset.count(), bytes.count()};
  cl_int code = CL_SUCCESS;
  OpenClMemory buffer(opencl().clCreateSubBuffer(parent.get(), CL_MEM_READ_WRITE,
                                                 CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  if (code != CL_SUCCESS) {
    check_opencl(code, "clCreateSubBuffer",
                 "creating a sub-buffer [" + std::to_string(offset.count()) + ", +" +
                     std::to_string(bytes.count()) + ") for " + name);
  }
  return buffer;
}

void check_image_limits(const OpenClDevice& device, GridExtent extent, const std::string& name) {
  if (!device.images)
    throw UserError(name + " is an image2d, but " + device.name +
                    " has no images; plan with --placement buffer");
  if (extent.width > device.image_width_limit || extent.height > device.image_height_limit) {
    throw UserError("image too large for the device: " + name + " is " + texels(extent) + ", but " +
                    device.name + " allows at most " +
                    texels({device.image_width_limit, device.image_height_limit}) +
                    "; plan for it with a config of that limit or with --placement buffer");
  }
}

OpenClMemory create_image(const OpenClContext& context, GridExtent extent, DataType dtype,
                          const std::string& name) {
  check_image_limits(context.device(), extent, name);
  cl_image_format format{};
  format.image_channel_order = CL_RGBA;
  format.image_channel_data_type = dtype == DataType::f16  ? CL_HALF_FLOAT
                                   : dtype == DataType::u8 ? CL_UNORM_INT8
                                                           : CL_FLOAT;
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = extent.width;
  description.image_height = extent.height;
  cl_int code = CL_SUCCESS;
  OpenClMemory image(opencl().clCreateImage(context.get(), CL_MEM_READ_WRITE, &format, &description,
                                            nullptr, &code));
  if (code != CL_SUCCESS)
    check_opencl(code, "clCreateImage", "creating an image of " + texels(extent) + " for " + name);
  return image;
}

void write_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset,
                  const void* data, Bytes bytes, const std::string& name) {
  check_opencl(opencl().clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, offset.count(),
                                             bytes.count(), data, 0, nullptr, nullptr),
               "clEnqueueWriteBuffer", "writing " + name);
}

void read_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, void* data,
                 Bytes bytes, const std::string& name) {
  check_opencl(opencl().clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, offset.count(),
                                            bytes.count(), data, 0, nullptr, nullptr),
               "clEnqueueReadBuffer", "reading " + name);
}

void write_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent,
                 const void* data, const std::string& name) {
  const std::size_t region[3] = {extent.width, extent.height, 1};
  check_opencl(opencl().clEnqueueWriteImage(queue.get(), image.get(), CL_TRUE, origin, region, 0, 0,
                                            data, 0, nullptr, nullptr),
               "clEnqueueWriteImage", "writing " + name);
}

void read_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent, void* data,
                const std::string& name) {
  const std::size_t region[3] = {extent.width, extent.height, 1};
  check_opencl(opencl().clEnqueueReadImage(queue.get(), image.get(), CL_TRUE, origin, region, 0, 0,
                                           data, 0, nullptr, nullptr),
               "clEnqueueReadImage", "reading " + name);
}

void fill_buffer(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset, Bytes bytes,
                 std::uint32_t value, const std::string& name) {
  check_opencl(opencl().clEnqueueFillBuffer(queue.get(), buffer.get(), &value, sizeof value,
                                            offset.count(), bytes.count(), 0, nullptr, nullptr),
               "clEnqueueFillBuffer", "filling " + name);
  finish(queue, "filling " + name);
}

void fill_image(const OpenClQueue& queue, const OpenClMemory& image, GridExtent extent,
                std::array<float, 4> texel, const std::string& name) {
  const std::size_t region[3] = {extent.width, extent.height, 1};
  check_opencl(opencl().clEnqueueFillImage(queue.get(), image.get(), texel.data(), origin, region,
                                           0, nullptr, nullptr),
               "clEnqueueFillImage", "filling " + name);
  finish(queue, "filling " + name);
}

MappedRange::MappedRange(const OpenClQueue& queue, const OpenClMemory& buffer, Bytes offset,
                         Bytes bytes, cl_map_flags flags, const std::string& name)
    : queue_(queue), buffer_(buffer), bytes_(bytes), name_(name) {
  cl_int code = CL_SUCCESS;
  data_ = static_cast<std::uint8_t*>(
      opencl().clEnqueueMapBuffer(queue.get(), buffer.get(), CL_TRUE, flags, offset.count(),
                                  bytes.count(), 0, nullptr, nullptr, &code));
  if (code != CL_SUCCESS) {
    check_opencl(code, "clEnqueueMapBuffer",
                 "mapping " + std::to_string(bytes.count()) + " bytes of " + name);
  }
}

void MappedRange::unmap() {
  check_opencl(opencl().clEnqueueUnmapMemObject(queue_.get(), buffer_.get(),
                                                std::exchange(data_, nullptr), 0, nullptr, nullptr),
               "clEnqueueUnmapMemObject", "unmapping " + name_);
  finish(queue_, "unmapping " + name_);
}

MappedRange::~MappedRange() {
  if (data_ == nullptr) return;
  opencl().clEnqueueUnmapMemObject(queue_.get(), buffer_.get(), data_, 0, nullptr, nullptr);
  opencl().clFinish(queue_.get());
}

}  // namespace fm
