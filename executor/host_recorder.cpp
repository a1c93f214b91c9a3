#include "executor/host_recorder.hpp"

#include <algorithm>

#include "kernels/catalogue.hpp"

namespace fm {
namespace {

/// Shorter gaps between operations are bookkeeping noise of this program.
constexpr std::uint64_t shortest_think = 20'000;

}  // namespace

std::uint64_t HostRecorder::now() const {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - origin_).count());
}

std::uint64_t HostRecorder::new_object() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ++last_object_;
}

std::uint64_t HostRecorder::begin(std::uint32_t thread, trace::HostOperation operation,
                                  const Causes& after, std::optional<std::uint64_t> since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::uint64_t at = since.value_or(now());
  const std::uint64_t idle_since = last_end_[thread];
  if (thread == main_thread && at > idle_since && at - idle_since >= shortest_think) {
    append(thread, think_operation(trace::Think::OTHER, at - idle_since), {}, idle_since);
    if (keeping_) operations_.back().mutable_measured()->set_ended(at);
  }
  append(thread, std::move(operation), after, at);
  return last_id_;
}

void HostRecorder::append(std::uint32_t thread, trace::HostOperation operation, const Causes& after,
                          std::uint64_t at) {
  account(operation, at);
  ++last_id_;
  if (!keeping_) return;
  operation.set_id(last_id_);
  operation.set_thread(thread);
  for (std::uint64_t cause : after) {
    if (cause != 0) operation.add_after(cause);
  }
  trace::Measured* measured = operation.mutable_measured();
  measured->set_queued(at);
  measured->set_submitted(at);
  measured->set_started(at);
  measured->set_ended(at);
  operations_.push_back(std::move(operation));
}

void HostRecorder::account(const trace::HostOperation& operation, std::uint64_t at) {
  const Nanoseconds time(at);
  if (operation.has_create()) accountant_.create(operation.create(), time);
  if (operation.has_release()) accountant_.release(operation.release().object(), time);
  if (operation.has_change_class()) accountant_.change(operation.change_class(), time);
}

trace::HostOperation* HostRecorder::find(std::uint64_t id) {
  // Ids are dense from 1 while operations are kept.
  return id >= 1 && id <= operations_.size() ? &operations_[id - 1] : nullptr;
}

void HostRecorder::end(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trace::HostOperation* operation = find(id);
  if (!operation) return;
  operation->mutable_measured()->set_ended(now());
  last_end_[operation->thread()] = operation->measured().ended();
}

std::uint64_t HostRecorder::note(std::uint32_t thread, trace::HostOperation operation,
                                 const Causes& after, std::optional<std::uint64_t> since) {
  const std::uint64_t id = begin(thread, std::move(operation), after, since);
  end(id);
  return id;
}

void HostRecorder::measure(std::uint64_t id, const EventTimes& times) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trace::HostOperation* operation = find(id);
  if (!operation) return;
  trace::Measured* measured = operation->mutable_measured();
  measured->set_submitted(std::max(measured->queued(), times.submitted));
  measured->set_started(times.started);
  measured->set_ended(times.ended);
}

void HostRecorder::skip_idle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_end_[main_thread] = now();
}

void HostRecorder::stop_keeping() {
  const std::lock_guard<std::mutex> lock(mutex_);
  keeping_ = false;
  accountant_.stop_sampling(Nanoseconds(now()));
}

ResultMemory HostRecorder::memory() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return accountant_.summary(Nanoseconds(now()));
}

Bytes HostRecorder::memory(trace::MemoryClass memory_class) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return accountant_.bytes(memory_class);
}

MemoryClaims HostRecorder::held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return accountant_.held();
}

trace::MemoryClass class_when_preloaded(const WeightSlice& slice, const PlanTensor& tensor) {
  if (stays(slice)) return trace::PRELOADED;
  return tensor.placement == Placement::image2d ? trace::TM_IN_FLIGHT : trace::UM_IN_FLIGHT;
}

trace::HostOperation create_buffer_operation(std::uint64_t object, trace::MemoryClass memory_class,
                                             Bytes bytes, const std::string& name) {
  trace::HostOperation operation;
  trace::CreateObject* create = operation.mutable_create();
  create->set_object(object);
  create->set_memory_class(memory_class);
  create->set_bytes(bytes.count());
  create->set_name(name);
  return operation;
}

trace::HostOperation create_image_operation(std::uint64_t object, trace::MemoryClass memory_class,
                                            GridExtent extent, Bytes texel,
                                            const std::string& name) {
  trace::HostOperation operation =
      create_buffer_operation(object, memory_class, texel * (extent.width * extent.height), name);
  trace::CreateObject* create = operation.mutable_create();
  create->set_image(true);
  create->set_width(static_cast<std::uint32_t>(extent.width));
  create->set_height(static_cast<std::uint32_t>(extent.height));
  create->set_texel_bytes(static_cast<std::uint32_t>(texel.count()));
  return operation;
}

trace::HostOperation release_operation(std::uint64_t object) {
  trace::HostOperation operation;
  operation.mutable_release()->set_object(object);
  return operation;
}

trace::HostOperation rows_read_operation(const std::string& tensor,
                                         const std::vector<RowRead>& rows, Bytes row_bytes,
                                         std::uint64_t object) {
  trace::HostOperation operation;
  trace::DiskRead* read = operation.mutable_disk_read();
  read->set_bytes((row_bytes * rows.size()).count());
  read->set_object(object);
  read->set_request_bytes(row_bytes.count());
  read->set_weight(tensor);
  for (const RowRead& row : rows) {
    trace::ScatteredRange* range = read->add_scattered();
    range->set_file_offset(row.file_offset.count());
    range->set_object_offset((row_bytes * row.rows[0]).count());
  }
  return operation;
}

trace::HostOperation map_operation(std::uint64_t object, Bytes bytes, bool write) {
  trace::HostOperation operation;
  operation.mutable_map()->set_object(object);
  operation.mutable_map()->set_bytes(bytes.count());
  operation.mutable_map()->set_write(write);
  return operation;
}

trace::HostOperation unmap_operation(std::uint64_t object, Bytes bytes) {
  trace::HostOperation operation;
  operation.mutable_unmap()->set_object(object);
  operation.mutable_unmap()->set_bytes(bytes.count());
  return operation;
}

trace::HostOperation wait_operation() {
  trace::HostOperation operation;
  operation.mutable_wait();
  return operation;
}

trace::HostOperation think_operation(trace::Think::Phase phase, std::uint64_t nanoseconds,
                                     std::uint32_t programs) {
  trace::HostOperation operation;
  operation.mutable_think()->set_phase(phase);
  operation.mutable_think()->set_nanoseconds(nanoseconds);
  operation.mutable_think()->set_programs(programs);
  return operation;
}

trace::HostOperation change_class_operation(std::uint64_t object, trace::MemoryClass from,
                                            trace::MemoryClass to, Bytes bytes) {
  trace::HostOperation operation;
  trace::ChangeClass* change = operation.mutable_change_class();
  change->set_object(object);
  change->set_from(from);
  change->set_to(to);
  change->set_bytes(bytes.count());
  return operation;
}

trace::HostOperation launch_operation(
    const PlanLaunch& launch, const std::function<LoggedPlace(const std::string& tensor)>& place_of,
    const std::vector<LoggedStream>& streams) {
  trace::HostOperation operation;
  trace::Launch* logged = operation.mutable_launch();
  logged->set_launch(launch.id);
  logged->set_queue(compute_queue_number);
  logged->set_macs(launch.macs);
  logged->set_operation(launch.operation);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto* tensor = std::get_if<TensorArgument>(&launch.arguments[i]);
    if (!tensor) continue;
    const LoggedPlace place = place_of(tensor->tensor);
    trace::Argument* argument = logged->add_arguments();
    argument->set_index(static_cast<std::uint32_t>(i));
    argument->set_object(place.object);
    argument->set_offset(place.offset.count());
    argument->set_tensor(tensor->tensor);
  }
  // Without the weight's name: moving it is no use of it.
  for (std::size_t slot = 0; slot < streams.size(); ++slot) {
    const std::size_t first = launch.arguments.size() + slot * arguments_a_stream;
    trace::Argument* source = logged->add_arguments();
    source->set_index(static_cast<std::uint32_t>(first));
    source->set_object(streams[slot].source.object);
    source->set_offset(streams[slot].source.offset.count());
    trace::Argument* image = logged->add_arguments();
    image->set_index(static_cast<std::uint32_t>(first + 2));
    image->set_object(streams[slot].image);
  }
  return operation;
}

trace::HostOperation transfer_operation(std::uint64_t object, Bytes offset, Bytes bytes,
                                        bool to_device) {
  trace::HostOperation operation;
  trace::HostTransfer* transfer = operation.mutable_transfer();
  transfer->set_object(object);
  transfer->set_offset(offset.count());
  transfer->set_bytes(bytes.count());
  transfer->set_to_device(to_device);
  return operation;
}

}  // namespace fm
