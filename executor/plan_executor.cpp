#include "executor/plan_executor.hpp"

#include <cstring>
#include <future>
#include <set>

#include "executor/device_limits.hpp"
#include "executor/flush_habit.hpp"
#include "executor/held_memory.hpp"
#include "executor/launch_kernels.hpp"
#include "executor/process_memory.hpp"

namespace fm {

PlanExecutor::PlanExecutor(const Plan& plan, const WeightsIndex& index,
                           const std::string& weights_path, const OpenClDevice& device,
                           const ExecutorOptions& options)
    : plan_(plan),
      schedule_(schedule_reads(plan)),
      context_(open_context(device)),
      compute_queue_(create_queue(context_, "compute")),
      reader_(weights_path, options.disk_bytes_per_second),
      programs_(context_, options.cache_folder),
      gathered_rows_(plan.gathers.size()),
      build_{options.check_bounds, options.launch_cap.has_value()} {
  if (options.launch_cap) cap_.emplace(*options.launch_cap, device);
  telling_held_memory(recorder_, [&] { make_ready(index); });
}

void PlanExecutor::make_ready(const WeightsIndex& index) {
  std::future<std::uint64_t> programs =
      std::async(std::launch::async, [this] { return load_programs(); });
  memory_ = std::make_unique<TensorMemory>(context_, plan_, recorder_);
  streamer_ = std::make_unique<Streamer>(context_, plan_, index, reader_, recorder_);
  if (schedule_.ring > Bytes(0)) make_ring();
  if (build_.checked) {
    bounds_ =
        std::make_unique<BoundsReport>(context_, compute_queue_, plan_, schedule_.ring, build_);
  }

  const std::vector<ReadTicket> preloads = post_preloads();
  const std::uint64_t since = recorder_.now();
  const std::uint64_t loaded = programs.get();
  recorder_.note(main_thread, wait_operation(), {loaded}, since);
  await_preloads(preloads);
}

std::uint64_t PlanExecutor::load_programs() {
  const std::uint64_t since = recorder_.now();
  kernels_ = build_kernels(plan_, context_, programs_, build_);
  startup_ns_ = recorder_.now();
  return recorder_.note(program_thread,
                        think_operation(trace::Think::PROGRAMS, startup_ns_ - since,
                                        static_cast<std::uint32_t>(programs_.size())),
                        {context_made_}, since);
}

OpenClContext PlanExecutor::open_context(const OpenClDevice& device) {
  check_device_limits(plan_, device);
  const std::uint64_t since = recorder_.now();
  OpenClContext context(device);
  context_made_ = recorder_.note(
      main_thread, think_operation(trace::Think::CONTEXT, recorder_.now() - since), {}, since);
  return context;
}

void PlanExecutor::make_ring() {
  ring_ = std::make_unique<StagingRing>(context_, schedule_.ring, recorder_);
  streamer_->use_ring(ring_.get());
}

std::vector<ReadTicket> PlanExecutor::post_preloads() {
  std::vector<ReadTicket> tickets;
  std::set<std::size_t> made;
  for (const ReadPart& part : schedule_.preload) {
    const WeightSlice& slice = plan_.weights[part.weight];
    const PlanTensor& tensor = plan_.tensor(slice.tensor);
    if (!memory_->of(tensor.id)) {
      memory_->create_weight(tensor, class_when_preloaded(slice, tensor));
      made.insert(part.weight);
    }
    if (made.count(part.weight) == 0) continue;
    if (part.staged && !ring_) make_ring();
    ReadRequest request;
    request.part = part;
    request.cause = memory_->created_by(tensor.id);
    if (part.staged) {
      request.copy_to = {memory_->of(tensor.id), memory_->object(tensor.id),
                         grid_extent(tensor.layout, tensor.shape).width};
    } else {
      request.buffer = &memory_->weight(tensor.id);
      request.object = memory_->object(tensor.id);
    }
    tickets.push_back(streamer_->submit(request));
  }
  return tickets;
}

void PlanExecutor::await_preloads(const std::vector<ReadTicket>& tickets) {
  if (tickets.empty()) return;
  const std::uint64_t since = recorder_.now();
  Causes causes;  // every copy: in a replay readers may enqueue theirs in another order
  for (const ReadTicket& ticket : tickets) {
    const ReadResult& read = streamer_->wait(ticket);
    causes.push_back(read.unmap);
    causes.push_back(read.copy);
  }
  finish(streamer_->copy_queue(), "copying preloaded weights to their images");
  recorder_.note(main_thread, wait_operation(), causes, since);
  if (ring_) {
    for (const ReadTicket& ticket : tickets) ring_->free(ticket->piece.number, main_thread);
    if (plan_.staging_ring_bytes == Bytes(0)) {
      streamer_->use_ring(nullptr);
      ring_.reset();
    }
  }
  return_freed_memory();
}

void PlanExecutor::poison() {
  memory_->poison(compute_queue_);
  recorder_.skip_idle();
}

void PlanExecutor::write_input(const PlanTensor& tensor, const std::vector<std::uint8_t>& bytes) {
  memory_->write(compute_queue_, tensor, bytes);
  for (std::size_t i = 0; i < plan_.gathers.size(); ++i) {
    if (plan_.gathers[i].indices != tensor.id) continue;
    std::vector<std::int32_t> indices(bytes.size() / sizeof(std::int32_t));
    std::memcpy(indices.data(), bytes.data(), indices.size() * sizeof(std::int32_t));
    gathered_rows_[i] = row_reads(plan_, plan_.gathers[i], indices);
  }
}

std::vector<std::uint8_t> PlanExecutor::read_tensor(const PlanTensor& tensor) {
  return memory_->read(compute_queue_, tensor);
}

void PlanExecutor::write_tensor(const PlanTensor& tensor, const std::vector<std::uint8_t>& bytes) {
  memory_->write(compute_queue_, tensor, bytes);
}

void PlanExecutor::clear(const PlanTensor& tensor) {
  write_tensor(tensor, std::vector<std::uint8_t>(tensor.bytes.count()));
}

RunTimes PlanExecutor::run(const RunProgress& progress, LaunchObserver* observer) {
  const std::uint64_t began = recorder_.now();
  await_preloads(post_preloads());
  RunTimes times = PlanRun({plan_, schedule_, kernels_, compute_queue_, *streamer_, gathered_rows_,
                            ring_.get(), *memory_, recorder_, observer, bounds_.get(),
                            cap_ ? &*cap_ : nullptr, flush_period(context_.device())})
                       .execute(progress);
  times.began = began;
  return times;
}

}  // namespace fm
