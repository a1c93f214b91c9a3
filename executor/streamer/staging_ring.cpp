#include "executor/streamer/staging_ring.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"

namespace fm {

StagingRing::StagingRing(const OpenClContext& context, Bytes bytes, HostRecorder& recorder)
    : recorder_(recorder), capacity_(bytes), object_(recorder.new_object()) {
  room_made_by_ = {
      recorder_.create(create_buffer_operation(object_, trace::STAGING, bytes, "staging ring"),
                       [&] { buffer_ = HostFilledBuffer(context, bytes, "the staging ring"); })};
}

StagingRing::~StagingRing() { recorder_.note(main_thread, release_operation(object_)); }

std::optional<Bytes> StagingRing::place(Bytes bytes) const {
  if (entries_.empty()) return bytes <= capacity_ ? std::optional(Bytes(0)) : std::nullopt;
  const Bytes head = entries_.front().piece.offset;
  const Bytes tail = entries_.back().piece.offset + entries_.back().piece.bytes;
  if (tail > head) {
    if (tail + bytes <= capacity_) return tail;
    return bytes <= head ? std::optional(Bytes(0)) : std::nullopt;
  }
  return tail + bytes <= head ? std::optional(tail) : std::nullopt;
}

RingPiece StagingRing::claim(Bytes bytes, std::uint32_t thread, std::uint64_t cause) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::optional<Bytes> offset;
  while (!(offset = place(bytes))) {
    if (entries_.empty())
      throw UserError("the staging ring is too small for one piece of a weight");
    changed_.wait(lock, [&] { return stopped_ || entries_.empty() || entries_.front().copied; });
    if (stopped_) throw DeviceError("staging was stopped");
    if (entries_.empty()) continue;
    const std::uint64_t oldest = entries_.front().piece.number;
    check_opencl(opencl().clRetainEvent(entries_.front().copied.get()), "clRetainEvent",
                 "keeping a copy's event");
    const OpenClEvent copied(entries_.front().copied.get());
    lock.unlock();
    wait_for(copied, "a copy out of the staging ring");
    lock.lock();
    if (!entries_.empty() && entries_.front().piece.number == oldest) {
      free_entry(entries_.front(), thread);
      drop_free_entries();
    }
  }
  Causes causes = std::move(room_made_by_);
  causes.push_back(cause);
  Entry entry;
  entry.piece = {++last_number_, *offset, bytes, 0};
  entry.piece.claimed_by = recorder_.note(
      thread, change_class_operation(object_, trace::STAGING, trace::UM_IN_FLIGHT, bytes), causes);
  room_made_by_ = {entry.piece.claimed_by};
  entries_.push_back(std::move(entry));
  return entries_.back().piece;
}

void StagingRing::copy_enqueued(const RingPiece& piece, const OpenClEvent& event,
                                std::uint64_t copy) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.piece.number != piece.number) continue;
    check_opencl(opencl().clRetainEvent(event.get()), "clRetainEvent", "keeping a copy's event");
    entry.copied = OpenClEvent(event.get());
    entry.copy = copy;
  }
  changed_.notify_all();
}

void StagingRing::free(std::uint64_t piece, std::uint32_t thread) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.piece.number == piece && !entry.free) free_entry(entry, thread);
  }
  drop_free_entries();
  changed_.notify_all();
}

void StagingRing::free_entry(Entry& entry, std::uint32_t thread) {
  entry.free = true;
  room_made_by_.push_back(entry.copy);
  recorder_.note(
      thread,
      change_class_operation(object_, trace::UM_IN_FLIGHT, trace::STAGING, entry.piece.bytes),
      {entry.copy});
}

void StagingRing::drop_free_entries() {
  while (!entries_.empty() && entries_.front().free) entries_.pop_front();
}

void StagingRing::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace fm
