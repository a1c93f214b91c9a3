// Events, markers and barriers.
#include "executor/recorder_layer/calls.hpp"
#include "executor/recorder_layer/command.hpp"

namespace fm {
namespace {

cl_event CL_API_CALL create_user_event(cl_context context, cl_int* code) {
  const cl_event made = below->clCreateUserEvent(context, code);
  if (made != nullptr) record([&](ApiRecorder& recorder) { recorder.add_user_event(made); });
  return made;
}

cl_int CL_API_CALL set_user_event_status(cl_event event, cl_int status) {
  const std::uint64_t since = record_time();
  const cl_int code = below->clSetUserEventStatus(event, status);
  if (code == CL_SUCCESS) {
    record([&](ApiRecorder& recorder) { recorder.user_event_set(event, since); });
  }
  return code;
}

cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event* events) {
  const std::uint64_t since = record_time();
  const cl_int code = below->clWaitForEvents(count, events);
  if (code == CL_SUCCESS) {
    record([&](ApiRecorder& recorder) { recorder.wait_for(events, count, since); });
    CommandWatch::instance().collect();
  }
  return code;
}

cl_int CL_API_CALL enqueue_marker_with_wait_list(cl_command_queue queue, cl_uint wait_count,
                                                 const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  command.begin_marker(false);
  return command.finish(
      below->clEnqueueMarkerWithWaitList(queue, wait_count, waits, command.event()));
}

cl_int CL_API_CALL enqueue_barrier_with_wait_list(cl_command_queue queue, cl_uint wait_count,
                                                  const cl_event* waits, cl_event* event) {
  Command command({queue, wait_count, waits, event});
  command.begin_marker(true);
  return command.finish(
      below->clEnqueueBarrierWithWaitList(queue, wait_count, waits, command.event()));
}

cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_event* event) {
  Command command({queue, 0, nullptr, event});
  command.begin_marker(false);
  return command.finish(below->clEnqueueMarker(queue, command.event()));
}

cl_int CL_API_CALL enqueue_barrier(cl_command_queue queue) {
  Command command({queue, 0, nullptr, nullptr});
  command.begin_marker(true);
  return command.finish_without_event(below->clEnqueueBarrier(queue));
}

cl_int CL_API_CALL enqueue_wait_for_events(cl_command_queue queue, cl_uint count,
                                           const cl_event* events) {
  Command command({queue, count, events, nullptr});
  command.begin_marker(true);
  return command.finish_without_event(below->clEnqueueWaitForEvents(queue, count, events));
}

}  // namespace

void install_event_calls(cl_icd_dispatch* own) {
  own->clCreateUserEvent = create_user_event;
  own->clSetUserEventStatus = set_user_event_status;
  own->clWaitForEvents = wait_for_events;
  own->clEnqueueMarkerWithWaitList = enqueue_marker_with_wait_list;
  own->clEnqueueBarrierWithWaitList = enqueue_barrier_with_wait_list;
  own->clEnqueueMarker = enqueue_marker;
  own->clEnqueueBarrier = enqueue_barrier;
  own->clEnqueueWaitForEvents = enqueue_wait_for_events;
}

}  // namespace fm
