#pragma once
// The command queues between host and GPU: in order each, launches and copies.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/power/dynamic_power.hpp"
#include "sim/replay/completion_board.hpp"
#include "sim/replay/copy_engine.hpp"
#include "sim/replay/launch_binder.hpp"
#include "sim/replay/run_log.hpp"

namespace fm {

/// A command is ready when those before it in its queue are done and its causes are complete; a
/// launch already when only ready launches are before it, because the GPU keeps their order itself.
/// Ready commands start at once or, without queue.copy_overlaps_compute, in the order they became
/// ready, copies and launches not at the same time.
class CommandQueues {
 public:
  CommandQueues(const DeviceConfig& config, Gpu& gpu, CopyEngine& copies, LaunchBinder& binder,
                const DeviceHeap& heap, EnergyLedger& energy, DynamicPower& power,
                CompletionBoard& board, RunLog& log);

  /// A Launch or Copy, now.
  void enqueue(const trace::HostOperation& operation);
  /// `action` runs whenever a command ended, with the number that have.
  /// When a launch starts (true) and ends (false), with its id.
  void on_launch(std::function<void(const std::string&, bool)> action) {
    on_launch_ = std::move(action);
  }
  void on_command_end(std::function<void(std::size_t)> action) {
    on_command_end_ = std::move(action);
  }
  /// `action` runs whenever no command is enqueued or running any more.
  void on_idle(std::function<void()> action) { on_idle_ = std::move(action); }
  bool idle() const;
  void append_waits(std::vector<Wait>* waits) const;

 private:
  struct Queue {
    std::deque<const trace::HostOperation*> commands;  // not yet ready
    std::uint64_t launches = 0, copies = 0;            // ready or running
    bool waits_for_causes = false;
  };
  struct Ready {
    Queue* queue;
    const trace::HostOperation* operation;
  };
  void find_ready(Queue* queue);
  bool in_turn(const Queue& queue, const trace::HostOperation& operation) const;
  void submit_ready();
  bool may_start(const trace::HostOperation& operation) const;
  void submit_launch(Queue* queue, const trace::HostOperation& operation);
  CopyJob job_of(const trace::Copy& copy) const;
  void submit_copy(Queue* queue, const trace::HostOperation& operation);
  void completed(Queue* queue, const LoggedCommand& command);

  bool one_engine_;
  Picoseconds launch_overhead_;
  Gpu& gpu_;
  CopyEngine& copies_;
  LaunchBinder& binder_;
  const DeviceHeap& heap_;
  EnergyLedger& energy_;
  DynamicPower& power_;
  CompletionBoard& board_;
  RunLog& log_;
  std::function<void(std::size_t)> on_command_end_;
  std::function<void()> on_idle_;
  std::function<void(const std::string&, bool)> on_launch_;
  std::map<std::uint32_t, Queue> queues_;  // a map: queues keep their addresses
  std::deque<Ready> ready_;
  std::uint64_t launches_running_ = 0, copies_running_ = 0;
};

}  // namespace fm
