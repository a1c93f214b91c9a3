// Buffers and images: what they are from the driver, their end from its destructor callback.
#include "executor/recorder_layer/calls.hpp"
#include "executor/recorder_layer/command_watch.hpp"

namespace fm {
namespace {

void CL_CALLBACK on_destroyed(cl_mem, void* object) {
  record(
      [&](ApiRecorder& recorder) { recorder.destroyed(reinterpret_cast<std::uintptr_t>(object)); });
}

std::size_t image_size(cl_mem image, cl_image_info what) {
  std::size_t size = 0;
  below->clGetImageInfo(image, what, sizeof size, &size, nullptr);
  return size;
}

/// Images of more than two dimensions, and of one, are recorded as their bytes; `height` is then
/// that of a slice.
CreatedObject image_facts(cl_mem image) {
  cl_mem_object_type type = 0;
  below->clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, nullptr);
  CreatedObject made;
  made.image = type == CL_MEM_OBJECT_IMAGE2D;
  made.element = image_size(image, CL_IMAGE_ELEMENT_SIZE);
  made.width = image_size(image, CL_IMAGE_WIDTH);
  const std::size_t sizes[] = {image_size(image, CL_IMAGE_HEIGHT),
                               image_size(image, CL_IMAGE_DEPTH),
                               image_size(image, CL_IMAGE_ARRAY_SIZE)};
  // The slices of a one-dimensional array are addressed as rows.
  made.height = sizes[0] > 0 ? sizes[0] : 1;
  made.bytes = made.element * made.width;
  for (const std::size_t size : sizes) made.bytes *= size > 0 ? size : 1;
  return made;
}

void add_object(cl_mem made, const CreatedObject& facts, cl_mem_flags flags, std::uint64_t since) {
  record([&](ApiRecorder& recorder) {
    const std::uint64_t id =
        recorder.add_object(made, facts, (flags & CL_MEM_COPY_HOST_PTR) != 0, since);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the callback gets its number back
    void* number = reinterpret_cast<void*>(static_cast<std::uintptr_t>(id));
    const cl_int code = below->clSetMemObjectDestructorCallback(made, on_destroyed, number);
    if (code != CL_SUCCESS) recorder.leave_out("releases of objects, the driver not telling");
  });
}

void add_image(cl_mem made, cl_mem_flags flags, std::uint64_t since) {
  if (made == nullptr || Recording::recorder() == nullptr) return;
  cl_mem parent = nullptr;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the handle itself is asked for
  below->clGetMemObjectInfo(made, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, nullptr);
  const CreatedObject facts = image_facts(made);
  if (parent == nullptr) return add_object(made, facts, flags, since);
  record([&](ApiRecorder& recorder) { recorder.add_view(made, parent, 0, facts); });
}

CreatedObject buffer_facts(std::size_t bytes) {
  CreatedObject facts;
  facts.bytes = bytes;
  return facts;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes,
                                 void* host, cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_mem made = below->clCreateBuffer(context, flags, bytes, host, code);
  if (made != nullptr) add_object(made, buffer_facts(bytes), flags, since);
  return made;
}

cl_mem CL_API_CALL create_buffer_with_properties(cl_context context,
                                                 const cl_mem_properties* properties,
                                                 cl_mem_flags flags, std::size_t bytes, void* host,
                                                 cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_mem made =
      below->clCreateBufferWithProperties(context, properties, flags, bytes, host, code);
  if (made != nullptr) add_object(made, buffer_facts(bytes), flags, since);
  return made;
}

cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void* info, cl_int* code) {
  const cl_mem made = below->clCreateSubBuffer(parent, flags, type, info, code);
  if (made == nullptr || type != CL_BUFFER_CREATE_TYPE_REGION) return made;
  const auto* const region = static_cast<const cl_buffer_region*>(info);
  record([&](ApiRecorder& recorder) {
    recorder.add_view(made, parent, region->origin, buffer_facts(region->size));
  });
  return made;
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
                                const cl_image_format* format, const cl_image_desc* description,
                                void* host, cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_mem made = below->clCreateImage(context, flags, format, description, host, code);
  add_image(made, flags, since);
  return made;
}

cl_mem CL_API_CALL create_image_with_properties(cl_context context,
                                                const cl_mem_properties* properties,
                                                cl_mem_flags flags, const cl_image_format* format,
                                                const cl_image_desc* description, void* host,
                                                cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_mem made = below->clCreateImageWithProperties(context, properties, flags, format,
                                                         description, host, code);
  add_image(made, flags, since);
  return made;
}

cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, std::size_t width,
                                   std::size_t height, std::size_t pitch, void* host,
                                   cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_mem made =
      below->clCreateImage2D(context, flags, format, width, height, pitch, host, code);
  add_image(made, flags, since);
  return made;
}

cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, std::size_t width,
                                   std::size_t height, std::size_t depth, std::size_t row_pitch,
                                   std::size_t slice_pitch, void* host, cl_int* code) {
  const std::uint64_t since = record_time();
  const cl_mem made = below->clCreateImage3D(context, flags, format, width, height, depth,
                                             row_pitch, slice_pitch, host, code);
  add_image(made, flags, since);
  return made;
}

void* CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, std::size_t bytes,
                            cl_uint alignment) {
  void* const made = below->clSVMAlloc(context, flags, bytes, alignment);
  if (made != nullptr) {
    record(
        [&](ApiRecorder& recorder) { recorder.leave_out("allocations of shared virtual memory"); });
  }
  return made;
}

}  // namespace

void install_memory_calls(cl_icd_dispatch* own) {
  own->clCreateBuffer = create_buffer;
  own->clCreateBufferWithProperties = create_buffer_with_properties;
  own->clCreateSubBuffer = create_sub_buffer;
  own->clCreateImage = create_image;
  own->clCreateImageWithProperties = create_image_with_properties;
  own->clCreateImage2D = create_image_2d;
  own->clCreateImage3D = create_image_3d;
  own->clSVMAlloc = svm_alloc;
}

}  // namespace fm
