#include "sim/gpu/command_processor.hpp"

#include <algorithm>

namespace fm {

CommandProcessor::CommandProcessor(sc_core::sc_module_name name, const Clock& clock,
                                   const CoreParameters& parameters, Ticks launch_overhead,
                                   LaunchAccounts* accounts)
    : Block(name, clock, true),
      parameters_(parameters),
      overhead_(launch_overhead),
      accounts_(accounts) {}

void CommandProcessor::connect(const std::vector<std::unique_ptr<ShaderCore>>& cores) {
  for (const auto& core : cores) cores_.push_back(core.get());
}

void CommandProcessor::enqueue(GpuLaunch launch) {
  // Building the context here reports a launch that cannot run to whoever enqueues it.
  const LaunchContext context(parameters_, launch);
  if (context.groups_per_core == 0) {
    throw UserError("launch " + launch.id + ": a work-group of " +
                    std::to_string(launch.program->items_per_group()) + " work-items, " +
                    std::to_string(launch.registers) + " registers each, and " +
                    std::to_string(context.local_bytes) + " B of local memory fits no core");
  }
  launches_.push_back({std::move(launch), now()});
  wake_by(now());
}

void CommandProcessor::group_done(std::uint32_t core, Ticks time) {
  messages_.push({time, core, false});
  wake_by(time);
}

void CommandProcessor::flushed(std::uint32_t core, Ticks time) {
  messages_.push({time, core, true});
  wake_by(time);
}

Ticks CommandProcessor::advance(Ticks now, Ticks) {
  while (!messages_.empty() && messages_.front().time <= now) {
    const Message message = messages_.front();
    messages_.pop();
    take(message, now);
  }
  if (state_ == State::overhead && groups_at_ <= now) start_groups(now);
  if (state_ == State::idle && !launches_.empty()) start_launch(now);
  Ticks next = messages_.empty() ? never : messages_.front().time;
  if (state_ == State::overhead) next = std::min(next, groups_at_);
  return next;
}

void CommandProcessor::start_launch(Ticks now) {
  const GpuLaunch& launch = launches_.front().launch;
  state_ = State::overhead;
  start_ = now;
  groups_at_ = now + overhead_;
  overhead_ticks_ += overhead_;
  context_ = std::make_unique<LaunchContext>(parameters_, launch);
  accounts_->begin();
  for (ShaderCore* core : cores_) core->begin_launch(context_.get(), clock().cycle_from(now));
  next_group_ = groups_running_ = 0;
  if (launch.on_start) launch.on_start();
}

void CommandProcessor::start_groups(Ticks now) {
  state_ = State::groups;
  dispatch_free_ = now;
  const std::uint64_t total = context_->program->group_total();
  for (std::uint32_t place = 0; place < context_->groups_per_core; ++place) {
    for (std::uint32_t core = 0; core < cores_.size() && next_group_ < total; ++core) {
      send_group(core, now);
    }
  }
}

void CommandProcessor::send_group(std::uint32_t core, Ticks now) {
  dispatch_free_ = std::max(dispatch_free_, now) + clock().period;
  cores_[core]->assign(next_group_++,
                       dispatch_free_ + parameters_.dispatch_latency * clock().period);
  ++groups_running_;
}

void CommandProcessor::take(const Message& message, Ticks now) {
  if (message.flushed) {
    if (--cores_flushing_ == 0) end_launch(now);
    return;
  }
  --groups_running_;
  if (next_group_ < context_->program->group_total()) {
    send_group(message.core, now);
    return;
  }
  if (groups_running_ != 0) return;
  state_ = State::flush;
  cores_flushing_ = static_cast<std::uint32_t>(cores_.size());
  for (ShaderCore* core : cores_) {
    core->flush(now + parameters_.dispatch_latency * clock().period);
  }
}

void CommandProcessor::end_launch(Ticks now) {
  for (ShaderCore* core : cores_) core->end_launch(clock().cycle_from(now));
  const Queued done = std::move(launches_.front());
  launches_.pop_front();
  context_.reset();
  state_ = State::idle;
  ++launches_done_;
  GpuLaunchReport report;
  report.queued = Picoseconds(done.queued);
  report.start = Picoseconds(start_);
  report.end = Picoseconds(now);
  accounts_->end(overhead_, &report);
  if (done.launch.on_end) done.launch.on_end(report);
}

void CommandProcessor::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  const char* const what = state_ == State::groups  ? "work-groups"
                           : state_ == State::flush ? "cores to clean their caches"
                                                    : "its launch overhead";
  Wait wait;
  wait.block = "command processor";
  wait.state = "launch " + launches_.front().launch.id + " waits for " + what + " (" +
               std::to_string(groups_running_) + " work-groups running, " +
               std::to_string(next_group_) + " dispatched), " +
               std::to_string(launches_.size() - 1) + " launches behind it";
  if (state_ == State::groups || state_ == State::flush) wait.waits_for = {"core"};
  waits->push_back(wait);
}

}  // namespace fm
