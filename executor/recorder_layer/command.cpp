#include "executor/recorder_layer/command.hpp"

namespace fm {

void learn_queue(cl_command_queue queue) {
  record([&](ApiRecorder& recorder) {
    if (recorder.knows(queue)) return;
    cl_command_queue_properties properties = 0;
    if (below->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                     nullptr) != CL_SUCCESS) {
      return;  // no queue at all: the driver will say so
    }
    QueueFacts facts;
    facts.properties = properties;
    facts.in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    facts.timed = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    recorder.add_queue(queue, facts);
  });
}

Command::Command(const EnqueueArguments& arguments)
    : arguments_(arguments), asked_(arguments.event), since_(record_time()) {
  learn_queue(arguments_.queue);
  record([&](ApiRecorder& recorder) {
    const std::optional<QueueFacts> facts = recorder.queue(arguments_.queue);
    known_ = facts.has_value();
    timed_ = known_ && facts->timed;
  });
}

bool Command::uses(cl_mem handle) {
  if (!known_) return false;
  record([&](ApiRecorder& recorder) {
    const std::optional<MemoryView> view = recorder.memory(handle);
    known_ = view.has_value();
    if (known_) {
      uses_.push_back(*view);
    } else {
      recorder.leave_out("commands on memory of unknown origin");
    }
  });
  return known_;
}

void Command::begin(CommandKind kind, trace::HostOperation operation) {
  blocking_ = kind == CommandKind::blocking;
  record([&](ApiRecorder& recorder) {
    id_ = recorder.begin(arguments_.queue, kind, std::move(operation), uses_, arguments_.waits,
                         arguments_.wait_count, since_);
  });
}

void Command::begin_marker(bool barrier) {
  if (!known_) return;
  record([&](ApiRecorder& recorder) {
    id_ = recorder.begin_marker(arguments_.queue, barrier, arguments_.waits, arguments_.wait_count,
                                since_);
  });
}

void Command::launch(cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
                     const std::size_t* global, const std::size_t* local) {
  if (!known_) return;
  record([&](ApiRecorder& recorder) {
    uses_ = recorder.arguments(kernel);
    begin(CommandKind::device, recorder.launch(kernel, dimensions, offset, global, local));
  });
}

void Command::transfer(CommandKind kind, const Region& region, bool to_device) {
  trace::HostOperation operation;
  trace::HostTransfer* transfer = operation.mutable_transfer();
  transfer->set_object(use(0).object->id);
  transfer->set_offset(use(0).offset + region.offset);
  transfer->set_bytes(region.bytes);
  transfer->set_to_device(to_device);
  begin(kind, std::move(operation));
}

void Command::copy(const MemoryView* source, const Region& from, const MemoryView& destination,
                   const Region& to) {
  trace::HostOperation operation;
  trace::Copy* copy = operation.mutable_copy();
  if (source != nullptr) {
    copy->set_source(source->object->id);
    copy->set_source_offset(source->offset + from.offset);
  }
  copy->set_destination(destination.object->id);
  copy->set_bytes(to.bytes);
  if (destination.object->image) {
    copy->set_first_row(to.first_row);
    copy->set_rows(to.rows);
  } else {
    copy->set_destination_offset(destination.offset + to.offset);
  }
  begin(CommandKind::device, std::move(operation));
}

void Command::map(CommandKind kind, std::uint64_t bytes, cl_map_flags flags) {
  trace::HostOperation operation;
  operation.mutable_map()->set_object(use(0).object->id);
  operation.mutable_map()->set_bytes(bytes);
  operation.mutable_map()->set_write((flags & CL_MAP_READ) == 0);
  begin(kind, std::move(operation));
}

void Command::unmap(std::uint64_t bytes) {
  trace::HostOperation operation;
  operation.mutable_unmap()->set_object(use(0).object->id);
  operation.mutable_unmap()->set_bytes(bytes);
  begin(CommandKind::deferred, std::move(operation));
}

cl_int Command::finish_without_event(cl_int code) {
  if (id_ == 0) return code;
  record([&](ApiRecorder& recorder) {
    if (code != CL_SUCCESS) return recorder.cancel(id_);
    recorder.begun(id_, nullptr);
    recorder.ended(id_, std::nullopt);
  });
  return code;
}

cl_int Command::finish(cl_int code) {
  if (id_ == 0) return code;
  if (code != CL_SUCCESS) {
    record([&](ApiRecorder& recorder) { recorder.cancel(id_); });
    return code;
  }
  const cl_event made = *event();
  record([&](ApiRecorder& recorder) { recorder.begun(id_, asked_ == nullptr ? nullptr : made); });
  if (asked_ != nullptr) below->clRetainEvent(made);  // an own event brings its reference
  CommandWatch::instance().add(id_, made, timed_);
  if (blocking_) CommandWatch::instance().collect();
  return code;
}

}  // namespace fm
