#pragma once
// One run of a plan's launches, streaming its weights.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/bounds_report.hpp"
#include "executor/device_clock.hpp"
#include "executor/host_recorder.hpp"
#include "executor/launch_slices.hpp"
#include "executor/opencl_objects.hpp"
#include "executor/plan_walk.hpp"
#include "executor/streamer/streamer.hpp"
#include "executor/tensor_memory.hpp"

namespace fm {

/// Nanoseconds on the recorder's clock.
struct LaunchTimes {
  std::uint64_t started = 0, ended = 0;
};
struct RunTimes {
  std::uint64_t
      began = 0,
      ended = 0;  ///< of the host, from the first read posted to the last launch known complete
  std::vector<LaunchTimes> launches;  ///< by position in plan.launches
  /// Kernels and copies whose times are the host's, from the enqueue or the end of the command
  /// before to when the host saw them complete: the driver gave none.
  std::size_t host_timed = 0;
  std::size_t split = 0, slices = 0;  ///< launches in several slices, and how many those were
};

/// Told how many of how many launches are complete.
using RunProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Told of each launch in its turn; what it throws ends the run.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  /// Launches are named by position in plan.launches. What it reuses is free.
  virtual void launch_starts(std::size_t launch) = 0;
  virtual void launch_done(std::size_t launch) = 0;
};

/// What a run uses; made once and used by every run.
struct RunResources {
  const Plan& plan;
  const ReadSchedule& schedule;
  const std::vector<const OpenClKernel*>& kernels;
  const OpenClQueue& compute_queue;
  Streamer& streamer;
  const std::vector<std::vector<RowRead>>& gathered_rows;  ///< by plan.gathers
  StagingRing* ring;  ///< null when no image weights are streamed
  TensorMemory& memory;
  HostRecorder& recorder;
  LaunchObserver* observer;  ///< or null
  BoundsReport* bounds;      ///< null unless kernels are checked
  LaunchCap* cap;            ///< null where launches are never split
  std::size_t flush_period;  ///< launches
};

/// The host program: a plan's walk on the device.
class PlanRun : private PlanActor {
 public:
  explicit PlanRun(const RunResources& resources);
  RunTimes execute(const RunProgress& progress);

 private:
  struct Command {
    OpenClEvent event;
    OpenClEvent first;            // of a launch in slices
    std::uint64_t operation = 0;  // in the host log
    std::uint64_t queued = 0;     // on the recorder's clock
    std::uint64_t complete = 0;   // on the recorder's clock: when the host saw it
    std::uint64_t ring_piece = 0;
    std::optional<EventTimes> on_device;  // none where the driver gives no times
  };
  using Commands = std::vector<Command>;

  void post_read(std::size_t part) override;
  void await_read(std::size_t part) override;
  void enqueue_copy(std::size_t launch, std::size_t part) override;
  void enqueue_kernel(std::size_t launch, const std::vector<std::size_t>& parts) override;
  void observe(std::size_t launch) override;
  void release(std::size_t launch, const std::string& weight) override;
  /// A streamed weight's memory, unless it is there: what it reuses, or new.
  void provide_memory(const PlanTensor& weight, trace::MemoryClass memory_class);
  std::vector<KernelValue> argument_values(const PlanLaunch& launch) const;
  /// Binds what the launch streams behind its own arguments; the images exist from here on. Returns
  /// the slots for the log.
  std::vector<LoggedStream> stream_values(const PlanLaunch& launch,
                                          const std::vector<std::size_t>& parts,
                                          std::vector<KernelValue>* values);
  /// Events and operations of the launches that `launch` must wait for on another queue.
  void dependencies(const PlanLaunch& launch, std::vector<cl_event>* events, Causes* causes) const;
  /// All of it, in as many slices as the cap asks for.
  void enqueue_slices(const PlanLaunch& launch, const OpenClKernel& kernel,
                      const std::vector<cl_event>& after, Command* command);
  /// Hands over the launches that were enqueued since the last time, if any.
  void flush_launches();
  std::optional<EventTimes> times_of(const Command& command, const PlanLaunch& launch) const;
  void read_device_times();
  RunTimes collect(std::uint64_t began);

  RunResources resources_;
  const Plan& plan_;
  HostRecorder& recorder_;
  PlanWalk walk_;
  std::vector<Commands> commands_;        // by launch
  std::vector<ReadTicket> tickets_;       // by part; null: not posted
  std::vector<const ReadResult*> reads_;  // by part; null: not waited for
  const RunProgress* progress_ = nullptr;
  DeviceClock device_clock_;
  std::size_t split_ = 0, slices_ = 0;
  std::size_t unflushed_ = 0;     // launches
  std::uint64_t last_cause_ = 0;  // operation that lets the next reads start
};

}  // namespace fm
