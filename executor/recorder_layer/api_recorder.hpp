#pragma once
// From OpenCL calls to a trace's host program.
//
// Calls that block become host operations of the calling thread. Launches and copies become
// commands of a queue. What a queue does with host memory without blocking (writes, maps, ..) is an
// operation of a thread that stands for the driver, one a queue lane, and so are releases of
// objects. Every cause has a smaller id than what waits for it, so a replay cannot deadlock.

#include <CL/cl.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/recorder_layer/api_objects.hpp"
#include "executor/recorder_layer/trace_stream.hpp"

namespace fm {

/// A command's times by the device's clock, nanoseconds.
struct CommandTimes {
  std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
};

/// How a command appears in the trace.
enum class CommandKind {
  device,    ///< launch or copy
  deferred,  ///< the driver does it when the queue gets there
  blocking   ///< the calling thread waits for it
};

/// What a recorder built on ApiRecorder is called and knows.
struct RecorderTraits {
  std::string tool;
  bool host_time = true;  ///< what passes between calls is the program's own
};

/// An object the driver made.
struct CreatedObject {
  std::uint64_t bytes = 0;
  bool image = false;  ///< two-dimensional: width, height and element count
  std::uint64_t element = 1, width = 0, height = 0;
  bool undecided =
      false;  ///< it may yet turn out to be an image: until decide(), nothing is written
};

/// Thread-safe; calls no driver function. All methods may throw.
class ApiRecorder {
 public:
  ApiRecorder(const std::string& path, const RecorderTraits& traits);

  /// Nanoseconds since the recorder was made.
  std::uint64_t now() const;
  /// Of the first context; starts the file.
  void describe_device(const std::map<std::string, std::string>& facts);
  void leave_out(const std::string& what, std::uint64_t times = 1);

  // Host calls that are over
  void note_context(std::uint64_t since);
  void note_program(std::uint64_t since);
  /// The thread's calls up to now are over: what comes until the next is host time.
  void call_ended();

  // Queues
  bool knows(cl_command_queue queue);
  void add_queue(cl_command_queue queue, const QueueFacts& facts);
  std::optional<QueueFacts> queue(cl_command_queue queue);
  /// The thread waits for all commands of the queue.
  void finish(cl_command_queue queue, std::uint64_t since);

  // Memory. Ids are the trace's object ids.
  std::uint64_t add_object(cl_mem handle, const CreatedObject& created, bool filled,
                           std::uint64_t since);
  /// What an undecided object is.
  void decide(cl_mem handle, const CreatedObject& created);
  void add_view(cl_mem handle, cl_mem parent, std::uint64_t offset, const CreatedObject& created);
  void destroyed(std::uint64_t object);
  std::optional<MemoryView> memory(cl_mem handle);
  void mapped(cl_mem handle, const void* pointer, std::uint64_t bytes);
  std::uint64_t unmapped(cl_mem handle, const void* pointer);

  // Kernels
  void add_access_program(const trace::AccessProgram& program);
  void add_program(cl_program program, const std::string& digest);
  std::string program_digest(cl_program program);
  void add_kernel(cl_kernel kernel, const std::string& name, const std::string& program_digest);
  void clone_kernel(cl_kernel source, cl_kernel clone);
  std::vector<MemoryView> arguments(cl_kernel kernel);
  void set_argument(cl_kernel kernel, std::uint32_t index, std::size_t size, const void* value);

  // Events
  void add_user_event(cl_event event);
  void user_event_set(cl_event event, std::uint64_t since);
  void wait_for(const cl_event* events, cl_uint count, std::uint64_t since);

  // Commands
  trace::HostOperation launch(cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
                              const std::size_t* global, const std::size_t* local);
  /// Before the driver is called. `uses`: the memory objects.
  OperationId begin(cl_command_queue queue, CommandKind kind, trace::HostOperation operation,
                    const std::vector<MemoryView>& uses, const cl_event* waits, cl_uint wait_count,
                    std::uint64_t since);
  /// Waits for the list or, when that is empty, for all commands before; as a barrier, all later
  /// commands wait for it.
  OperationId begin_marker(cl_command_queue queue, bool barrier, const cl_event* waits,
                           cl_uint wait_count, std::uint64_t since);
  /// The driver refused the command.
  void cancel(OperationId id);
  /// The driver took it. The event, if the program has it.
  void begun(OperationId id, cl_event event);
  void ended(OperationId id, const std::optional<CommandTimes>& times);

  /// Ends the file.
  void finish_file();

 private:
  using Clock = std::chrono::steady_clock;
  std::uint32_t thread();
  void think_until(std::uint64_t since);
  OperationId append(std::uint32_t thread, trace::HostOperation operation,
                     const std::vector<OperationId>& after, std::uint64_t since,
                     std::uint64_t ended, bool open = false);
  OperationId marker(std::uint32_t thread);
  void keep_order(ApiQueue* queue, std::uint32_t thread);
  void add_waits(const cl_event* waits, cl_uint count, std::vector<OperationId>* after);
  void add_creations(const std::vector<MemoryView>& uses, std::uint32_t thread,
                     std::vector<OperationId>* after) const;
  void add_to_queue(ApiQueue* queue, OperationId id, bool host_operation);

  const RecorderTraits traits_;
  const Clock::time_point origin_ = Clock::now();
  std::mutex mutex_;
  TraceStream stream_;
  std::uint32_t threads_ = 0, queue_numbers_ = 0;
  std::uint64_t objects_ = 0, launches_ = 0;
  std::unordered_map<cl_command_queue, ApiQueue> queues_;
  std::unordered_map<cl_mem, MemoryView> memory_;
  std::unordered_map<std::uint64_t, std::shared_ptr<MemoryObject>> objects_by_id_;
  std::unordered_map<cl_program, std::string> programs_;
  std::unordered_map<cl_kernel, ApiKernel> kernels_;
  std::unordered_map<cl_event, OperationId> events_;
};

}  // namespace fm
