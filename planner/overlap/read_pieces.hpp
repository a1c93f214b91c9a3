#pragma once
// What is read at once, and where it lies in the staging ring.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "planner/overlap/overlap_schedule.hpp"

namespace fm {

/// Room in the ring that a piece takes beyond its bytes: it begins and ends at blocks of the file.
constexpr std::uint64_t staging_block = 4096;

/// Chunks that are read and claimed together.
struct ReadPiece {
  std::size_t first_chunk = 0, chunk_count = 0;  ///< of ChunkList::all
  std::int64_t bytes = 0;
  std::int64_t read = 0;  ///< nanoseconds on the disk
  bool image = false;     ///< through the ring
};

/// Chunk by chunk; with whole claims as an executor does: a buffer at once, an image in parts of at
/// most staged_piece(ring) that one copy moves, or all that one launch streams of it.
std::vector<ReadPiece> read_pieces(const TimedProblem& problem, const ChunkList& chunks,
                                   const OverlapSchedule& schedule);

/// Room for pieces, given out in order and freed in order. Whole claims: contiguous, in a circle;
/// else any bytes that are free.
class RingModel {
 public:
  RingModel(Bytes capacity, bool contiguous);
  /// False when there is no room.
  bool claim(std::int64_t bytes);
  /// Frees the oldest piece.
  void free_oldest();

 private:
  struct Place {
    std::int64_t offset = 0, bytes = 0;
  };
  std::optional<std::int64_t> place(std::int64_t bytes) const;

  std::int64_t capacity_;
  bool contiguous_;
  std::deque<Place> places_;
  std::int64_t used_ = 0;
};

}  // namespace fm
