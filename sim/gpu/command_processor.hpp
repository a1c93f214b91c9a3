#pragma once
// Launches in order, their overhead, and work-groups to free places in the cores.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sim/gpu/launch_policy.hpp"
#include "sim/gpu/launch_report.hpp"
#include "sim/gpu/shader_core.hpp"

namespace fm {

class CommandProcessor : public Block, public ShaderCore::Outlet {
 public:
  CommandProcessor(sc_core::sc_module_name name, const Clock& clock,
                   const CoreParameters& parameters, Ticks launch_overhead,
                   LaunchAccounts* accounts);
  void connect(const std::vector<std::unique_ptr<ShaderCore>>& cores);

  void follow(LaunchPolicy& policy) { policy_ = &policy; }

  void enqueue(GpuLaunch launch);
  bool idle() const { return launches_.empty(); }
  void append_waits(std::vector<Wait>* waits) const;

  void group_done(std::uint32_t core, Ticks time) override;
  void flushed(std::uint32_t core, Ticks time) override;

  const std::uint64_t& launches_done() const { return launches_done_; }
  const std::uint64_t& overhead_ticks() const { return overhead_ticks_; }
  const std::uint64_t& measured_launches() const { return measured_launches_; }
  const std::uint64_t& measured_ticks() const { return measured_ticks_; }

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  enum class State { idle, overhead, groups, flush, rest, measured };
  struct Queued {
    GpuLaunch launch;
    Ticks queued;
  };
  struct Message {
    Ticks time = 0;
    std::uint32_t core = 0;
    bool flushed = false;
  };
  struct MessageBefore {
    bool operator()(const Message& a, const Message& b) const {
      return a.time != b.time ? a.time < b.time : a.core < b.core;
    }
  };
  void skip_launches(Ticks now);
  void start_launch(Ticks now);
  void start_measured(Ticks now);
  void start_groups(Ticks now);
  void send_group(std::uint32_t core, Ticks now);
  void take(const Message& message, Ticks now);
  void follow_policy(Ticks now);
  void end_launch(Ticks now);
  void describe_occupancy(GpuLaunchReport* report) const;

  const CoreParameters parameters_;
  const Ticks overhead_;
  LaunchAccounts* accounts_;
  LaunchPolicy* policy_ = nullptr;
  std::vector<ShaderCore*> cores_;
  std::deque<Queued> launches_;  ///< the front one runs
  State state_ = State::idle;
  std::unique_ptr<LaunchContext> context_;
  Ticks start_ = 0, groups_at_ = 0, rest_until_ = 0;  ///< of rest and measured
  Ticks dispatch_free_ = 0;                           ///< one work-group a cycle
  std::uint64_t next_group_ = 0, groups_running_ = 0;
  std::uint32_t cores_flushing_ = 0;
  TimedQueue<Message, MessageBefore> messages_;
  std::uint64_t launches_done_ = 0, overhead_ticks_ = 0;
  std::uint64_t measured_launches_ = 0, measured_ticks_ = 0;
};

}  // namespace fm
