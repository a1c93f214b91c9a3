#include "executor/recorder_layer/command_watch.hpp"

namespace fm {
namespace {

constexpr std::size_t collect_every = 64;      // commands
constexpr std::size_t most_watched = 1 << 15;  // bounds memory where a program never waits

std::optional<std::uint64_t> event_time(cl_event event, cl_profiling_info what) {
  cl_ulong time = 0;
  if (below->clGetEventProfilingInfo(event, what, sizeof time, &time, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return time;
}

std::optional<CommandTimes> times_of(cl_event event) {
  const auto queued = event_time(event, CL_PROFILING_COMMAND_QUEUED);
  const auto submitted = event_time(event, CL_PROFILING_COMMAND_SUBMIT);
  const auto started = event_time(event, CL_PROFILING_COMMAND_START);
  const auto ended = event_time(event, CL_PROFILING_COMMAND_END);
  if (!queued || !submitted || !started || !ended) return std::nullopt;
  return CommandTimes{*queued, *submitted, *started, *ended};
}

}  // namespace

const cl_icd_dispatch* below = nullptr;

CommandWatch& CommandWatch::instance() {
  static CommandWatch* const watch = new CommandWatch;
  return *watch;
}

void CommandWatch::add(OperationId id, cl_event event, bool timed) {
  bool collect_now = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    watched_.push_back({id, event, timed});
    collect_now = ++added_ % collect_every == 0;
  }
  if (collect_now) collect();
}

void CommandWatch::collect() {
  const std::unique_lock<std::mutex> alone(collecting_, std::try_to_lock);
  if (!alone) return;
  while (take_first()) {
  }
}

/// The driver is called with no lock that its callbacks could want.
bool CommandWatch::take_first() {
  Watched first{};
  bool too_many = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (watched_.empty()) return false;
    first = watched_.front();
    too_many = watched_.size() > most_watched;
  }
  cl_int status = CL_COMPLETE;
  const cl_int asked = below->clGetEventInfo(first.event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                             sizeof status, &status, nullptr);
  const bool running = asked == CL_SUCCESS && status > CL_COMPLETE;
  if (running && !too_many) return false;
  std::optional<CommandTimes> times;
  if (first.timed && !running && status == CL_COMPLETE) times = times_of(first.event);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    watched_.pop_front();
  }
  record([&](ApiRecorder& recorder) {
    if (running) recorder.leave_out("times of commands, too many being unfinished");
    recorder.ended(first.id, times);
  });
  below->clReleaseEvent(first.event);
  return true;
}

}  // namespace fm
