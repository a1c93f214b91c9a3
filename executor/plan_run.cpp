#include "executor/plan_run.hpp"

#include <algorithm>
#include <map>

#include "core/plan_streams.hpp"
#include "executor/plan_names.hpp"

namespace fm {
namespace {

std::int32_t int_of(std::uint64_t value) { return static_cast<std::int32_t>(value); }

/// Texels of the weight's type before byte `offset`.
std::int32_t texel_number(Bytes offset, const PlanTensor& tensor) {
  return int_of(offset / (size_of(tensor.dtype) * 4));
}

}  // namespace

PlanRun::PlanRun(const RunResources& resources)
    : resources_(resources),
      plan_(resources.plan),
      recorder_(resources.recorder),
      walk_(resources.plan, resources.schedule, *this),
      commands_(resources.plan.launches.size()),
      tickets_(resources.schedule.stream.size()),
      reads_(resources.schedule.stream.size()) {}

RunTimes PlanRun::execute(const RunProgress& progress) {
  const std::uint64_t began = recorder_.now();
  progress_ = &progress;
  walk_.run();
  return collect(began);
}

void PlanRun::post_read(std::size_t part) {
  ReadRequest request;
  request.part = resources_.schedule.stream[part];
  request.cause = last_cause_;
  if (!request.part.staged) {
    const PlanTensor& tensor = plan_.tensor(tensor_of(plan_, request.part));
    if (request.part.gather) request.rows = &resources_.gathered_rows[*request.part.gather];
    provide_memory(tensor, trace::UM_IN_FLIGHT);
    request.buffer = &resources_.memory.weight(tensor.id);
    request.object = resources_.memory.object(tensor.id);
    if (walk_.taken_over_by(tensor.id) == nullptr) {
      request.cause = resources_.memory.created_by(tensor.id);
    }
  }
  tickets_[part] = resources_.streamer.submit(request);
}

void PlanRun::await_read(std::size_t part) {
  const std::uint64_t since = recorder_.now();
  reads_[part] = &resources_.streamer.wait(tickets_[part]);
  recorder_.note(main_thread, wait_operation(), {reads_[part]->unmap}, since);
}

void PlanRun::observe(std::size_t launch) {
  Commands& commands = commands_[launch];
  const std::uint64_t since = recorder_.now();
  flush_launches();
  wait_for(commands.back().event, named(plan_.launches[launch]));
  last_cause_ = recorder_.note(main_thread, wait_operation(), {commands.back().operation}, since);
  for (Command& command : commands) {
    command.complete = recorder_.now();
    if (command.ring_piece != 0) resources_.ring->free(command.ring_piece, main_thread);
  }
  if (resources_.cap != nullptr && plan_.launches[launch].kind == LaunchKind::kernel) {
    const std::optional<EventTimes> times = times_of(commands.back(), plan_.launches[launch]);
    if (times) resources_.cap->measured(plan_.launches[launch], times->ended - times->started);
  }
  if (resources_.bounds != nullptr) resources_.bounds->check(launch);
  if (resources_.observer != nullptr) resources_.observer->launch_done(launch);
}

void PlanRun::release(std::size_t launch, const std::string& weight) {
  resources_.memory.release_weight(weight, commands_[launch].back().operation);
}

void PlanRun::enqueue_kernel(std::size_t position, const std::vector<std::size_t>& parts) {
  const PlanLaunch& launch = plan_.launches[position];
  const OpenClKernel& kernel = *resources_.kernels[position];
  if (resources_.observer != nullptr) resources_.observer->launch_starts(position);
  std::vector<cl_event> events;
  Causes causes;
  const ReadResult* staged = nullptr;  // what one launch streams lies in one piece of the ring
  for (const std::size_t part : parts) {
    causes.push_back(reads_[part]->unmap);
    if (resources_.schedule.stream[part].staged) staged = reads_[part];
  }
  dependencies(launch, &events, &causes);
  std::vector<KernelValue> values = argument_values(launch);
  const std::vector<LoggedStream> streams = stream_values(launch, parts, &values);
  if (resources_.bounds != nullptr) values.emplace_back(resources_.bounds->begin(position));
  set_arguments(kernel, values, 0, named(launch));
  Command command;
  command.operation = recorder_.begin(
      main_thread,
      launch_operation(
          launch,
          [this](const std::string& tensor) {
            return LoggedPlace{resources_.memory.object(tensor), resources_.memory.offset(tensor)};
          },
          streams),
      causes);
  command.queued = recorder_.now();
  enqueue_slices(launch, kernel, events, &command);
  recorder_.end(command.operation);
  if (staged != nullptr) {
    command.ring_piece = staged->piece.number;
    resources_.ring->copy_enqueued(staged->piece, command.event, command.operation);
  }
  commands_[position].push_back(std::move(command));
  (*progress_)(walk_.observed(), plan_.launches.size());
}

void PlanRun::enqueue_slices(const PlanLaunch& launch, const OpenClKernel& kernel,
                             const std::vector<cl_event>& after, Command* command) {
  std::vector<LaunchSlice> slices{{{}, launch.global}};
  if (resources_.cap != nullptr) slices = resources_.cap->slices(launch);
  for (const LaunchSlice& slice : slices) {
    const bool first = &slice == &slices.front();
    OpenClEvent event =
        fm::enqueue_kernel(resources_.compute_queue, kernel, slice.global, launch.local,
                           named(launch), first ? after : std::vector<cl_event>{}, slice.offset);
    ++unflushed_;
    // A slice is to give others their turn; readers wait for a launch that empties the ring.
    const bool now = slices.size() > 1 || stream_slots(launch) > 0;
    if (now || unflushed_ >= resources_.flush_period) flush_launches();
    if (first && slices.size() > 1) {
      command->first = std::move(event);
    } else {
      command->event = std::move(event);
    }
  }
  if (slices.size() < 2) return;
  ++split_;
  slices_ += slices.size();
}

void PlanRun::flush_launches() {
  if (unflushed_ == 0) return;
  flush(resources_.compute_queue, "flushing the launches enqueued");
  unflushed_ = 0;
}

std::optional<EventTimes> PlanRun::times_of(const Command& command,
                                            const PlanLaunch& launch) const {
  std::optional<EventTimes> times = fm::times_of(command.event, named(launch));
  if (!command.first || !times) return times;
  const std::optional<EventTimes> first = fm::times_of(command.first, named(launch));
  if (!first) return std::nullopt;
  return EventTimes{first->queued, first->submitted, first->started, times->ended};
}

void PlanRun::enqueue_copy(std::size_t position, std::size_t part_index) {
  const PlanLaunch& launch = plan_.launches[position];
  const ReadPart& part = resources_.schedule.stream[part_index];
  const ReadResult& read = *reads_[part_index];
  const PlanTensor& tensor = plan_.tensor(launch.weight);
  provide_memory(tensor, trace::TM_IN_FLIGHT);
  const ImageTarget target{resources_.memory.of(tensor.id), resources_.memory.object(tensor.id),
                           grid_extent(tensor.layout, tensor.shape).width};
  std::vector<cl_event> events;
  Causes causes;
  dependencies(launch, &events, &causes);
  flush_launches();  // the copy may wait for them
  Command command;
  command.queued = recorder_.now();
  command.event = fm::enqueue_copy(resources_.streamer.copy_queue(), recorder_, *resources_.ring,
                                   part, read, target, main_thread, launch.id, named(tensor),
                                   events, causes, &command.operation);
  command.ring_piece = read.piece.number;
  commands_[position].push_back(std::move(command));
}

void PlanRun::provide_memory(const PlanTensor& weight, trace::MemoryClass memory_class) {
  if (resources_.memory.of(weight.id)) return;
  if (const std::string* owner = walk_.taken_over_by(weight.id)) {
    resources_.memory.hand_over(*owner, weight.id);
  } else {
    resources_.memory.create_weight(weight, memory_class);
  }
}

void PlanRun::dependencies(const PlanLaunch& launch, std::vector<cl_event>* events,
                           Causes* causes) const {
  for (const std::size_t position : walk_.before(launch)) {
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

std::vector<LoggedStream> PlanRun::stream_values(const PlanLaunch& launch,
                                                 const std::vector<std::size_t>& parts,
                                                 std::vector<KernelValue>* values) {
  std::vector<LoggedStream> logged;
  const std::vector<WeightStream> streams = streams_in(plan_, launch);
  const auto slots = static_cast<std::size_t>(stream_slots(launch));
  for (std::size_t slot = 0; slot < slots && !streams.empty(); ++slot) {
    // A slot the plan leaves empty moves nothing to the first one's image.
    const WeightStream& stream = streams[slot < streams.size() ? slot : 0];
    const PlanTensor& tensor = plan_.tensor(plan_.weights[stream.weight].tensor);
    const std::uint64_t rows = slot < streams.size() ? stream.rows.count : 0;
    provide_memory(tensor, trace::TM_IN_FLIGHT);
    Bytes source;
    for (std::size_t i = 0; i < parts.size() && rows > 0; ++i) {
      const ReadPart& part = resources_.schedule.stream[parts[i]];
      if (part.staged && part.weight == stream.weight && part.first_row == stream.rows.first) {
        source = reads_[parts[i]]->source;
      }
    }
    values->insert(values->end(), {resources_.ring->buffer().get(), texel_number(source, tensor),
                                   resources_.memory.of(tensor.id), int_of(stream.rows.width),
                                   int_of(stream.rows.first), int_of(rows * stream.rows.width)});
    logged.push_back({{resources_.ring->object(), source}, resources_.memory.object(tensor.id)});
  }
  return logged;
}

void PlanRun::read_device_times() {
  for (std::size_t position = 0; position < commands_.size(); ++position) {
    for (Command& command : commands_[position]) {
      command.on_device = times_of(command, plan_.launches[position]);
      if (command.on_device) device_clock_.observe(command.queued, *command.on_device);
    }
  }
}

RunTimes PlanRun::collect(std::uint64_t began) {
  RunTimes run;
  run.began = began;
  run.ended = recorder_.now();
  run.split = split_;
  run.slices = slices_;
  read_device_times();
  std::map<LaunchKind, std::uint64_t> complete;  // the command before, of each queue
  for (std::size_t position = 0; position < commands_.size(); ++position) {
    LaunchTimes launch;
    for (const Command& command : commands_[position]) {
      std::uint64_t& before = complete[plan_.launches[position].kind];
      if (!command.on_device) ++run.host_timed;
      const EventTimes times = command.on_device
                                   ? device_clock_.on_host(*command.on_device)
                                   : EventTimes{command.queued, command.queued,
                                                std::max(command.queued, before), command.complete};
      before = command.complete;
      recorder_.measure(command.operation, times);
      launch.started =
          launch.started == 0 ? times.started : std::min(launch.started, times.started);
      launch.ended = std::max(launch.ended, times.ended);
    }
    run.launches.push_back(launch);
  }
  return run;
}

}  // namespace fm
