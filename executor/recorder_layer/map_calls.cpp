// Mapping, and commands that move nothing a trace has an operation for.
#include "executor/recorder_layer/calls.hpp"
#include "executor/recorder_layer/command.hpp"

namespace fm {
namespace {

void* finish_map(Command* command, cl_mem memory, std::uint64_t bytes, void* pointer, cl_int made,
                 cl_int* code) {
  command->finish(made);
  if (code != nullptr) *code = made;
  if (made == CL_SUCCESS) {
    record([&](ApiRecorder& recorder) { recorder.mapped(memory, pointer, bytes); });
  }
  return pointer;
}

void* CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                             cl_map_flags flags, std::size_t offset, std::size_t bytes,
                             cl_uint wait_count, const cl_event* waits, cl_event* event,
                             cl_int* code) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(buffer)) command.map(kind_of_call(blocks), bytes, flags);
  cl_int made = CL_SUCCESS;
  void* const pointer = below->clEnqueueMapBuffer(queue, buffer, blocks, flags, offset, bytes,
                                                  wait_count, waits, command.event(), &made);
  return finish_map(&command, buffer, bytes, pointer, made, code);
}

void* CL_API_CALL map_image(cl_command_queue queue, cl_mem image, cl_bool blocks,
                            cl_map_flags flags, const std::size_t* origin,
                            const std::size_t* region, std::size_t* row_pitch,
                            std::size_t* slice_pitch, cl_uint wait_count, const cl_event* waits,
                            cl_event* event, cl_int* code) {
  Command command({queue, wait_count, waits, event});
  std::uint64_t bytes = 0;
  if (command.uses(image)) {
    bytes = region_of(command.use(0), origin, region).bytes;
    command.map(kind_of_call(blocks), bytes, flags);
  }
  cl_int made = CL_SUCCESS;
  void* const pointer =
      below->clEnqueueMapImage(queue, image, blocks, flags, origin, region, row_pitch, slice_pitch,
                               wait_count, waits, command.event(), &made);
  return finish_map(&command, image, bytes, pointer, made, code);
}

cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem memory, void* pointer, cl_uint wait_count,
                         const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(memory)) {
    record([&](ApiRecorder& recorder) { command.unmap(recorder.unmapped(memory, pointer)); });
  }
  return command.finish(
      below->clEnqueueUnmapMemObject(queue, memory, pointer, wait_count, waits, command.event()));
}

// In unified memory a migration moves nothing: it only orders.
cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint count, const cl_mem* objects,
                           cl_mem_migration_flags flags, cl_uint wait_count, const cl_event* waits,
                           cl_event* event) {
  Command command({queue, wait_count, waits, event});
  command.begin_marker(false);
  return command.finish(below->clEnqueueMigrateMemObjects(queue, count, objects, flags, wait_count,
                                                          waits, command.event()));
}

cl_int CL_API_CALL native_kernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                 void* arguments, std::size_t bytes, cl_uint count,
                                 const cl_mem* objects, const void** places, cl_uint wait_count,
                                 const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  command.begin_marker(false);
  record([](ApiRecorder& recorder) { recorder.leave_out("what native kernels do"); });
  return command.finish(below->clEnqueueNativeKernel(queue, function, arguments, bytes, count,
                                                     objects, places, wait_count, waits,
                                                     command.event()));
}

}  // namespace

void install_map_calls(cl_icd_dispatch* own) {
  own->clEnqueueMapBuffer = map_buffer;
  own->clEnqueueMapImage = map_image;
  own->clEnqueueUnmapMemObject = unmap;
  own->clEnqueueMigrateMemObjects = migrate;
  own->clEnqueueNativeKernel = native_kernel;
}

}  // namespace fm
