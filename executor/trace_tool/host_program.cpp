#include "executor/trace_tool/host_program.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "core/plan_streams.hpp"
#include "executor/host_recorder.hpp"
#include "executor/model_io.hpp"
#include "executor/plan_walk.hpp"
#include "executor/streamer/gathered_rows.hpp"
#include "executor/streamer/read_schedule.hpp"
#include "executor/streamer/weights_reader.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

/// The host log as it grows.
class HostLog {
 public:
  std::uint64_t add(std::uint32_t thread, trace::HostOperation operation,
                    const Causes& after = {}) {
    operation.set_id(operations_.size() + 1);
    operation.set_thread(thread);
    for (const std::uint64_t cause : after) {
      if (cause != 0) operation.add_after(cause);
    }
    operations_.push_back(std::move(operation));
    return operations_.back().id();
  }
  std::uint64_t new_object() { return ++objects_; }
  std::vector<trace::HostOperation> take() { return std::move(operations_); }

 private:
  std::vector<trace::HostOperation> operations_;
  std::uint64_t objects_ = 0;
};

struct Piece {
  std::uint64_t number = 0;
  Bytes offset, bytes;
  std::uint64_t claimed_by = 0;
  std::uint64_t copy = 0;  // 0: not enqueued yet
};

/// StagingRing's bookkeeping, without memory.
class RingLog {
 public:
  RingLog(Bytes capacity, HostLog& log)
      : log_(log), capacity_(capacity), object_(log.new_object()) {
    room_made_by_ = {log_.add(
        main_thread, create_buffer_operation(object_, trace::STAGING, capacity, "staging ring"))};
  }
  std::uint64_t object() const { return object_; }

  /// None while the oldest piece's copy is not enqueued and there is no room.
  std::optional<Piece> claim(Bytes bytes, std::uint32_t thread, std::uint64_t cause) {
    std::optional<Bytes> offset;
    while (!(offset = place(bytes))) {
      if (pieces_.front().copy == 0) return std::nullopt;
      free_front(thread);
    }
    room_made_by_.push_back(cause);
    Piece piece{++last_number_, *offset, bytes, 0, 0};
    piece.claimed_by = log_.add(
        thread, change_class_operation(object_, trace::STAGING, trace::UM_IN_FLIGHT, bytes),
        room_made_by_);
    room_made_by_ = {piece.claimed_by};
    pieces_.push_back(piece);
    return piece;
  }

  void copied(std::uint64_t number, std::uint64_t copy) {
    for (Piece& piece : pieces_) {
      if (piece.number == number) piece.copy = copy;
    }
  }

  /// Copies complete in order, so that a piece known copied is the oldest or was freed before.
  void free(std::uint64_t number) {
    while (!pieces_.empty() && pieces_.front().number <= number) free_front(main_thread);
  }

 private:
  std::optional<Bytes> place(Bytes bytes) const {
    if (pieces_.empty()) return Bytes(0);
    const Bytes head = pieces_.front().offset;
    const Bytes tail = pieces_.back().offset + pieces_.back().bytes;
    if (tail > head) {
      if (tail + bytes <= capacity_) return tail;
      return bytes <= head ? std::optional(Bytes(0)) : std::nullopt;
    }
    return tail + bytes <= head ? std::optional(tail) : std::nullopt;
  }

  void free_front(std::uint32_t thread) {
    const Piece piece = pieces_.front();
    pieces_.pop_front();
    room_made_by_.push_back(piece.copy);
    log_.add(thread,
             change_class_operation(object_, trace::UM_IN_FLIGHT, trace::STAGING, piece.bytes),
             {piece.copy});
  }

  HostLog& log_;
  Bytes capacity_;
  std::uint64_t object_;
  std::deque<Piece> pieces_;  // oldest first
  std::uint64_t last_number_ = 0;
  Causes room_made_by_;  // as StagingRing's
};

/// A read that was asked for, and what became of it.
struct Read {
  ReadPart part;
  std::uint32_t thread = 0;
  std::uint64_t object = 0;   // unstaged: the weight's buffer
  std::uint64_t copy_to = 0;  // staged and preloaded: the image
  std::uint64_t cause = 0;
  bool done = false;
  std::uint64_t unmap = 0;
  Piece piece;
  Bytes source;
  std::uint64_t copy = 0;
};

class HostProgram : private PlanActor {
 public:
  HostProgram(const Plan& plan, const HostTimes& times)
      : plan_(plan),
        times_(times),
        schedule_(schedule_reads(plan)),
        walk_(plan, schedule_, *this),
        commands_(plan.launches.size()),
        streamed_(schedule_.stream.size()) {
    for (const WeightSlice& slice : plan.weights) {
      file_end_ = std::max(file_end_, slice.file_offset + slice.bytes);
    }
  }

  std::vector<trace::HostOperation> build() {
    prepare();
    for (const PlanTensor& tensor : plan_.tensors) {
      if (tensor.role != TensorRole::input) continue;
      log_.add(main_thread,
               transfer_operation(places_.at(tensor.id).object, tensor.offset, tensor.bytes, true));
    }
    walk_.run();
    return log_.take();
  }

 private:
  struct Place : LoggedPlace {
    std::uint64_t created_by = 0;
  };
  struct Command {
    std::uint64_t operation = 0;
    std::uint64_t ring_piece = 0;
  };

  // ---- before the run
  void prepare() {
    const std::uint64_t context =
        log_.add(main_thread, think_operation(trace::Think::CONTEXT, times_.context_ns));
    const std::uint64_t programs = load_programs(context);
    create_pools();
    if (schedule_.ring > Bytes(0)) ring_.emplace(schedule_.ring, log_);
    std::vector<Read> reads;
    for (const ReadPart& part : schedule_.preload) reads.push_back(preload(part));
    log_.add(main_thread, wait_operation(), {programs});
    await(reads);
  }

  std::uint64_t load_programs(std::uint64_t context) {
    const std::uint64_t count = count_programs();
    return log_.add(program_thread,
                    think_operation(trace::Think::PROGRAMS, count * times_.program_ns,
                                    static_cast<std::uint32_t>(count)),
                    {context});
  }

  void create_pools() {
    std::map<std::string, std::uint64_t> pools;
    for (const Pool& pool : plan_.pools) {
      const std::uint64_t object = pools[pool.id] = log_.new_object();
      const bool image = pool.placement == Placement::image2d;
      log_.add(main_thread,
               image ? create_image_operation(object, trace::ACTIVATIONS, pool.extent,
                                              size_of(pool.dtype) * 4, pool.id)
                     : create_buffer_operation(object, trace::ACTIVATIONS, pool.bytes, pool.id));
    }
    for (const PlanTensor& tensor : plan_.tensors) {
      if (!tensor.pool.empty()) places_[tensor.id] = {{pools.at(tensor.pool), tensor.offset}, 0};
    }
  }

  void create_weight(const PlanTensor& tensor, trace::MemoryClass memory_class) {
    Place& place = places_[tensor.id];
    place.object = log_.new_object();
    const bool image = tensor.placement == Placement::image2d;
    place.created_by = log_.add(
        main_thread,
        image ? create_image_operation(place.object, memory_class,
                                       grid_extent(tensor.layout, tensor.shape),
                                       size_of(tensor.dtype) * 4, tensor.id)
              : create_buffer_operation(place.object, memory_class, tensor.bytes, tensor.id));
  }

  /// A preloaded part is read at once: the ring empties itself.
  Read preload(const ReadPart& part) {
    const PlanTensor& tensor = weight_of(part);
    if (places_.count(tensor.id) == 0) {
      create_weight(tensor, class_when_preloaded(plan_.weights[part.weight], tensor));
    }
    const Place& place = places_.at(tensor.id);
    Read read;
    read.part = part;
    read.cause = place.created_by;
    (part.staged ? read.copy_to : read.object) = place.object;
    if (!try_read(&read)) throw std::logic_error("a preload waits for ring room");
    return read;
  }

  std::uint64_t count_programs() const {
    std::set<std::string> programs;
    for (const PlanLaunch& launch : plan_.launches) {
      if (launch.kind != LaunchKind::kernel) continue;
      programs.insert(program_name(plan_, launch));
    }
    return programs.size();
  }

  void await(const std::vector<Read>& reads) {
    if (reads.empty()) return;
    Causes causes;
    for (const Read& read : reads) {
      causes.push_back(read.unmap);
      causes.push_back(read.copy);
    }
    log_.add(main_thread, wait_operation(), causes);
    if (!ring_) return;
    for (const Read& read : reads) ring_->free(read.piece.number);
    if (plan_.staging_ring_bytes != Bytes(0)) return;
    log_.add(main_thread, release_operation(ring_->object()));
    ring_.reset();
  }

  // ---- the reader threads: they take turns
  std::uint32_t next_reader() { return reader_thread(reads_++ % reader_threads); }

  const PlanTensor& weight_of(const ReadPart& part) const {
    return plan_.tensor(tensor_of(plan_, part));
  }

  /// False when the ring has no room until the main thread enqueues a copy.
  bool try_read(Read* read) {
    if (read->thread == 0) read->thread = next_reader();
    if (read->part.gather) {
      log_gather(read, plan_.gathers[*read->part.gather]);
      read->done = true;
      return true;
    }
    const WeightSlice& slice = plan_.weights[read->part.weight];
    if (!read->part.staged) {
      log_mapped_read(read, read->object, Bytes(0), slice.file_offset, slice.bytes, read->cause);
      read->done = true;
      return true;
    }
    const Bytes begin = slice.file_offset + read->part.begin;
    const Bytes end = slice.file_offset + read->part.end;
    const Bytes aligned = begin - begin % slice_alignment;
    const Bytes bytes =
        std::min(round_up(end, slice_alignment), std::max(end, file_end_)) - aligned;
    if (read->part.claim > Bytes(0)) {
      const std::optional<Piece> piece = ring_->claim(read->part.claim, read->thread, read->cause);
      if (!piece) return false;
      claimed_ = *piece;
    }
    read->piece = claimed_;
    const Bytes room = claimed_.offset + read->part.claim_offset;
    read->source = room + (begin - aligned);
    log_mapped_read(read, ring_->object(), room, aligned, bytes, claimed_.claimed_by);
    if (read->copy_to != 0) {
      read->copy = log_copy(*read, read->copy_to, read->thread, "", {});
    }
    read->done = true;
    return true;
  }

  void log_gather(Read* read, const WeightGather& gather) {
    const Bytes bytes = plan_.tensor(gather.tensor).bytes;
    log_.add(read->thread, map_operation(read->object, bytes, true), {read->cause});
    const PlanTensor& indices = plan_.tensor(gather.indices);
    const NpyArray drawn = random_input(indices, 1, rows_indexed_by(plan_, indices));
    const std::vector<std::int32_t> values(drawn.values.begin(), drawn.values.end());
    const Bytes row_bytes = gathered_row_bytes(plan_, gather);
    log_.add(read->thread, rows_read_operation(gather.tensor, row_reads(plan_, gather, values),
                                               row_bytes, read->object));
    read->unmap = log_.add(read->thread, unmap_operation(read->object, bytes));
  }

  void log_mapped_read(Read* read, std::uint64_t object, Bytes object_offset, Bytes file_offset,
                       Bytes bytes, std::uint64_t cause) {
    log_.add(read->thread, map_operation(object, bytes, true), {cause});
    trace::HostOperation operation;
    trace::DiskRead* disk = operation.mutable_disk_read();
    disk->set_file_offset(file_offset.count());
    disk->set_bytes(bytes.count());
    disk->set_object(object);
    disk->set_object_offset(object_offset.count());
    disk->set_request_bytes(std::min(WeightsReader::request_bytes, bytes).count());
    disk->set_direct(file_offset % slice_alignment == Bytes(0) && bytes >= slice_alignment);
    disk->set_weight(plan_.weights[read->part.weight].tensor);
    log_.add(read->thread, std::move(operation));
    read->unmap = log_.add(read->thread, unmap_operation(object, bytes));
  }

  std::uint64_t log_copy(const Read& read, std::uint64_t image, std::uint32_t thread,
                         const std::string& launch, Causes after) {
    trace::HostOperation operation;
    trace::Copy* copy = operation.mutable_copy();
    copy->set_source(ring_->object());
    copy->set_source_offset(read.source.count());
    copy->set_destination(image);
    copy->set_first_row(static_cast<std::uint32_t>(read.part.first_row));
    copy->set_rows(static_cast<std::uint32_t>(read.part.rows));
    copy->set_bytes((read.part.end - read.part.begin).count());
    copy->set_queue(copy_queue_number);
    copy->set_launch(launch);
    after.push_back(read.unmap);
    const std::uint64_t id = log_.add(thread, std::move(operation), after);
    ring_->copied(read.piece.number, id);
    return id;
  }

  /// Reads go on in order, as far as they can.
  void advance_readers() {
    while (next_done_ < posted_ && try_read(&streamed_[next_done_])) ++next_done_;
  }

  // ---- the run
  void post_read(std::size_t part) override {
    Read& read = streamed_[part];
    read.part = schedule_.stream[part];
    read.cause = last_cause_;
    if (!read.part.staged) {
      const PlanTensor& tensor = weight_of(read.part);
      provide_memory(tensor, trace::UM_IN_FLIGHT);
      read.object = places_.at(tensor.id).object;
      if (walk_.taken_over_by(tensor.id) == nullptr) read.cause = places_.at(tensor.id).created_by;
    }
    ++posted_;
    advance_readers();
  }

  void await_read(std::size_t part) override {
    advance_readers();
    if (!streamed_[part].done) throw std::logic_error("a read waits for a copy that waits for it");
    log_.add(main_thread, wait_operation(), {streamed_[part].unmap});
  }

  void observe(std::size_t launch) override {
    const std::vector<Command>& commands = commands_[launch];
    last_cause_ = log_.add(main_thread, wait_operation(), {commands.back().operation});
    for (const Command& command : commands) {
      if (command.ring_piece != 0) ring_->free(command.ring_piece);
    }
  }

  void release(std::size_t launch, const std::string& weight) override {
    const auto place = places_.find(weight);
    if (place == places_.end()) return;
    log_.add(main_thread, release_operation(place->second.object),
             {commands_[launch].back().operation});
    places_.erase(place);
  }

  void provide_memory(const PlanTensor& weight, trace::MemoryClass memory_class) {
    if (places_.count(weight.id) != 0) return;
    if (const std::string* owner = walk_.taken_over_by(weight.id)) {
      auto node = places_.extract(*owner);
      node.key() = weight.id;
      places_.insert(std::move(node));
    } else {
      create_weight(weight, memory_class);
    }
  }

  void enqueue_copy(std::size_t position, std::size_t part) override {
    const PlanLaunch& launch = plan_.launches[position];
    const Read& read = streamed_[part];
    const PlanTensor& tensor = plan_.tensor(launch.weight);
    provide_memory(tensor, trace::TM_IN_FLIGHT);
    const std::uint64_t copy =
        log_copy(read, places_.at(tensor.id).object, main_thread, launch.id, dependencies(launch));
    commands_[position].push_back({copy, read.piece.number});
    advance_readers();
  }

  void enqueue_kernel(std::size_t position, const std::vector<std::size_t>& parts) override {
    const PlanLaunch& launch = plan_.launches[position];
    Causes causes;
    std::uint64_t piece = 0;  // of the ring: what one launch streams lies in one
    for (const std::size_t part : parts) {
      causes.push_back(streamed_[part].unmap);
      if (streamed_[part].part.staged) piece = streamed_[part].piece.number;
    }
    const Causes before = dependencies(launch);
    causes.insert(causes.end(), before.begin(), before.end());
    const std::vector<LoggedStream> streams = logged_streams(launch, parts);
    trace::HostOperation operation = launch_operation(
        launch, [this](const std::string& tensor) { return places_.at(tensor); }, streams);
    const std::uint64_t logged = log_.add(main_thread, std::move(operation), causes);
    commands_[position].push_back({logged, piece});
    if (piece == 0) return;
    ring_->copied(piece, logged);
    advance_readers();
  }

  /// As PlanRun binds them.
  std::vector<LoggedStream> logged_streams(const PlanLaunch& launch,
                                           const std::vector<std::size_t>& parts) {
    std::vector<LoggedStream> logged;
    const std::vector<WeightStream> streams = streams_in(plan_, launch);
    const auto slots = static_cast<std::size_t>(stream_slots(launch));
    for (std::size_t slot = 0; slot < slots && !streams.empty(); ++slot) {
      const WeightStream& stream = streams[slot < streams.size() ? slot : 0];
      const PlanTensor& tensor = plan_.tensor(plan_.weights[stream.weight].tensor);
      provide_memory(tensor, trace::TM_IN_FLIGHT);
      Bytes source;
      for (std::size_t i = 0; i < parts.size() && slot < streams.size(); ++i) {
        const Read& read = streamed_[parts[i]];
        if (read.part.staged && read.part.weight == stream.weight &&
            read.part.first_row == stream.rows.first) {
          source = read.source;
        }
      }
      logged.push_back({{ring_->object(), source}, places_.at(tensor.id).object});
    }
    return logged;
  }

  Causes dependencies(const PlanLaunch& launch) const {
    Causes causes;
    for (const std::size_t position : walk_.before(launch)) {
      if (!commands_[position].empty()) causes.push_back(commands_[position].back().operation);
    }
    return causes;
  }

  const Plan& plan_;
  const HostTimes& times_;
  const ReadSchedule schedule_;
  HostLog log_;
  std::optional<RingLog> ring_;
  std::map<std::string, Place> places_;  // by tensor
  PlanWalk walk_;
  std::vector<std::vector<Command>> commands_;  // by launch
  std::vector<Read> streamed_;                  // by part
  Bytes file_end_;
  std::size_t posted_ = 0;     // parts asked for
  std::size_t next_done_ = 0;  // parts read
  std::uint32_t reads_ = 0;    // taken by a reader, preloads included
  Piece claimed_;              // the newest
  std::uint64_t last_cause_ = 0;
};

}  // namespace

std::vector<trace::HostOperation> host_program(const Plan& plan, const HostTimes& times) {
  return HostProgram(plan, times).build();
}

}  // namespace fm
