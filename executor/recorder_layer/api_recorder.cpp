#include "executor/recorder_layer/api_recorder.hpp"

#include <algorithm>
#include <fstream>

#include "core/version.hpp"

namespace fm {
namespace {

/// Shorter gaps between calls are bookkeeping noise.
constexpr std::uint64_t shortest_think = 20'000;
constexpr std::uint32_t driver_threads = 1'000'000;  // then one a queue lane
constexpr std::uint32_t release_thread = driver_threads - 1;
/// Commands of an out-of-order queue that a barrier still has to name one by one.
constexpr std::size_t most_outstanding = 64;

struct CallingThread {
  std::uint32_t number = 0;
  bool numbered = false;
  std::uint64_t last_end = 0;
};
thread_local CallingThread calling;

std::string program_name() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::uint64_t lane_key(bool host_operation, std::uint32_t lane) {
  return std::uint64_t{host_operation} << 32 | lane;
}

}  // namespace

ApiRecorder::ApiRecorder(const std::string& path, const RecorderTraits& traits)
    : traits_(traits), stream_(path) {}

std::uint64_t ApiRecorder::now() const {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - origin_).count());
}

void ApiRecorder::describe_device(const std::map<std::string, std::string>& facts) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stream_.has_header()) return;
  trace::Header header;
  header.set_recorder(traits_.tool + " " + version + ", " + program_name());
  header.mutable_device()->insert(facts.begin(), facts.end());
  stream_.write_header(header);
}

void ApiRecorder::leave_out(const std::string& what, std::uint64_t times) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stream_.leave_out(what, times);
}

std::uint32_t ApiRecorder::thread() {
  if (!calling.numbered) calling = {threads_++, true, now()};
  return calling.number;
}

void ApiRecorder::call_ended() { calling.last_end = now(); }

OperationId ApiRecorder::append(std::uint32_t thread, trace::HostOperation operation,
                                const std::vector<OperationId>& after, std::uint64_t since,
                                std::uint64_t ended, bool open) {
  operation.set_thread(thread);
  for (const OperationId cause : after) {
    if (cause != 0) operation.add_after(cause);
  }
  trace::Measured* measured = operation.mutable_measured();
  measured->set_queued(since);
  measured->set_submitted(since);
  measured->set_started(since);
  measured->set_ended(ended);
  return stream_.add(std::move(operation), open);
}

/// The host's own time since the thread's last call.
void ApiRecorder::think_until(std::uint64_t since) {
  const std::uint32_t number = thread();
  if (!traits_.host_time || since < calling.last_end + shortest_think) return;
  trace::HostOperation think;
  think.mutable_think()->set_nanoseconds(since - calling.last_end);
  append(number, std::move(think), {}, calling.last_end, since);
}

/// A point of a thread's program that others can wait for.
OperationId ApiRecorder::marker(std::uint32_t number) {
  trace::HostOperation operation;
  operation.mutable_wait();
  const std::uint64_t at = now();
  return append(number, std::move(operation), {}, at, at);
}

void ApiRecorder::note_context(std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  think_until(since);
  trace::HostOperation operation;
  operation.mutable_think()->set_phase(trace::Think::CONTEXT);
  operation.mutable_think()->set_nanoseconds(now() - since);
  append(thread(), std::move(operation), {}, since, now());
  call_ended();
}

void ApiRecorder::note_program(std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  think_until(since);
  trace::HostOperation operation;
  operation.mutable_think()->set_phase(trace::Think::PROGRAMS);
  operation.mutable_think()->set_programs(1);
  operation.mutable_think()->set_nanoseconds(now() - since);
  append(thread(), std::move(operation), {}, since, now());
  call_ended();
}

// ---- queues ------------------------------------------------------------------------------------

bool ApiRecorder::knows(cl_command_queue handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queues_.count(handle) != 0;
}

void ApiRecorder::add_queue(cl_command_queue handle, const QueueFacts& facts) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ApiQueue queue;
  queue.facts = facts;
  queue.number = queue_numbers_++;
  queue.last_thread = thread();
  queues_[handle] = queue;
}

std::optional<QueueFacts> ApiRecorder::queue(cl_command_queue handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = queues_.find(handle);
  if (found == queues_.end()) return std::nullopt;
  return found->second.facts;
}

void ApiRecorder::finish(cl_command_queue handle, std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ApiQueue& queue = queues_.at(handle);
  think_until(since);
  std::vector<OperationId> after = queue.outstanding;
  after.push_back(queue.barrier);
  trace::HostOperation operation;
  operation.mutable_wait();
  append(thread(), std::move(operation), after, since, now());
  call_ended();
}

/// Threads that share a queue enqueue in the order they did.
void ApiRecorder::keep_order(ApiQueue* queue, std::uint32_t number) {
  const std::uint32_t other = std::exchange(queue->last_thread, number);
  if (other == number) return;
  const OperationId reached = marker(other);
  trace::HostOperation wait;
  wait.mutable_wait();
  const std::uint64_t at = now();
  append(number, std::move(wait), {reached}, at, at);
}

void ApiRecorder::add_to_queue(ApiQueue* queue, OperationId id, bool host_operation) {
  ++queue->commands;
  queue->last_is_host_operation = host_operation;
  if (queue->facts.in_order) queue->outstanding.clear();
  queue->outstanding.push_back(id);
  if (queue->outstanding.size() <= most_outstanding) return;
  trace::HostOperation join;
  join.mutable_wait();
  const std::uint64_t at = now();
  const OperationId joined = append(driver_threads + queue->number * lanes_of_a_queue,
                                    std::move(join), queue->outstanding, at, at);
  queue->outstanding = {joined};
}

// ---- memory ------------------------------------------------------------------------------------

namespace {

void describe(const MemoryObject& object, const CreatedObject& created,
              trace::CreateObject* create) {
  create->set_object(object.id);
  create->set_memory_class(trace::ACTIVATIONS);
  create->set_bytes(created.bytes);
  create->set_name((created.image ? "image" : "buffer") + std::to_string(object.id));
  if (!created.image) return;
  create->set_image(true);
  create->set_width(static_cast<std::uint32_t>(created.width));
  create->set_height(static_cast<std::uint32_t>(created.height));
  create->set_texel_bytes(static_cast<std::uint32_t>(created.element));
}

}  // namespace

std::uint64_t ApiRecorder::add_object(cl_mem handle, const CreatedObject& created, bool filled,
                                      std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  think_until(since);
  const auto object = std::make_shared<MemoryObject>();
  object->id = ++objects_;
  object->bytes = created.bytes;
  object->image = created.image;
  object->thread = thread();
  trace::HostOperation operation;
  describe(*object, created, operation.mutable_create());
  object->created =
      append(object->thread, std::move(operation), {}, since, now(), created.undecided);
  memory_[handle] = {object, 0, created.bytes, created.element, created.width, created.height};
  objects_by_id_[object->id] = object;
  if (filled) {
    trace::HostOperation fill;
    fill.mutable_transfer()->set_object(object->id);
    fill.mutable_transfer()->set_bytes(created.bytes);
    fill.mutable_transfer()->set_to_device(true);
    append(object->thread, std::move(fill), {}, since, now());
  }
  call_ended();
  return object->id;
}

void ApiRecorder::decide(cl_mem handle, const CreatedObject& created) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MemoryView& view = memory_.at(handle);
  view.element = created.element;
  view.width = created.width;
  view.height = created.height;
  view.object->image = created.image;
  trace::HostOperation* const operation = stream_.open_operation(view.object->created);
  if (operation == nullptr) return;
  describe(*view.object, created, operation->mutable_create());
  stream_.close(view.object->created);
}

void ApiRecorder::add_view(cl_mem handle, cl_mem parent, std::uint64_t offset,
                           const CreatedObject& created) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = memory_.find(parent);
  if (found == memory_.end()) return;
  const MemoryView of = found->second;
  memory_[handle] = {of.object,       of.offset + offset, created.bytes,
                     created.element, created.width,      created.height};
}

void ApiRecorder::destroyed(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = objects_by_id_.find(id);
  if (found == objects_by_id_.end()) return;
  MemoryObject& object = *found->second;
  std::vector<OperationId> after{object.created};
  for (const auto& [lane, use] : object.last_uses) after.push_back(use);
  // A thread of the driver may be the one that notices: its uses say when.
  if (calling.numbered) after.push_back(marker(calling.number));
  trace::HostOperation operation;
  operation.mutable_release()->set_object(id);
  const std::uint64_t at = now();
  append(release_thread, std::move(operation), after, at, at);
  object.alive = false;
  objects_by_id_.erase(found);
}

std::optional<MemoryView> ApiRecorder::memory(cl_mem handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = memory_.find(handle);
  if (found == memory_.end() || !found->second.object->alive) return std::nullopt;
  return found->second;
}

void ApiRecorder::mapped(cl_mem handle, const void* pointer, std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = memory_.find(handle);
  if (found != memory_.end()) found->second.object->mapped[pointer] = bytes;
}

std::uint64_t ApiRecorder::unmapped(cl_mem handle, const void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = memory_.find(handle);
  if (found == memory_.end()) return 0;
  const auto range = found->second.object->mapped.find(pointer);
  return range == found->second.object->mapped.end() ? found->second.bytes : range->second;
}

// ---- kernels -----------------------------------------------------------------------------------

void ApiRecorder::add_access_program(const trace::AccessProgram& program) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stream_.add(program);
}

void ApiRecorder::add_program(cl_program program, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  programs_[program] = digest;
}

std::string ApiRecorder::program_digest(cl_program program) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = programs_.find(program);
  return found == programs_.end() ? "" : found->second;
}

void ApiRecorder::add_kernel(cl_kernel kernel, const std::string& name,
                             const std::string& program_digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  kernels_[kernel] = {name, program_digest, {}};
}

void ApiRecorder::clone_kernel(cl_kernel source, cl_kernel clone) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const ApiKernel copied = kernels_[source];
  kernels_[clone] = copied;
}

void ApiRecorder::set_argument(cl_kernel kernel, std::uint32_t index, std::size_t size,
                               const void* value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto entry = kernels_.find(kernel);
  if (entry == kernels_.end()) return;
  auto& arguments = entry->second.arguments;
  // A number of a pointer's size may look like a handle, hardly ever like one that is in use.
  const auto found = size == sizeof(cl_mem) && value != nullptr
                         ? memory_.find(*static_cast<const cl_mem*>(value))
                         : memory_.end();
  if (found == memory_.end()) {
    arguments.erase(index);
  } else {
    arguments[index] = found->second;
  }
}

/// Those that are there.
std::vector<MemoryView> ApiRecorder::arguments(cl_kernel kernel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<MemoryView> views;
  for (const auto& [index, view] : kernels_[kernel].arguments) {
    if (view.object->alive) views.push_back(view);
  }
  return views;
}

trace::HostOperation ApiRecorder::launch(cl_kernel kernel, cl_uint dimensions,
                                         const std::size_t* offset, const std::size_t* global,
                                         const std::size_t* local) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const ApiKernel& launched = kernels_[kernel];
  trace::HostOperation operation;
  trace::Launch* launch = operation.mutable_launch();
  launch->set_launch("K" + std::to_string(launches_++));
  trace::ForeignKernel* foreign = launch->mutable_kernel();
  foreign->set_name(launched.name);
  foreign->set_program_digest(launched.program_digest);
  for (cl_uint d = 0; d < dimensions; ++d) {
    if (global != nullptr) foreign->add_global_size(global[d]);
    if (local != nullptr) foreign->add_local_size(local[d]);
    if (offset != nullptr) foreign->add_global_offset(offset[d]);
  }
  for (const auto& [index, view] : launched.arguments) {
    if (!view.object->alive) continue;
    trace::Argument* argument = launch->add_arguments();
    argument->set_index(index);
    argument->set_object(view.object->id);
    argument->set_offset(view.offset);
  }
  return operation;
}

// ---- events ------------------------------------------------------------------------------------

void ApiRecorder::add_user_event(cl_event event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  events_[event] = 0;
}

void ApiRecorder::user_event_set(cl_event event, std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  think_until(since);
  events_[event] = marker(thread());
}

void ApiRecorder::add_waits(const cl_event* waits, cl_uint count, std::vector<OperationId>* after) {
  for (cl_uint i = 0; i < count; ++i) {
    const auto found = events_.find(waits[i]);
    if (found != events_.end() && found->second != 0) {
      after->push_back(found->second);
    } else {
      stream_.leave_out("waits for events that the program itself sets later");
    }
  }
}

void ApiRecorder::wait_for(const cl_event* events, cl_uint count, std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  think_until(since);
  std::vector<OperationId> after;
  add_waits(events, count, &after);
  trace::HostOperation operation;
  operation.mutable_wait();
  append(thread(), std::move(operation), after, since, now());
  call_ended();
}

// ---- commands ----------------------------------------------------------------------------------

/// On other threads an object may not be there yet.
void ApiRecorder::add_creations(const std::vector<MemoryView>& uses, std::uint32_t number,
                                std::vector<OperationId>* after) const {
  for (const MemoryView& use : uses) {
    if (use.object->thread != number) after->push_back(use.object->created);
  }
}

OperationId ApiRecorder::begin(cl_command_queue handle, CommandKind kind,
                               trace::HostOperation operation, const std::vector<MemoryView>& uses,
                               const cl_event* waits, cl_uint wait_count, std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  think_until(since);
  ApiQueue& queue = queues_.at(handle);
  const std::uint32_t host = thread();
  keep_order(&queue, host);
  const bool host_operation = kind != CommandKind::device;
  std::uint32_t lane = queue.number * lanes_of_a_queue;
  if (!queue.facts.in_order) lane += queue.commands % lanes_of_a_queue;
  std::vector<OperationId> after;
  // Commands of one lane follow each other anyway.
  if (!queue.facts.in_order) after.push_back(queue.barrier);
  if (queue.facts.in_order && (host_operation || queue.last_is_host_operation)) {
    after = queue.outstanding;
  }
  add_waits(waits, wait_count, &after);
  std::uint32_t on_thread = host;
  if (kind == CommandKind::deferred) {
    after.push_back(marker(host));
    on_thread = driver_threads + lane;
  }
  add_creations(uses, on_thread, &after);
  if (operation.has_launch()) operation.mutable_launch()->set_queue(lane);
  if (operation.has_copy()) operation.mutable_copy()->set_queue(lane);
  const OperationId id = append(on_thread, std::move(operation), after, since, since, true);
  const std::uint64_t key = lane_key(host_operation, host_operation ? on_thread : lane);
  for (const MemoryView& use : uses) use.object->last_uses[key] = id;
  add_to_queue(&queue, id, host_operation);
  return id;
}

OperationId ApiRecorder::begin_marker(cl_command_queue handle, bool barrier, const cl_event* waits,
                                      cl_uint wait_count, std::uint64_t since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  think_until(since);
  ApiQueue& queue = queues_.at(handle);
  const std::uint32_t host = thread();
  keep_order(&queue, host);
  std::vector<OperationId> after{marker(host), queue.barrier};
  add_waits(waits, wait_count, &after);
  if (wait_count == 0 || queue.facts.in_order) {
    after.insert(after.end(), queue.outstanding.begin(), queue.outstanding.end());
  }
  trace::HostOperation operation;
  operation.mutable_wait();
  const std::uint32_t lane = queue.number * lanes_of_a_queue;
  const OperationId id =
      append(driver_threads + lane, std::move(operation), after, since, since, true);
  add_to_queue(&queue, id, true);
  if (barrier) queue.barrier = id;
  return id;
}

void ApiRecorder::cancel(OperationId id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trace::HostOperation* const operation = stream_.open_operation(id);
  if (operation == nullptr) return;
  operation->clear_after();  // others may wait for it
  operation->mutable_wait();
  stream_.leave_out("commands that the driver refused");
  stream_.close(id);
}

void ApiRecorder::begun(OperationId id, cl_event event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  call_ended();
  if (event != nullptr) events_[event] = id;
}

void ApiRecorder::ended(OperationId id, const std::optional<CommandTimes>& times) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trace::HostOperation* const operation = stream_.open_operation(id);
  if (operation == nullptr) return;
  if (times) {
    trace::Measured* measured = operation->mutable_measured();
    const auto on_host = [&](std::uint64_t device_time) {
      return measured->queued() + (device_time - std::min(device_time, times->queued));
    };
    measured->set_submitted(on_host(times->submitted));
    measured->set_started(on_host(times->started));
    measured->set_ended(on_host(times->ended));
    if (operation->has_launch()) {
      trace::ForeignKernel* kernel = operation->mutable_launch()->mutable_kernel();
      kernel->set_duration_ns(times->ended - std::min(times->started, times->ended));
      kernel->set_timed(true);
    }
  }
  stream_.close(id);
}

void ApiRecorder::finish_file() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stream_.finish();
}

}  // namespace fm
