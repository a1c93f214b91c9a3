#include "sim/replay/command_queues.hpp"

#include <algorithm>
#include <memory>

namespace fm {
namespace {

std::string name_of(const trace::HostOperation& operation) {
  return operation.has_launch() ? "launch " + operation.launch().launch()
                                : "copy " + operation.copy().launch();
}

}  // namespace

CommandQueues::CommandQueues(const DeviceConfig& config, Gpu& gpu, CopyEngine& copies,
                             LaunchBinder& binder, const DeviceHeap& heap, EnergyLedger& energy,
                             DynamicPower& power, CompletionBoard& board, RunLog& log)
    : one_engine_(!config.flag("queue.copy_overlaps_compute")),
      launch_overhead_(config.time("host.launch_overhead")),
      gpu_(gpu),
      copies_(copies),
      binder_(binder),
      heap_(heap),
      energy_(energy),
      power_(power),
      board_(board),
      log_(log) {}

void CommandQueues::enqueue(const trace::HostOperation& operation) {
  const std::uint32_t number =
      operation.has_launch() ? operation.launch().queue() : operation.copy().queue();
  Queue& queue = queues_[number];
  queue.commands.push_back(&operation);
  find_ready(&queue);
}

/// Takes commands from the head of the queue while they are in turn and their causes complete.
void CommandQueues::find_ready(Queue* queue) {
  while (!queue->commands.empty() && !queue->waits_for_causes) {
    const trace::HostOperation& operation = *queue->commands.front();
    if (!in_turn(*queue, operation)) break;
    if (!board_.all_complete(operation.after())) {
      queue->waits_for_causes = true;
      board_.when_complete(operation.after(), [this, queue] {
        queue->waits_for_causes = false;
        find_ready(queue);
      });
      break;
    }
    queue->commands.pop_front();
    ++(operation.has_launch() ? queue->launches : queue->copies);
    ready_.push_back({queue, &operation});
  }
  submit_ready();
}

bool CommandQueues::in_turn(const Queue& queue, const trace::HostOperation& operation) const {
  return queue.copies == 0 && (operation.has_launch() || queue.launches == 0);
}

void CommandQueues::submit_ready() {
  while (!ready_.empty() && may_start(*ready_.front().operation)) {
    const Ready next = ready_.front();
    ready_.pop_front();
    if (next.operation->has_launch()) {
      submit_launch(next.queue, *next.operation);
    } else {
      submit_copy(next.queue, *next.operation);
    }
  }
}

bool CommandQueues::may_start(const trace::HostOperation& operation) const {
  if (!one_engine_) return true;
  return copies_running_ == 0 && (operation.has_launch() || launches_running_ == 0);
}

void CommandQueues::submit_launch(Queue* queue, const trace::HostOperation& operation) {
  ++launches_running_;
  GpuLaunch launch = binder_.bind(operation.launch());
  const std::string name = operation.launch().launch();
  launch.before_start = [this] { power_.before_kernel(Agenda::now()); };
  launch.on_start = [this, name] {
    energy_.kernel_started(Agenda::now());
    power_.command_started(Agenda::now());
    if (on_launch_) on_launch_(name, true);
  };
  launch.on_end = [this, queue, name, &operation](const GpuLaunchReport& report) {
    if (on_launch_) on_launch_(name, false);
    --queue->launches;
    --launches_running_;
    power_.command_ended(Agenda::now());
    completed(queue,
              {&operation, name, report.start, report.end,
               energy_.kernel_ended(report.counters, Agenda::now()), report, power_.gpu_speed()});
  };
  gpu_.enqueue(std::move(launch));
}

CopyJob CommandQueues::job_of(const trace::Copy& copy) const {
  const HeapObject& destination = heap_.at(copy.destination());
  CopyJob job;
  job.destination_bytes = Bytes(copy.bytes());
  Bytes offset(copy.destination_offset());
  if (destination.image) {
    destination.layout.row_range(copy.first_row(), copy.rows(), &offset, &job.destination_bytes);
  }
  job.destination = destination.address + offset;
  if (copy.source() == 0) return job;  // a pattern
  job.source = heap_.at(copy.source()).address + Bytes(copy.source_offset());
  job.source_bytes = Bytes(copy.bytes());
  return job;
}

void CommandQueues::submit_copy(Queue* queue, const trace::HostOperation& operation) {
  ++copies_running_;
  const trace::Copy& copy = operation.copy();
  const CopyJob job = job_of(copy);
  const auto started = std::make_shared<Picoseconds>();
  const std::string name =
      copy.launch().empty() ? heap_.at(copy.destination()).name : copy.launch();
  copies_.copy(
      job,
      [this, &operation, started] {
        *started = Agenda::now();
        energy_.copy_started(operation.id(), *started);
        power_.command_started(*started);
      },
      [this, queue, &operation, started, name] {
        --queue->copies;
        --copies_running_;
        power_.command_ended(Agenda::now());
        GpuLaunchReport report;
        const Picoseconds now = Agenda::now();
        report.bound = now - *started < launch_overhead_ * 2 ? "launch" : "dram";
        completed(queue, {&operation, name, *started, now, energy_.copy_ended(operation.id(), now),
                          report, power_.gpu_speed()});
      });
}

void CommandQueues::completed(Queue* queue, const LoggedCommand& command) {
  log_.commands.push_back(command);
  log_.end = std::max(log_.end, command.end);
  if (on_command_end_) on_command_end_(log_.commands.size());
  board_.finish(command.operation->id());
  find_ready(queue);
  if (on_idle_ && idle()) on_idle_();
}

bool CommandQueues::idle() const {
  return std::all_of(queues_.begin(), queues_.end(), [](const auto& entry) {
    const Queue& queue = entry.second;
    return queue.commands.empty() && queue.launches == 0 && queue.copies == 0;
  });
}

void CommandQueues::append_waits(std::vector<Wait>* waits) const {
  for (const auto& [number, queue] : queues_) {
    Wait wait;
    wait.block = "queue " + std::to_string(number);
    if (queue.launches > 0) wait.waits_for.emplace_back("command processor");
    if (queue.copies > 0) wait.waits_for.emplace_back("copy engine");
    wait.state = std::to_string(queue.launches) + " launches and " + std::to_string(queue.copies) +
                 " copies ready or running";
    if (!queue.commands.empty()) {
      const trace::HostOperation& head = *queue.commands.front();
      wait.state += ", " + name_of(head) + " not ready";
      if (queue.waits_for_causes) {
        const std::vector<std::string> missing = board_.missing(head.after());
        wait.waits_for.insert(wait.waits_for.end(), missing.begin(), missing.end());
      }
    }
    if (!queue.commands.empty() || !wait.waits_for.empty()) waits->push_back(wait);
  }
}

}  // namespace fm
