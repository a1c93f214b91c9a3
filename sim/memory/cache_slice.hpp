#pragma once
// One slice of a cache: tags, MSHRs with merging, banks, write-back with byte masks, bounded write
// buffer. Plain C++; time comes from its requests.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/memory/cache_array.hpp"
#include "sim/memory/cache_parameters.hpp"
#include "sim/memory/divider.hpp"
#include "sim/memory/interleave.hpp"
#include "sim/memory/memory_level.hpp"
#include "sim/memory/wait_graph.hpp"

namespace fm {

/// A range whose lines are to leave the cache.
struct Maintenance {
  Ticks time = 0;
  std::uint64_t first = 0, last = 0;  ///< byte addresses, last exclusive
};
struct MaintenanceBefore {
  bool operator()(const Maintenance& a, const Maintenance& b) const { return a.time < b.time; }
};

/// What an uncounted access to a line would have asked of the level below.
struct Touch {
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};
  bool fetched = false;
  std::uint64_t written_back = nothing;  ///< address of a line
};

class CacheSlice {
 public:
  /// What a slice sends; implemented by its level.
  class Outlet {
   public:
    virtual ~Outlet() = default;
    /// `leaves`: the time the answer leaves the slice.
    virtual void answer(const LineRequest& request, Ticks leaves) = 0;
    /// To the level below, leaving at request.time; the tag names slice and entry.
    virtual void send_below(const LineRequest& request) = 0;
    /// The level below answered a read `ticks` after it was sent.
    virtual void fetched(MemoryClient client, Ticks ticks) = 0;
  };

  CacheSlice(const CacheParameters& parameters, std::uint32_t index, Outlet* outlet);

  void receive(const LineRequest& request) {
    if (requests_.size() < prefetch_distance) array_.prefetch(local_of(request));
    requests_.push(request);
  }
  void receive(const LineAnswer& answer) {
    const std::uint32_t entry = answer.tag & 0xffff;
    if (entry < mshrs_.size() && mshrs_[entry].place != none) {
      array_.prefetch_place(mshrs_[entry].place);
    }
    answers_.push(answer);
  }
  void receive(const Maintenance& maintenance) { maintenance_.push(maintenance); }

  /// Leaves the cache as an access to the line at `address` would, without time and uncounted.
  Touch touch(std::uint64_t address, MemoryClient client, bool write);
  /// As of CacheArray.
  void mark_uses() { array_.mark_uses(); }
  std::uint64_t lines_unused_since_mark() const { return array_.lines_unused_since_mark(); }

  /// Handles all events before `end`; returns the time of the next known one.
  Ticks advance(Ticks end);
  bool idle() const;
  /// Of a slice that is not idle: what it holds and why.
  Wait wait() const;
  const CacheCounts& counts() const { return counts_; }
  /// From now on a cycle takes `cycle`, and the latency as many of them as before.
  void change_cycle(Ticks cycle) {
    cycle_ = cycle;
    latency_ = parameters_.latency * cycle / parameters_.cycle;
  }

 private:
  /// Why the first request waits. Busy banks are free at a known time; all else ends with an answer
  /// from below.
  enum class Stall : std::uint8_t { none, bank, mshr, target, victim, write_buffer };
  static constexpr std::uint32_t none = CacheArray::none;
  /// Requests ahead of the one looked up whose set is brought into the host's caches.
  static constexpr std::size_t prefetch_distance = 3;
  struct Mshr {
    std::uint32_t place = none;  ///< in the array; none: a bypassed read
    std::uint32_t bank = 0;
    std::uint32_t targets = 0;  ///< how many wait
    std::uint32_t first_target = none, last_target = none;
    Ticks sent = 0;
    MemoryClient client = MemoryClient::load_store;
  };
  struct Target {
    LineRequest request;
    std::uint32_t next = none;
  };

  Ticks next_request() const;
  void handle_answer(const LineAnswer& answer);
  void handle_maintenance(const Maintenance& maintenance);
  void unstall(Ticks time);
  void fill(std::uint32_t mshr_index, Ticks time);
  void handle_request(Ticks start);
  void pop_request() {
    requests_.pop();
    if (requests_.size() >= prefetch_distance) {
      array_.prefetch(local_of(requests_.at(prefetch_distance - 1)));
    }
  }
  void handle_perfectly(const LineRequest& request);
  void accept(const LineRequest& request, Ticks start);
  Stall lookup(const LineRequest& request, Ticks start);
  Stall hit(std::uint32_t place, std::uint64_t local, const LineRequest& request, Ticks start);
  Stall merge(std::uint32_t place, const LineRequest& request);
  /// `place`: of the line when it is present without the bytes wanted, else none.
  Stall miss(std::uint32_t place, std::uint64_t local, const LineRequest& request, Ticks start);
  Stall bypass(const LineRequest& request, Ticks start);
  /// Writes and atomic operations of a write-through cache; `place`: of the line if present.
  Stall pass_on(std::uint32_t place, const LineRequest& request, Ticks start);
  std::uint32_t start_fetch(std::uint32_t place, const LineRequest& request, Ticks start);
  void evict(std::uint32_t place, Ticks start);
  void send_write(const LineRequest& write, Ticks start);
  void send_fetch(std::uint32_t mshr_index, const LineRequest& request, Ticks start);
  void drop(std::uint32_t place, Ticks time);
  void add_target(Mshr& mshr, const LineRequest& request);
  Ticks reserve_data(Ticks earliest, std::uint32_t bytes);
  Ticks bank_time(std::uint32_t bytes) const;
  /// Of the data port, at least one.
  std::uint64_t cycles_of(std::uint64_t bytes) const {
    return bytes <= width_.divisor() ? 1 : width_.quotient(bytes + width_.divisor() - 1);
  }
  Ticks& bank_free(std::uint64_t local) { return banks_free_[banks_.part(local)]; }
  /// A line's number within the slice: the slice-select bits are no set-index bits.
  std::uint64_t local_of(const LineRequest& request) const {
    return slices_.local(line_size_.quotient(request.address));
  }
  std::uint64_t address_of(std::uint64_t local) const {
    return slices_.number(local, index_) * parameters_.line_bytes;
  }

  const CacheParameters parameters_;
  Ticks cycle_, latency_;  ///< the parameters' unless the clock changed since
  const std::uint32_t index_;
  Outlet* outlet_;
  Divider line_size_, width_;  ///< of a line, of the data port a cycle
  Interleave slices_, banks_;
  std::uint64_t full_mask_ = ~std::uint64_t{0};
  CacheArray array_;
  std::vector<Mshr> mshrs_;
  std::vector<std::uint32_t> free_mshrs_;
  std::vector<Target> targets_;
  std::vector<std::uint32_t> free_targets_;
  RequestQueue requests_;
  AnswerQueue answers_;
  TimedQueue<Maintenance, MaintenanceBefore> maintenance_;
  std::int64_t write_credits_ = 0;
  std::uint64_t sequence_ = 0;
  Ticks pipe_free_ = 0;
  Ticks data_free_ = 0;
  std::vector<Ticks> banks_free_;
  Ticks below_in_free_ = 0, below_out_free_ = 0;  ///< the bus to the level below
  Stall stall_ = Stall::none;  ///< why the first request waits for an answer from below
  Ticks stalled_since_ = 0;
  CacheCounts counts_;
};

/// Tags of requests a slice sends below: writes, or fetches of an MSHR.
constexpr std::uint32_t slice_write_tag = 0xffff;
inline std::uint32_t slice_tag(std::uint32_t slice, std::uint32_t entry) {
  return slice << 16 | entry;
}

}  // namespace fm
