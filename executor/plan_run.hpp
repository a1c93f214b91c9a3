#pragma once
// One run of a plan's launches, streaming its weights.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/host_recorder.hpp"
#include "executor/opencl_objects.hpp"
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
};

/// Told how many of how many launches are complete.
using RunProgress = std::function<void(std::size_t done, std::size_t total)>;

/// What a run uses; made once and used by every run.
struct RunResources {
  const Plan& plan;
  const ReadSchedule& schedule;
  const std::vector<const OpenClKernel*>& kernels;
  const OpenClQueue& compute_queue;
  Streamer& streamer;
  StagingRing* ring;  ///< null when no image weights are streamed
  TensorMemory& memory;
  HostRecorder& recorder;
};

/// The host program: at most plan.enqueue_ahead launches are enqueued and not known complete.
/// Launches are observed complete in order; that is when memory is released and the reads of the
/// launch that starts then are posted.
class PlanRun {
 public:
  explicit PlanRun(const RunResources& resources);
  RunTimes execute(const RunProgress& progress);

 private:
  struct Command {
    OpenClEvent event;
    std::uint64_t operation = 0;  // in the host log
    std::uint64_t queued = 0;     // on the recorder's clock
    std::uint64_t ring_piece = 0;
  };
  using Commands = std::vector<Command>;

  void post_reads(std::size_t started_launch);
  const ReadResult& wait_for_read(std::size_t part);
  void observe_next();
  void enqueue(std::size_t launch);
  void enqueue_kernel_launch(std::size_t launch, const Causes& reads);
  void enqueue_copy_part(std::size_t launch, std::size_t part);
  std::vector<KernelValue> argument_values(const PlanLaunch& launch) const;
  trace::HostOperation launch_operation(const PlanLaunch& launch) const;
  /// Events and operations of the launches that `launch` must wait for on another queue.
  void dependencies(const PlanLaunch& launch, std::vector<cl_event>* events, Causes* causes) const;
  RunTimes collect(std::uint64_t began) const;

  RunResources resources_;
  const Plan& plan_;
  HostRecorder& recorder_;
  std::map<std::string, std::size_t> positions_;  // of launches
  std::map<std::string, std::size_t> copied_by_;  // streamed image weight -> last copy
  std::map<std::size_t, std::vector<std::string>> released_by_;  // launch -> weights
  std::vector<Commands> commands_;                               // by launch
  std::vector<ReadTicket> tickets_;                              // by part; null: not posted
  std::size_t next_read_ = 0;
  std::size_t next_needed_ = 0;
  std::size_t observed_ = 0;      // launches known complete
  std::uint64_t last_cause_ = 0;  // operation that lets the next reads start
};

}  // namespace fm
