#include "planner/overlap/read_pieces.hpp"

#include <algorithm>

#include "core/staged_piece.hpp"

namespace fm {
namespace {

constexpr auto block = static_cast<std::int64_t>(staging_block);

class PieceList {
 public:
  PieceList(const TimedProblem& problem, const ChunkList& chunks)
      : problem_(problem), chunks_(chunks) {}

  /// All chunks up to, not including, image chunk `end`: the rest of an image in parts of at most
  /// `limit`, buffers on the way whole.
  void add_until(std::uint64_t end, std::int64_t limit) {
    const std::size_t stop = end < chunks_.images.size() ? chunks_.images[end] : chunks_.all.size();
    while (next_ < stop) add_chunks(stop, limit);
    open_ = false;
  }
  void add_rest() {
    while (next_ < chunks_.all.size()) add_chunks(chunks_.all.size(), 0);
  }

  std::vector<ReadPiece> take() { return std::move(pieces_); }

 private:
  /// The next chunk, and those after it, before `stop`, that are in the same piece.
  void add_chunks(std::size_t stop, std::int64_t limit) {
    const WeightChunk& chunk = chunks_.all[next_];
    const bool image = problem_.weights[chunk.weight].form == WeightForm::image;
    const bool same_weight = next_ > 0 && chunks_.all[next_ - 1].weight == chunk.weight;
    const auto bytes = static_cast<std::int64_t>(chunk.bytes);
    const bool joins = same_weight && (image ? open_ && pieces_.back().bytes + bytes <= limit
                                             : !pieces_.empty() && problem_.whole_claims);
    if (!joins) {
      pieces_.push_back({next_, 0, 0, 0, image});
      if (same_weight && problem_.whole_claims) {
        pieces_.back().read = static_cast<std::int64_t>(problem_.piece_overhead.count());
      }
    }
    take(std::max(next_ + 1, end_of_piece(stop, limit)));
    open_ = image;
  }

  /// Behind the last chunk of the next one's weight, before `stop`, that its piece can hold.
  std::size_t end_of_piece(std::size_t stop, std::int64_t limit) const {
    const WeightChunk& chunk = chunks_.all[next_];
    const std::size_t end = std::min(stop, chunks_.weight_chunks[chunk.weight]);
    if (!pieces_.back().image) return problem_.whole_claims ? end : next_;
    const std::int64_t begin = chunk.end - static_cast<std::int64_t>(chunk.bytes);
    const std::int64_t room = limit - pieces_.back().bytes;
    if (chunks_.all[end - 1].end - begin <= room) return end;
    // All but a weight's last chunk are whole, and that one is not held here.
    return next_ + static_cast<std::size_t>(std::max<std::int64_t>(0, room) /
                                            static_cast<std::int64_t>(problem_.chunk.count()));
  }

  void take(std::size_t end) {
    const WeightChunk& chunk = chunks_.all[next_];
    const WeightChunk& last = chunks_.all[end - 1];
    ReadPiece& piece = pieces_.back();
    piece.chunk_count += end - next_;
    piece.bytes += last.end - chunk.end + static_cast<std::int64_t>(chunk.bytes);
    piece.read += last.read_end - (next_ == 0 ? 0 : chunks_.all[next_ - 1].read_end);
    next_ = end;
  }

  const TimedProblem& problem_;
  const ChunkList& chunks_;
  std::vector<ReadPiece> pieces_;
  std::size_t next_ = 0;  // chunk
  bool open_ = false;     // the last piece may grow
};

}  // namespace

std::vector<ReadPiece> read_pieces(const TimedProblem& problem, const ChunkList& chunks,
                                   const OverlapSchedule& schedule) {
  PieceList list(problem, chunks);
  if (problem.whole_claims) {
    const auto part = static_cast<std::int64_t>(staged_piece(problem.ring).count());
    const std::int64_t copied =
        std::max(static_cast<std::int64_t>(problem.chunk.count()), part - 2 * block);
    std::uint64_t image = 0;
    for (std::size_t k = 0; k < problem.launches.size(); ++k) {
      image = std::min<std::uint64_t>(image + schedule.copied[k], chunks.images.size());
      list.add_until(image, copied);
      image = std::min<std::uint64_t>(image + schedule.streamed[k], chunks.images.size());
      list.add_until(image, static_cast<std::int64_t>(unlimited_bytes.count()));
    }
  }
  list.add_rest();
  return list.take();
}

RingModel::RingModel(Bytes capacity, bool contiguous)
    : capacity_(static_cast<std::int64_t>(capacity.count())), contiguous_(contiguous) {}

std::optional<std::int64_t> RingModel::place(std::int64_t bytes) const {
  if (places_.empty()) return bytes <= capacity_ ? std::optional<std::int64_t>(0) : std::nullopt;
  const std::int64_t head = places_.front().offset;
  const std::int64_t tail = places_.back().offset + places_.back().bytes;
  if (tail > head) {
    if (tail + bytes <= capacity_) return tail;
    return bytes <= head ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  return tail + bytes <= head ? std::optional<std::int64_t>(tail) : std::nullopt;
}

bool RingModel::claim(std::int64_t bytes) {
  if (!contiguous_) {
    if (used_ + bytes > capacity_) return false;
    used_ += bytes;
    places_.push_back({0, bytes});
    return true;
  }
  const std::int64_t room = bytes + block;
  const std::optional<std::int64_t> offset = place(room);
  if (!offset) return false;
  places_.push_back({*offset, room});
  return true;
}

void RingModel::free_oldest() {
  used_ -= places_.front().bytes;
  places_.pop_front();
}

}  // namespace fm
