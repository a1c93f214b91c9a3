#include "executor/plan_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace fm {

PlanRun::PlanRun(const RunResources& resources)
    : resources_(resources),
      plan_(resources.plan),
      recorder_(resources.recorder),
      commands_(resources.plan.launches.size()),
      tickets_(resources.schedule.stream.size()) {
  for (std::size_t i = 0; i < plan_.launches.size(); ++i) positions_[plan_.launches[i].id] = i;
  for (const WeightSlice& slice : plan_.weights) {
    if (slice.residency == Residency::stream) {
      released_by_[positions_.at(slice.release_after)].push_back(slice.tensor);
    }
  }
  for (const ReadPart& part : resources_.schedule.stream) {
    if (part.staged) copied_by_[plan_.weights[part.weight].tensor] = part.due;
  }
}

RunTimes PlanRun::execute(const RunProgress& progress) {
  const std::uint64_t began = recorder_.now();
  const std::size_t total = plan_.launches.size();
  post_reads(0);
  for (std::size_t launch = 0; launch < total; ++launch) {
    while (launch - observed_ >= static_cast<std::size_t>(plan_.enqueue_ahead)) observe_next();
    enqueue(launch);
    progress(observed_, total);
  }
  while (observed_ < total) observe_next();
  return collect(began);
}

void PlanRun::post_reads(std::size_t started_launch) {
  const std::vector<ReadPart>& parts = resources_.schedule.stream;
  for (; next_read_ < parts.size(); ++next_read_) {
    const ReadPart& part = parts[next_read_];
    if (part.earliest && *part.earliest > started_launch) return;
    ReadRequest request;
    request.part = part;
    request.cause = last_cause_;
    if (!part.staged) {
      const PlanTensor& tensor = plan_.tensor(plan_.weights[part.weight].tensor);
      request.buffer = &resources_.memory.create_weight(tensor, trace::UM_IN_FLIGHT);
      request.object = resources_.memory.object(tensor.id);
      request.cause = resources_.memory.created_by(tensor.id);
    }
    tickets_[next_read_] = resources_.streamer.submit(request);
  }
}

const ReadResult& PlanRun::wait_for_read(std::size_t part) {
  while (part >= next_read_) observe_next();
  const std::uint64_t since = recorder_.now();
  const ReadResult& read = resources_.streamer.wait(tickets_[part]);
  recorder_.note(main_thread, wait_operation(), {read.unmap}, since);
  return read;
}

void PlanRun::observe_next() {
  if (observed_ >= commands_.size() || commands_[observed_].empty()) {
    throw std::logic_error("a read waits for a launch that waits for it");
  }
  const Commands& commands = commands_[observed_];
  const std::uint64_t since = recorder_.now();
  wait_for(commands.back().event, "launch " + plan_.launches[observed_].id);
  last_cause_ = recorder_.note(main_thread, wait_operation(), {commands.back().operation}, since);
  for (const Command& command : commands) {
    if (command.ring_piece != 0) resources_.ring->free(command.ring_piece, main_thread);
  }
  for (const std::string& weight : released_by_[observed_]) {
    resources_.memory.release_weight(weight, commands.back().operation);
  }
  ++observed_;
  post_reads(observed_);
}

void PlanRun::enqueue(std::size_t launch) {
  const std::vector<ReadPart>& parts = resources_.schedule.stream;
  Causes reads;
  for (; next_needed_ < parts.size() && parts[next_needed_].due == launch; ++next_needed_) {
    if (parts[next_needed_].staged) {
      enqueue_copy_part(launch, next_needed_);
    } else {
      reads.push_back(wait_for_read(next_needed_).unmap);
    }
  }
  if (plan_.launches[launch].kind == LaunchKind::kernel) enqueue_kernel_launch(launch, reads);
}

void PlanRun::enqueue_kernel_launch(std::size_t position, const Causes& reads) {
  const PlanLaunch& launch = plan_.launches[position];
  const OpenClKernel& kernel = *resources_.kernels[position];
  std::vector<cl_event> events;
  Causes causes = reads;
  dependencies(launch, &events, &causes);
  set_arguments(kernel, argument_values(launch));
  Command command;
  command.operation = recorder_.begin(main_thread, launch_operation(launch), causes);
  command.queued = recorder_.now();
  command.event = enqueue_kernel(resources_.compute_queue, kernel, launch.global, launch.local,
                                 "launch " + launch.id + " (" + launch.kernel + ")", events);
  flush(resources_.compute_queue);
  recorder_.end(command.operation);
  commands_[position].push_back(std::move(command));
}

void PlanRun::enqueue_copy_part(std::size_t position, std::size_t part_index) {
  const PlanLaunch& launch = plan_.launches[position];
  const ReadPart& part = resources_.schedule.stream[part_index];
  const ReadResult& read = wait_for_read(part_index);
  const PlanTensor& tensor = plan_.tensor(launch.weight);
  if (!resources_.memory.of(tensor.id)) {
    resources_.memory.create_weight(tensor, trace::TM_IN_FLIGHT);
  }
  const ImageTarget target{resources_.memory.of(tensor.id), resources_.memory.object(tensor.id),
                           grid_extent(tensor.layout, tensor.shape).width};
  std::vector<cl_event> events;
  Causes causes;
  dependencies(launch, &events, &causes);
  Command command;
  command.queued = recorder_.now();
  command.event =
      enqueue_copy(resources_.streamer.copy_queue(), recorder_, *resources_.ring, part, read,
                   target, main_thread, launch.id, events, causes, &command.operation);
  command.ring_piece = read.piece.number;
  commands_[position].push_back(std::move(command));
}

void PlanRun::dependencies(const PlanLaunch& launch, std::vector<cl_event>* events,
                           Causes* causes) const {
  std::vector<std::size_t> before;
  for (const std::string& id : launch.depends) before.push_back(positions_.at(id));
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&argument);
    const auto copy = used ? copied_by_.find(used->tensor) : copied_by_.end();
    if (copy != copied_by_.end()) before.push_back(copy->second);
  }
  std::sort(before.begin(), before.end());
  before.erase(std::unique(before.begin(), before.end()), before.end());
  for (std::size_t position : before) {
    if (commands_[position].empty()) continue;
    const Command& last = commands_[position].back();
    causes->push_back(last.operation);
    // One queue keeps its own order.
    if (plan_.launches[position].kind != launch.kind) events->push_back(last.event.get());
  }
}

std::vector<KernelValue> PlanRun::argument_values(const PlanLaunch& launch) const {
  std::vector<KernelValue> values;
  for (const LaunchArgument& argument : launch.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
      values.emplace_back(resources_.memory.of(tensor->tensor));
    } else if (const auto* integer = std::get_if<IntArgument>(&argument)) {
      values.emplace_back(integer->value);
    } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
      values.emplace_back(real->value);
    } else {
      values.emplace_back(LocalMemory{std::get<LocalArgument>(argument).bytes});
    }
  }
  return values;
}

trace::HostOperation PlanRun::launch_operation(const PlanLaunch& launch) const {
  trace::HostOperation operation;
  trace::Launch* logged = operation.mutable_launch();
  logged->set_launch(launch.id);
  logged->set_queue(compute_queue_number);
  logged->set_macs(launch.macs);
  logged->set_operation(launch.operation);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto* tensor = std::get_if<TensorArgument>(&launch.arguments[i]);
    if (!tensor) continue;
    trace::Argument* argument = logged->add_arguments();
    argument->set_index(static_cast<std::uint32_t>(i));
    argument->set_object(resources_.memory.object(tensor->tensor));
    argument->set_offset(resources_.memory.offset(tensor->tensor).count());
    argument->set_tensor(tensor->tensor);
  }
  return operation;
}

RunTimes PlanRun::collect(std::uint64_t began) const {
  RunTimes run;
  run.began = began;
  run.ended = recorder_.now();
  for (const Commands& commands : commands_) {
    LaunchTimes launch;
    for (const Command& command : commands) {
      const EventTimes times = times_of(command.event);
      recorder_.measure(command.operation, times);
      const std::uint64_t started = command.queued + (times.started - times.queued);
      const std::uint64_t ended = command.queued + (times.ended - times.queued);
      launch.started = launch.started == 0 ? started : std::min(launch.started, started);
      launch.ended = std::max(launch.ended, ended);
    }
    run.launches.push_back(launch);
  }
  return run;
}

}  // namespace fm
