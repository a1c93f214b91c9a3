#pragma once
// The command queues between host and GPU: in order each, launches and copies.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/replay/completion_board.hpp"
#include "sim/replay/copy_engine.hpp"
#include "sim/replay/launch_binder.hpp"
#include "sim/replay/run_log.hpp"

namespace fm {

/// A command starts when those before it in its queue are done and its causes are complete. Launches are handed to
/// the GPU, which keeps order itself, as soon as only launches are before them. Without queue.copy_overlaps_compute the
/// device has one engine: all queues are one, in the order of enqueueing.
class CommandQueues {
 public:
  CommandQueues(const DeviceConfig& config, Gpu& gpu, CopyEngine& copies, LaunchBinder& binder,
                const DeviceHeap& heap, CompletionBoard& board, RunLog& log);

  /// A Launch or Copy, now.
  void enqueue(const trace::HostOperation& operation);
  /// `action` runs whenever a command ended, with the number that have.
  void on_command_end(std::function<void(std::size_t)> action) { on_command_end_ = std::move(action); }
  bool idle() const;
  std::vector<std::string> waiting() const;

 private:
  struct Queue {
    std::deque<const trace::HostOperation*> commands;  // not yet submitted
    std::uint64_t launches_running = 0, copies_running = 0;
    bool waits_for_causes = false;
  };
  void submit_ready(Queue* queue);
  bool in_turn(const Queue& queue, const trace::HostOperation& operation) const;
  void submit_launch(Queue* queue, const trace::HostOperation& operation);
  void submit_copy(Queue* queue, const trace::HostOperation& operation);
  void completed(Queue* queue, const LoggedCommand& command);

  bool one_engine_;
  Gpu& gpu_;
  CopyEngine& copies_;
  LaunchBinder& binder_;
  const DeviceHeap& heap_;
  CompletionBoard& board_;
  RunLog& log_;
  std::function<void(std::size_t)> on_command_end_;
  std::map<std::uint32_t, Queue> queues_;  // a map: submitted queues keep their addresses
};

}  // namespace fm
