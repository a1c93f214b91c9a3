#include "executor/streamer/streamer.hpp"

#include <xxhash.h>

#include <cstring>

#include "core/diagnostics.hpp"
#include "executor/plan_names.hpp"

namespace fm {

/// XXH3-64 over the parts of one slice, in order.
class Streamer::SliceChecksum {
 public:
  SliceChecksum() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
  ~SliceChecksum() { XXH3_freeState(state_); }
  SliceChecksum(const SliceChecksum&) = delete;
  SliceChecksum& operator=(const SliceChecksum&) = delete;
  void add(const std::uint8_t* data, Bytes bytes) {
    XXH3_64bits_update(state_, data, bytes.count());
  }
  std::uint64_t value() const { return XXH3_64bits_digest(state_); }
  Bytes followed;  ///< of the slice; guarded by the streamer's mutex

 private:
  XXH3_state_t* state_;
};

/// Bytes of a buffer for the host to write. Reader threads call OpenCL one at a time: not every
/// implementation takes it that two use one queue (Oclgrind 21.10 crashes).
class Streamer::WriteRange {
 public:
  /// A part of the ring, mapped.
  WriteRange(Streamer& streamer, const StagingRing& ring, Bytes offset, Bytes bytes,
             const std::string& weight)
      : calls_(streamer.calls_mutex_), bytes_(bytes) {
    map(streamer, ring.buffer(), offset, "the staging ring for " + weight);
  }
  /// A buffer from its begin; mapped only where it has no pages of its own.
  WriteRange(Streamer& streamer, HostFilledBuffer& buffer, Bytes bytes)
      : calls_(streamer.calls_mutex_), bytes_(bytes) {
    if (buffer.in_pages()) {
      taken_ = &buffer;
      data_ = buffer.take();
    } else {
      map(streamer, buffer.memory(), Bytes(0), buffer.name());
    }
  }
  ~WriteRange() {
    if (!range_) return;
    const std::lock_guard<std::mutex> lock(calls_);
    range_.reset();
  }
  WriteRange(const WriteRange&) = delete;
  WriteRange& operator=(const WriteRange&) = delete;
  std::uint8_t* data() const { return data_; }
  Bytes size() const { return bytes_; }
  /// The bytes are written and become the device's.
  void finish() {
    if (taken_ != nullptr) return taken_->hand_back();
    const std::lock_guard<std::mutex> lock(calls_);
    range_->unmap();
    range_.reset();
  }

 private:
  void map(Streamer& streamer, const OpenClMemory& buffer, Bytes offset, const std::string& name) {
    const std::lock_guard<std::mutex> lock(calls_);
    range_.emplace(streamer.map_queue_, buffer, offset, bytes_, CL_MAP_WRITE_INVALIDATE_REGION,
                   name);
    data_ = range_->data();
  }

  std::mutex& calls_;
  Bytes bytes_;
  std::uint8_t* data_ = nullptr;
  std::optional<MappedRange> range_;
  HostFilledBuffer* taken_ = nullptr;
};

Streamer::Streamer(const OpenClContext& context, const Plan& plan, const WeightsIndex& index,
                   WeightsReader& reader, HostRecorder& recorder)
    : plan_(plan),
      index_(index),
      reader_(reader),
      recorder_(recorder),
      map_queue_(create_queue(context, "map")),
      copy_queue_(create_queue(context, "copy")),
      checksums_(plan.weights.size()) {
  for (std::uint32_t i = 0; i < reader_threads; ++i) {
    threads_.emplace_back([this, i] { read_all(reader_thread(i)); });
  }
}

Streamer::~Streamer() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  if (ring_) ring_->stop();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ReadTicket Streamer::submit(const ReadRequest& request) {
  auto ticket = std::make_shared<ReadResult>();
  const std::lock_guard<std::mutex> lock(mutex_);
  pending_.push_back({request, ticket});
  changed_.notify_all();
  return ticket;
}

const ReadResult& Streamer::wait(const ReadTicket& ticket) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return ticket->done || failure_; });
  if (!ticket->done) std::rethrow_exception(failure_);
  return *ticket;
}

void Streamer::read_all(std::uint32_t thread) {
  try {
    while (std::optional<Pending> next = take(thread)) {
      ReadResult result = *next->ticket;
      handle(next->request, thread, &result);
      const std::lock_guard<std::mutex> lock(mutex_);
      result.done = true;
      *next->ticket = result;
      changed_.notify_all();
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

std::optional<Streamer::Pending> Streamer::take(std::uint32_t thread) {
  const std::lock_guard<std::mutex> in_order(take_mutex_);
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || failure_ || !pending_.empty(); });
  if (stop_ || failure_) return std::nullopt;
  Pending next = std::move(pending_.front());
  pending_.pop_front();
  lock.unlock();
  if (next.request.part.staged) {
    if (next.request.part.claim > Bytes(0)) {
      claimed_ = ring_->claim(next.request.part.claim, thread, next.request.cause);
    }
    next.ticket->piece = claimed_;
  }
  return next;
}

/// The first failure is the one to tell; others follow from it.
void Streamer::fail(std::exception_ptr failure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  changed_.notify_all();
}

void Streamer::handle(const ReadRequest& request, std::uint32_t thread, ReadResult* result) {
  if (request.part.gather) return gather_rows(request, thread, result);
  if (!request.part.staged) return read_into_buffer(request, thread, result);
  read_into_ring(request, thread, result);
  if (request.copy_to.image) copy_from_ring(request, thread, result);
}

void Streamer::read_into_buffer(const ReadRequest& request, std::uint32_t thread,
                                ReadResult* result) {
  const WeightSlice& slice = plan_.weights[request.part.weight];
  const std::uint64_t map =
      recorder_.begin(thread, map_operation(request.object, slice.bytes, true), {request.cause});
  WriteRange range(*this, *request.buffer, slice.bytes);
  recorder_.end(map);
  read_mapped(request, thread, slice.file_offset, range, request.object, Bytes(0));
  follow_checksum(request.part, range.data());
  result->unmap = recorder_.begin(thread, unmap_operation(request.object, slice.bytes));
  range.finish();
  recorder_.end(result->unmap);
}

void Streamer::gather_rows(const ReadRequest& request, std::uint32_t thread, ReadResult* result) {
  const WeightGather& gather = plan_.gathers[*request.part.gather];
  const Bytes row_bytes = gathered_row_bytes(plan_, gather);
  const Bytes bytes = plan_.tensor(gather.tensor).bytes;
  const std::uint64_t map =
      recorder_.begin(thread, map_operation(request.object, bytes, true), {request.cause});
  WriteRange range(*this, *request.buffer, bytes);
  recorder_.end(map);
  const std::uint64_t read = recorder_.begin(
      thread, rows_read_operation(gather.tensor, *request.rows, row_bytes, request.object));
  reader_.read_rows(*request.rows, row_bytes, range.data(), stop_);
  recorder_.end(read);
  bytes_read_ += (row_bytes * request.rows->size()).count();
  for (const RowRead& row : *request.rows) {
    const std::uint8_t* first = range.data() + (row_bytes * row.rows[0]).count();
    for (const std::size_t copy : row.rows) {
      std::memmove(range.data() + (row_bytes * copy).count(), first, row_bytes.count());
    }
  }
  result->unmap = recorder_.begin(thread, unmap_operation(request.object, bytes));
  range.finish();
  recorder_.end(result->unmap);
}

void Streamer::read_into_ring(const ReadRequest& request, std::uint32_t thread,
                              ReadResult* result) {
  const WeightSlice& slice = plan_.weights[request.part.weight];
  const Bytes begin = slice.file_offset + request.part.begin;
  const Bytes end = slice.file_offset + request.part.end;
  const Bytes aligned_begin = begin - begin % slice_alignment;
  const Bytes bytes =
      std::min(round_up(end, slice_alignment), std::max(end, reader_.file_bytes())) - aligned_begin;
  const Bytes room = result->piece.offset + request.part.claim_offset;
  result->source = room + (begin - aligned_begin);

  const std::uint64_t map = recorder_.begin(thread, map_operation(ring_->object(), bytes, true),
                                            {result->piece.claimed_by});
  WriteRange range(*this, *ring_, room, bytes, named(plan_.tensor(slice.tensor)));
  recorder_.end(map);
  read_mapped(request, thread, aligned_begin, range, ring_->object(), room);
  follow_checksum(request.part, range.data() + (begin - aligned_begin).count());
  result->unmap = recorder_.begin(thread, unmap_operation(ring_->object(), bytes));
  range.finish();
  recorder_.end(result->unmap);
}

void Streamer::read_mapped(const ReadRequest& request, std::uint32_t thread, Bytes file_offset,
                           const WriteRange& range, std::uint64_t object, Bytes object_offset) {
  trace::HostOperation operation;
  trace::DiskRead* read = operation.mutable_disk_read();
  read->set_file_offset(file_offset.count());
  read->set_bytes(range.size().count());
  read->set_object(object);
  read->set_object_offset(object_offset.count());
  read->set_request_bytes(std::min(WeightsReader::request_bytes, range.size()).count());
  read->set_direct(reader_.can_read_directly(file_offset, range.size(), range.data()));
  read->set_weight(plan_.weights[request.part.weight].tensor);
  const std::uint64_t id = recorder_.begin(thread, std::move(operation));
  reader_.read(file_offset, range.size(), range.data(), stop_);
  recorder_.end(id);
  bytes_read_ += range.size().count();
}

void Streamer::copy_from_ring(const ReadRequest& request, std::uint32_t thread,
                              ReadResult* result) {
  const std::lock_guard<std::mutex> lock(calls_mutex_);
  const OpenClEvent event =
      enqueue_copy(copy_queue_, recorder_, *ring_, request.part, *result, request.copy_to, thread,
                   "", named(plan_.tensor(tensor_of(plan_, request.part))), {}, {}, &result->copy);
  recorder_.end(result->copy);
}

void Streamer::follow_checksum(const ReadPart& part, const std::uint8_t* data) {
  SliceChecksum* checksum = checksum_in_turn(part);
  checksum->add(data, part.end - part.begin);
  const std::uint64_t value = checksum->value();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    checksum->followed = part.end;
    if (part.end == plan_.weights[part.weight].bytes) checksums_[part.weight].reset();
    changed_.notify_all();
  }
  if (part.end < plan_.weights[part.weight].bytes) return;
  const WeightsIndexEntry& entry = index_.entries[part.weight];
  if (value == entry.checksum) return;
  throw UserError(reader_.path() + ": the slice of weight " + entry.tensor + " (" + entry.name +
                  ") at byte " + std::to_string(entry.offset.count()) +
                  " is damaged: its checksum differs; pack the weights again");
}

Streamer::SliceChecksum* Streamer::checksum_in_turn(const ReadPart& part) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::unique_ptr<SliceChecksum>& checksum = checksums_[part.weight];
  if (!checksum) checksum = std::make_unique<SliceChecksum>();
  changed_.wait(lock, [&] { return stop_ || failure_ || checksum->followed == part.begin; });
  if (checksum->followed != part.begin) throw DeviceError("reading was stopped");
  return checksum.get();
}

OpenClEvent enqueue_copy(const OpenClQueue& queue, HostRecorder& recorder, StagingRing& ring,
                         const ReadPart& part, const ReadResult& read, const ImageTarget& target,
                         std::uint32_t thread, const std::string& launch, const std::string& weight,
                         const std::vector<cl_event>& after_events, Causes after,
                         std::uint64_t* operation) {
  trace::HostOperation logged;
  trace::Copy* copy = logged.mutable_copy();
  copy->set_source(ring.object());
  copy->set_source_offset(read.source.count());
  copy->set_destination(target.object);
  copy->set_first_row(static_cast<std::uint32_t>(part.first_row));
  copy->set_rows(static_cast<std::uint32_t>(part.rows));
  copy->set_bytes((part.end - part.begin).count());
  copy->set_queue(copy_queue_number);
  copy->set_launch(launch);
  after.push_back(read.unmap);
  *operation = recorder.begin(thread, std::move(logged), after);

  const std::size_t origin[3] = {0, part.first_row, 0};
  const std::size_t region[3] = {target.width, part.rows, 1};
  const std::string attempt =
      (launch.empty() ? "" : "launch " + launch + ": ") + "copying " + weight + " to its image";
  cl_event event = nullptr;
  check_opencl(opencl().clEnqueueCopyBufferToImage(
                   queue.get(), ring.buffer().get(), target.image, read.source.count(), origin,
                   region, static_cast<cl_uint>(after_events.size()),
                   after_events.empty() ? nullptr : after_events.data(), &event),
               "clEnqueueCopyBufferToImage", attempt);
  recorder.end(*operation);
  OpenClEvent owned(event);
  flush(queue, attempt);
  ring.copy_enqueued(read.piece, owned, *operation);
  return owned;
}

}  // namespace fm
