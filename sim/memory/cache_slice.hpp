#pragma once
// One slice of a cache: tags, MSHRs with merging, write-back with byte masks, bounded write buffer.
// Plain C++; time comes from its requests.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/memory/cache_parameters.hpp"
#include "sim/memory/divider.hpp"
#include "sim/memory/memory_level.hpp"

namespace fm {

/// A range whose lines are to leave the cache.
struct Maintenance {
  Ticks time = 0;
  std::uint64_t first = 0, last = 0;  ///< byte addresses, last exclusive
};
struct MaintenanceBefore {
  bool operator()(const Maintenance& a, const Maintenance& b) const { return a.time < b.time; }
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
  };

  CacheSlice(const CacheParameters& parameters, std::uint32_t index, Outlet* outlet);

  void receive(const LineRequest& request) { requests_.push(request); }
  void receive(const LineAnswer& answer) { answers_.push(answer); }
  void receive(const Maintenance& maintenance) { maintenance_.push(maintenance); }

  /// Handles all events before `end`; returns the time of the next known one.
  Ticks advance(Ticks end);
  bool idle() const;
  std::string waiting() const;
  const CacheCounts& counts() const { return counts_; }

 private:
  enum class Stall : std::uint8_t { none, mshr, target, victim, write_buffer };
  static constexpr std::uint32_t none = 0xffffffff;
  struct Line {
    std::uint64_t valid = 0;  ///< byte mask; 0 with no mshr: empty
    std::uint64_t dirty = 0;
    std::uint64_t last_use = 0;
    std::uint32_t mshr = none;
    MemoryClient owner = MemoryClient::load_store;  ///< who wrote it last
  };
  struct Mshr {
    std::uint32_t line = none;  ///< index into lines_; none: a bypassed read
    std::uint32_t targets = 0;  ///< how many wait
    std::uint32_t first_target = none, last_target = none;
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
  Stall lookup(const LineRequest& request, Ticks start);
  Stall hit(Line& line, const LineRequest& request, Ticks start);
  Stall merge(Line& line, const LineRequest& request);
  Stall miss(std::uint64_t tag, Line* present, const LineRequest& request, Ticks start);
  Stall bypass(const LineRequest& request, Ticks start);
  Line* find(std::uint64_t tag);
  std::uint64_t& tag_of(const Line& line) {
    return tags_[static_cast<std::size_t>(&line - lines_.data())];
  }
  Line* victim(std::uint64_t tag, MemoryClient client);
  void take(Line& line, std::uint64_t tag);
  void evict(Line& line, Ticks start);
  void send_write(const LineRequest& write, Ticks start);
  void send_fetch(std::uint32_t mshr_index, const LineRequest& request, Ticks start);
  void drop(Line& line, Ticks time);
  void add_target(Mshr& mshr, const LineRequest& request);
  Ticks reserve_data(Ticks earliest, std::uint32_t bytes);
  /// Tags are line numbers. The slice-select bits are no set-index bits: every set is used.
  std::size_t set_of(std::uint64_t tag) const {
    return static_cast<std::size_t>(set_count_.remainder(slice_count_.quotient(tag)));
  }

  const CacheParameters parameters_;
  const std::uint32_t index_;
  Outlet* outlet_;
  Divider line_size_, slice_count_, set_count_;
  std::uint64_t full_mask_ = ~std::uint64_t{0};
  std::vector<std::uint64_t> tags_;  ///< line numbers, apart from the lines for a quick search
  std::vector<Line> lines_;
  std::vector<Mshr> mshrs_;
  std::vector<std::uint32_t> free_mshrs_;
  std::vector<Target> targets_;
  std::vector<std::uint32_t> free_targets_;
  RequestQueue requests_;
  AnswerQueue answers_;
  TimedQueue<Maintenance, MaintenanceBefore> maintenance_;
  std::int64_t write_credits_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t sequence_ = 0;
  Ticks pipe_free_ = 0;
  Ticks data_free_ = 0;
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
