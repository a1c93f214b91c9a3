#pragma once
// Weights from disk into mapped OpenCL memory, on threads of their own.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/plan.hpp"
#include "core/weights_file.hpp"
#include "executor/host_filled_buffer.hpp"
#include "executor/host_recorder.hpp"
#include "executor/opencl_objects.hpp"
#include "executor/streamer/gathered_rows.hpp"
#include "executor/streamer/read_schedule.hpp"
#include "executor/streamer/staging_ring.hpp"
#include "executor/streamer/weights_reader.hpp"

namespace fm {

/// Where an image weight goes when the reader itself copies it (preloading). Streamed ones are
/// copied by launches.
struct ImageTarget {
  cl_mem image = nullptr;
  std::uint64_t object = 0;
  std::uint64_t width = 0;  ///< texels
};

struct ReadRequest {
  ReadPart part;
  HostFilledBuffer* buffer = nullptr;  ///< unstaged: filled from byte 0; must outlive the read
  std::uint64_t object = 0;            ///< unstaged: of the buffer
  ImageTarget copy_to;                 ///< staged: copied by the reader when `image` is set
  const std::vector<RowRead>* rows = nullptr;  ///< of a gather; must outlive the read
  std::uint64_t cause = 0;                     ///< host operation that allows this read
};

/// What became of a request. Filled by the reader; valid after Streamer::wait().
struct ReadResult {
  bool done = false;
  std::uint64_t unmap = 0;  ///< host operation after which the bytes are there
  RingPiece piece;          ///< staged
  Bytes source;             ///< staged: byte offset of the first row in the ring
  std::uint64_t copy = 0;   ///< copied by the reader: that host operation
};
using ReadTicket = std::shared_ptr<ReadResult>;

/// Takes requests up in the order they are given, `reader_threads` at a time: while one maps, waits
/// for its command or unmaps, the disk serves another. Verifies each weight's checksum when its
/// last part was read.
class Streamer {
 public:
  /// `ring` may be null when no request is staged. References must outlive the streamer.
  Streamer(const OpenClContext& context, const Plan& plan, const WeightsIndex& index,
           WeightsReader& reader, HostRecorder& recorder);
  ~Streamer();
  Streamer(const Streamer&) = delete;
  Streamer& operator=(const Streamer&) = delete;

  void use_ring(StagingRing* ring) { ring_ = ring; }
  const OpenClQueue& copy_queue() const { return copy_queue_; }

  ReadTicket submit(const ReadRequest& request);
  /// Blocks until the request was read; throws what the reader threw.
  const ReadResult& wait(const ReadTicket& ticket);
  Bytes bytes_read() const { return Bytes(bytes_read_); }

 private:
  class SliceChecksum;
  class WriteRange;
  struct Pending {
    ReadRequest request;
    ReadTicket ticket;
  };
  void read_all(std::uint32_t thread);
  /// The oldest request, with its room in the ring; none once the streamer stops.
  std::optional<Pending> take(std::uint32_t thread);
  void handle(const ReadRequest& request, std::uint32_t thread, ReadResult* result);
  void read_into_buffer(const ReadRequest& request, std::uint32_t thread, ReadResult* result);
  void gather_rows(const ReadRequest& request, std::uint32_t thread, ReadResult* result);
  void read_into_ring(const ReadRequest& request, std::uint32_t thread, ReadResult* result);
  void read_mapped(const ReadRequest& request, std::uint32_t thread, Bytes file_offset,
                   const WriteRange& range, std::uint64_t object, Bytes object_offset);
  void copy_from_ring(const ReadRequest& request, std::uint32_t thread, ReadResult* result);
  /// Waits until the parts before it were followed.
  void follow_checksum(const ReadPart& part, const std::uint8_t* data);
  SliceChecksum* checksum_in_turn(const ReadPart& part);
  void fail(std::exception_ptr failure);

  const Plan& plan_;
  const WeightsIndex& index_;
  WeightsReader& reader_;
  HostRecorder& recorder_;
  StagingRing* ring_ = nullptr;
  std::mutex calls_mutex_;  // of OpenCL, by reader threads
  std::mutex take_mutex_;   // one thread at a time takes a request and claims its room
  RingPiece claimed_;       // the newest
  OpenClQueue map_queue_;
  OpenClQueue copy_queue_;
  std::vector<std::unique_ptr<SliceChecksum>> checksums_;  // by weight, while being read
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Pending> pending_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

/// Enqueues the copy of a staged part of `weight` to its image and logs it as `launch` (empty when
/// preloading) of `thread`.
OpenClEvent enqueue_copy(const OpenClQueue& queue, HostRecorder& recorder, StagingRing& ring,
                         const ReadPart& part, const ReadResult& read, const ImageTarget& target,
                         std::uint32_t thread, const std::string& launch, const std::string& weight,
                         const std::vector<cl_event>& after_events, Causes after,
                         std::uint64_t* operation);

}  // namespace fm
