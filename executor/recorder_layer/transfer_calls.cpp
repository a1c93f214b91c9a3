// Reads, writes, copies and fills.
#include "executor/recorder_layer/calls.hpp"
#include "executor/recorder_layer/command.hpp"

namespace fm {
namespace {

using Size = std::size_t;

cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, Size offset,
                               Size bytes, void* to, cl_uint wait_count, const cl_event* waits,
                               cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(buffer)) command.transfer(kind_of_call(blocks), {offset, bytes, 0, 0}, false);
  return command.finish(below->clEnqueueReadBuffer(queue, buffer, blocks, offset, bytes, to,
                                                   wait_count, waits, command.event()));
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, Size offset,
                                Size bytes, const void* from, cl_uint wait_count,
                                const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(buffer)) command.transfer(kind_of_call(blocks), {offset, bytes, 0, 0}, true);
  return command.finish(below->clEnqueueWriteBuffer(queue, buffer, blocks, offset, bytes, from,
                                                    wait_count, waits, command.event()));
}

cl_int CL_API_CALL read_buffer_rectangle(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                         const Size* origin, const Size* host_origin,
                                         const Size* region, Size row_pitch, Size slice_pitch,
                                         Size host_row_pitch, Size host_slice_pitch, void* to,
                                         cl_uint wait_count, const cl_event* waits,
                                         cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(buffer)) {
    command.transfer(kind_of_call(blocks), rectangle(origin, region, row_pitch, slice_pitch),
                     false);
  }
  return command.finish(below->clEnqueueReadBufferRect(
      queue, buffer, blocks, origin, host_origin, region, row_pitch, slice_pitch, host_row_pitch,
      host_slice_pitch, to, wait_count, waits, command.event()));
}

cl_int CL_API_CALL write_buffer_rectangle(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                          const Size* origin, const Size* host_origin,
                                          const Size* region, Size row_pitch, Size slice_pitch,
                                          Size host_row_pitch, Size host_slice_pitch,
                                          const void* from, cl_uint wait_count,
                                          const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(buffer)) {
    command.transfer(kind_of_call(blocks), rectangle(origin, region, row_pitch, slice_pitch), true);
  }
  return command.finish(below->clEnqueueWriteBufferRect(
      queue, buffer, blocks, origin, host_origin, region, row_pitch, slice_pitch, host_row_pitch,
      host_slice_pitch, from, wait_count, waits, command.event()));
}

cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem image, cl_bool blocks,
                              const Size* origin, const Size* region, Size row_pitch,
                              Size slice_pitch, void* to, cl_uint wait_count, const cl_event* waits,
                              cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(image)) {
    command.transfer(kind_of_call(blocks), region_of(command.use(0), origin, region), false);
  }
  return command.finish(below->clEnqueueReadImage(queue, image, blocks, origin, region, row_pitch,
                                                  slice_pitch, to, wait_count, waits,
                                                  command.event()));
}

cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem image, cl_bool blocks,
                               const Size* origin, const Size* region, Size row_pitch,
                               Size slice_pitch, const void* from, cl_uint wait_count,
                               const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(image)) {
    command.transfer(kind_of_call(blocks), region_of(command.use(0), origin, region), true);
  }
  return command.finish(below->clEnqueueWriteImage(queue, image, blocks, origin, region, row_pitch,
                                                   slice_pitch, from, wait_count, waits,
                                                   command.event()));
}

cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                               Size pattern_bytes, Size offset, Size bytes, cl_uint wait_count,
                               const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(buffer)) command.copy(nullptr, {}, command.use(0), {offset, bytes, 0, 0});
  return command.finish(below->clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, offset,
                                                   bytes, wait_count, waits, command.event()));
}

cl_int CL_API_CALL fill_image(cl_command_queue queue, cl_mem image, const void* colour,
                              const Size* origin, const Size* region, cl_uint wait_count,
                              const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(image)) {
    command.copy(nullptr, {}, command.use(0), region_of(command.use(0), origin, region));
  }
  return command.finish(below->clEnqueueFillImage(queue, image, colour, origin, region, wait_count,
                                                  waits, command.event()));
}

cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem source, cl_mem destination, Size from,
                               Size to, Size bytes, cl_uint wait_count, const cl_event* waits,
                               cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(source) && command.uses(destination)) {
    command.copy(&command.use(0), {from, bytes, 0, 0}, command.use(1), {to, bytes, 0, 0});
  }
  return command.finish(below->clEnqueueCopyBuffer(queue, source, destination, from, to, bytes,
                                                   wait_count, waits, command.event()));
}

cl_int CL_API_CALL copy_buffer_rectangle(cl_command_queue queue, cl_mem source, cl_mem destination,
                                         const Size* from, const Size* to, const Size* region,
                                         Size source_row_pitch, Size source_slice_pitch,
                                         Size row_pitch, Size slice_pitch, cl_uint wait_count,
                                         const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(source) && command.uses(destination)) {
    command.copy(&command.use(0), rectangle(from, region, source_row_pitch, source_slice_pitch),
                 command.use(1), rectangle(to, region, row_pitch, slice_pitch));
  }
  return command.finish(below->clEnqueueCopyBufferRect(
      queue, source, destination, from, to, region, source_row_pitch, source_slice_pitch, row_pitch,
      slice_pitch, wait_count, waits, command.event()));
}

cl_int CL_API_CALL copy_image(cl_command_queue queue, cl_mem source, cl_mem destination,
                              const Size* from, const Size* to, const Size* region,
                              cl_uint wait_count, const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(source) && command.uses(destination)) {
    command.copy(&command.use(0), region_of(command.use(0), from, region), command.use(1),
                 region_of(command.use(1), to, region));
  }
  return command.finish(below->clEnqueueCopyImage(queue, source, destination, from, to, region,
                                                  wait_count, waits, command.event()));
}

cl_int CL_API_CALL copy_image_to_buffer(cl_command_queue queue, cl_mem source, cl_mem destination,
                                        const Size* from, const Size* region, Size to,
                                        cl_uint wait_count, const cl_event* waits,
                                        cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(source) && command.uses(destination)) {
    const Region read = region_of(command.use(0), from, region);
    command.copy(&command.use(0), read, command.use(1), {to, read.bytes, 0, 0});
  }
  return command.finish(below->clEnqueueCopyImageToBuffer(queue, source, destination, from, region,
                                                          to, wait_count, waits, command.event()));
}

cl_int CL_API_CALL copy_buffer_to_image(cl_command_queue queue, cl_mem source, cl_mem destination,
                                        Size from, const Size* to, const Size* region,
                                        cl_uint wait_count, const cl_event* waits,
                                        cl_event* event) {
  Command command({queue, wait_count, waits, event});
  if (command.uses(source) && command.uses(destination)) {
    const Region written = region_of(command.use(1), to, region);
    command.copy(&command.use(0), {from, written.bytes, 0, 0}, command.use(1), written);
  }
  return command.finish(below->clEnqueueCopyBufferToImage(
      queue, source, destination, from, to, region, wait_count, waits, command.event()));
}

}  // namespace

void install_transfer_calls(cl_icd_dispatch* own) {
  own->clEnqueueReadBuffer = read_buffer;
  own->clEnqueueWriteBuffer = write_buffer;
  own->clEnqueueReadBufferRect = read_buffer_rectangle;
  own->clEnqueueWriteBufferRect = write_buffer_rectangle;
  own->clEnqueueReadImage = read_image;
  own->clEnqueueWriteImage = write_image;
  own->clEnqueueFillBuffer = fill_buffer;
  own->clEnqueueFillImage = fill_image;
  own->clEnqueueCopyBuffer = copy_buffer;
  own->clEnqueueCopyBufferRect = copy_buffer_rectangle;
  own->clEnqueueCopyImage = copy_image;
  own->clEnqueueCopyImageToBuffer = copy_image_to_buffer;
  own->clEnqueueCopyBufferToImage = copy_buffer_to_image;
}

}  // namespace fm
