#include "planner/overlap/stream_filling.hpp"

#include <algorithm>
#include <cmath>

#include "planner/overlap/launch_groups.hpp"
#include "planner/overlap/stream_limits.hpp"

namespace fm {
namespace {

constexpr std::size_t most_prices = 4;

/// Chunks that a launch can stream at one price.
struct Slot {
  std::size_t launch = 0;
  std::uint64_t chunks = 0;
  double price = 0;  // nanoseconds a byte
};

/// Of one launch, in whole chunks, dearer and dearer.
void add_slots(const TimedProblem& problem, std::size_t k, std::vector<Slot>* slots) {
  const auto chunk = static_cast<double>(problem.chunk.count());
  double begun = 0, cost = 0;  // of a chunk that spans pieces
  for (const StreamPiece& piece : stream_pieces(problem.launches[k])) {
    double left = piece.bytes;
    if (begun > 0) {
      const double more = std::min(left, chunk - begun);
      begun += more, cost += more * piece.slope, left -= more;
      if (begun < chunk) continue;
      slots->push_back({k, 1, cost / chunk});
    }
    const double whole = std::floor(left / chunk);
    if (whole > 0) slots->push_back({k, static_cast<std::uint64_t>(whole), piece.slope});
    begun = left - whole * chunk;
    cost = begun * piece.slope;
  }
}

std::vector<Slot> slots_by_price(const TimedProblem& problem) {
  std::vector<Slot> slots;
  for (std::size_t k = 0; k < problem.launches.size(); ++k) add_slots(problem, k, &slots);
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot& a, const Slot& b) { return a.price < b.price; });
  return slots;
}

/// Streams so far, and the chunks transformed when each launch ends.
class Filling {
 public:
  Filling(const std::vector<std::uint64_t>& needed, const std::vector<std::uint64_t>& in_time)
      : needed_(needed), in_time_(in_time), done_(needed), streamed_(needed.size(), 0) {}

  /// Streams up to `chunks` more in launch k; returns how many.
  std::uint64_t add(std::size_t k, std::uint64_t chunks) {
    const std::uint64_t most = room(k, chunks);
    std::uint64_t more = most;
    streamed_[k] += more;
    for (std::size_t m = k; more > 0;) {
      done_[m] += more;
      if (++m == done_.size()) break;
      more -= std::min(more, spare(m, done_[m - 1] - more));
    }
    return most;
  }

  std::vector<std::uint64_t> take() { return std::move(streamed_); }

 private:
  /// Chunks that launch m needs beyond `before`, done until then: so many more before change
  /// nothing from m on.
  std::uint64_t spare(std::size_t m, std::uint64_t before) const {
    return needed_[m] > before ? needed_[m] - before : 0;
  }

  std::uint64_t room(std::size_t k, std::uint64_t chunks) const {
    std::uint64_t spared = 0;
    for (std::size_t m = k; m < done_.size() && spared < chunks; ++m) {
      chunks = std::min(chunks, in_time_[m] - std::min(in_time_[m], done_[m]) + spared);
      if (m + 1 < done_.size()) spared += spare(m + 1, done_[m]);
    }
    return chunks;
  }

  const std::vector<std::uint64_t>& needed_;
  const std::vector<std::uint64_t>& in_time_;
  std::vector<std::uint64_t> done_, streamed_;  // by launch
};

}  // namespace

std::vector<std::uint64_t> chunks_in_time(const TimedProblem& problem, const ChunkList& chunks,
                                          const TimedRun& run, std::size_t lead) {
  const PointerCaps caps = pointer_caps(problem, weight_demand(problem));
  std::vector<std::uint64_t> in_time;
  std::uint64_t count = 0;
  for (std::size_t k = 0; k < problem.launches.size(); ++k) {
    std::int64_t time = 0;
    if (k > lead) time = static_cast<std::int64_t>(run.finish[k - 1 - lead].count());
    if (chunks.read_needed[k] > 0) {
      time = std::max(time, run.read_at[chunks.read_needed[k] - 1]);
    }
    const std::int64_t cap = transform_cap(problem, caps, k);
    while (count < chunks.images.size() && run.read_at[chunks.images[count]] <= time &&
           transform_end(problem, chunks, count) <= cap) {
      ++count;
    }
    in_time.push_back(std::max(count, chunks.image_needed[k]));
  }
  return in_time;
}

std::vector<std::uint64_t> fill_streams(const TimedProblem& problem, const ChunkList& chunks,
                                        const std::vector<std::uint64_t>& in_time, double highest) {
  Filling filling(chunks.image_needed, in_time);
  std::vector<char> full(problem.launches.size(), 0);
  for (const Slot& slot : slots_by_price(problem)) {
    if (slot.price > highest) break;
    if (full[slot.launch]) continue;
    full[slot.launch] = filling.add(slot.launch, slot.chunks) < slot.chunks;
  }
  return filling.take();
}

std::vector<double> stream_prices(const TimedProblem& problem) {
  const double copied =
      problem.copy.nanoseconds_per_byte +
      static_cast<double>(problem.copy.base.count()) / static_cast<double>(problem.chunk.count());
  std::vector<Slot> slots = slots_by_price(problem);
  while (!slots.empty() && slots.back().price > copied) slots.pop_back();
  std::vector<double> prices;
  for (std::size_t i = 0; i < most_prices && !slots.empty(); ++i) {
    const double price = slots[(slots.size() - 1) * i / (most_prices - 1)].price;
    if (prices.empty() || price > prices.back()) prices.push_back(price);
  }
  return prices;
}

}  // namespace fm
