#include "sim/gpu/command_processor.hpp"

#include <algorithm>

namespace fm {

CommandProcessor::CommandProcessor(sc_core::sc_module_name name, const Clock& clock,
                                   const CoreParameters& parameters, Ticks launch_overhead,
                                   LaunchAccounts* accounts)
    : Block(name, clock, BlockWindow::exact),
      parameters_(parameters),
      overhead_(launch_overhead),
      accounts_(accounts) {}

void CommandProcessor::connect(const std::vector<std::unique_ptr<ShaderCore>>& cores) {
  for (const auto& core : cores) cores_.push_back(core.get());
}

void CommandProcessor::enqueue(GpuLaunch launch) {
  if (launch.measured) {
    launches_.push_back({std::move(launch), now()});
    return wake_by(now());
  }
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
  if (state_ == State::overhead && groups_at_ <= now) {
    if (policy_ == nullptr) {
      start_groups(now);
    } else {
      policy_->begin(launches_.front().launch, now);
      for (ShaderCore* core : cores_) core->end_launch(clock().cycle_from(now));
      follow_policy(now);
    }
  }
  if (state_ == State::rest && rest_until_ <= now) follow_policy(now);
  if (state_ == State::measured && rest_until_ <= now) end_launch(now);
  if (state_ == State::idle && policy_ != nullptr) skip_launches(now);
  if (state_ == State::idle && !launches_.empty()) start_launch(now);
  Ticks next = messages_.empty() ? never : messages_.front().time;
  if (state_ == State::overhead) next = std::min(next, groups_at_);
  if (state_ == State::rest || state_ == State::measured) next = std::min(next, rest_until_);
  return next;
}

void CommandProcessor::skip_launches(Ticks now) {
  while (!launches_.empty() && policy_->skips(launches_.front().launch)) {
    const Queued done = std::move(launches_.front());
    launches_.pop_front();
    GpuLaunchReport report;
    report.queued = Picoseconds(done.queued);
    report.start = report.end = Picoseconds(now);
    report.skipped = true;
    if (done.launch.on_start) done.launch.on_start();
    if (done.launch.on_end) done.launch.on_end(report);
  }
}

void CommandProcessor::start_launch(Ticks now) {
  const GpuLaunch& launch = launches_.front().launch;
  if (launch.before_start) launch.before_start();
  if (launch.measured) return start_measured(now);
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

void CommandProcessor::start_measured(Ticks now) {
  const GpuLaunch& launch = launches_.front().launch;
  if (policy_ != nullptr) policy_->before_measured();
  state_ = State::measured;
  start_ = now;
  rest_until_ = now + launch.measured->count();
  accounts_->begin();
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

/// The cores' accounts are closed before and after each step, so that steps can be told apart.
void CommandProcessor::follow_policy(Ticks now) {
  const LaunchStep step = policy_->next(now);
  switch (step.kind) {
    case LaunchStep::Kind::run:
      for (ShaderCore* core : cores_) core->begin_launch(context_.get(), clock().cycle_from(now));
      next_group_ = 0;
      return start_groups(now);
    case LaunchStep::Kind::rest:
      state_ = State::rest;
      rest_until_ = now + step.duration;
      return;
    case LaunchStep::Kind::end:
      return end_launch(now);
  }
}

void CommandProcessor::send_group(std::uint32_t core, Ticks now) {
  dispatch_free_ = std::max(dispatch_free_, now) + clock().period_now();
  cores_[core]->assign(next_group_++,
                       dispatch_free_ + parameters_.dispatch_latency * clock().period_now());
  ++groups_running_;
}

void CommandProcessor::take(const Message& message, Ticks now) {
  if (message.flushed) {
    if (--cores_flushing_ != 0) return;
    for (ShaderCore* core : cores_) core->end_launch(clock().cycle_from(now));
    if (policy_ == nullptr) return end_launch(now);
    return follow_policy(now);
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
    core->flush(now + parameters_.dispatch_latency * clock().period_now());
  }
}

void CommandProcessor::end_launch(Ticks now) {
  const Queued done = std::move(launches_.front());
  launches_.pop_front();
  GpuLaunchReport report;
  if (context_) describe_occupancy(&report);
  context_.reset();
  state_ = State::idle;
  ++launches_done_;
  report.queued = Picoseconds(done.queued);
  report.start = Picoseconds(start_);
  report.end = Picoseconds(now);
  if (done.launch.measured) {
    ++measured_launches_;
    measured_ticks_ += now - start_;
  }
  accounts_->end(overhead_, &report);
  if (done.launch.measured) report.bound = "measured";
  if (done.launch.on_end) done.launch.on_end(report);
}

void CommandProcessor::describe_occupancy(GpuLaunchReport* report) const {
  const std::uint64_t share = ceil_div(context_->program->group_total(), cores_.size());
  const bool few = share < context_->groups_per_core;
  const std::uint64_t groups = few ? share : context_->groups_per_core;
  report->resident_waves = static_cast<std::uint32_t>(groups) * context_->waves_per_group;
  report->occupancy_limit = to_string(few ? OccupancyLimit::launch : context_->occupancy.limit);
}

void CommandProcessor::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  const char* const what = state_ == State::groups     ? "work-groups"
                           : state_ == State::flush    ? "cores to clean their caches"
                           : state_ == State::rest     ? "its sampled time to pass"
                           : state_ == State::measured ? "its measured time to pass"
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
