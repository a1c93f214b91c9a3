#pragma once
// The ring of unified memory through which image weights pass: filled by the reader, emptied by
// copies and by kernels that stream.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "executor/host_filled_buffer.hpp"
#include "executor/host_recorder.hpp"
#include "executor/opencl_objects.hpp"

namespace fm {

struct RingPiece {
  std::uint64_t number = 0;      ///< counts up from 1
  Bytes offset, bytes;           ///< in the ring's buffer
  std::uint64_t claimed_by = 0;  ///< host operation: its bytes became UM in flight
};

/// One buffer, given out piece by piece in a circle. Thread-safe: the reader claims, either thread
/// copies and frees.
class StagingRing {
 public:
  /// Logs its creation in class STAGING.
  StagingRing(const OpenClContext& context, Bytes bytes, HostRecorder& recorder);
  ~StagingRing();

  const OpenClMemory& buffer() const { return buffer_.memory(); }
  std::uint64_t object() const { return object_; }
  Bytes capacity() const { return capacity_; }

  /// Contiguous room, after waiting for what empties the oldest pieces as far as needed. `thread`
  /// claims it because of `cause`. Throws DeviceError after stop().
  RingPiece claim(Bytes bytes, std::uint32_t thread, std::uint64_t cause);
  /// The copy or launch that empties the piece was enqueued as host operation `copy`.
  void copy_enqueued(const RingPiece& piece, const OpenClEvent& event, std::uint64_t copy);
  /// `thread` knows that the piece's copy is complete.
  void free(std::uint64_t piece, std::uint32_t thread);
  /// Wakes and refuses whoever waits.
  void stop();

 private:
  struct Entry {
    RingPiece piece;
    OpenClEvent copied;
    std::uint64_t copy = 0;
    bool free = false;
  };
  std::optional<Bytes> place(Bytes bytes) const;
  void free_entry(Entry& entry, std::uint32_t thread);
  void drop_free_entries();

  HostRecorder& recorder_;
  Bytes capacity_;
  std::uint64_t object_;
  HostFilledBuffer buffer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;  // oldest first
  std::uint64_t last_number_ = 0;
  // What the next claim comes after: the claim before it, or the ring's creation, and all that
  // emptied pieces since. Threads may replay claims and copies in another order than they had here.
  Causes room_made_by_;
  bool stopped_ = false;
};

}  // namespace fm
