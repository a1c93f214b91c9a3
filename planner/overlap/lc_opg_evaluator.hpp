#pragma once
// What W costs, and what it would cost with a few weights moved in or out of
// it.

#include <cstdint>
#include <limits>
#include <vector>

#include "planner/overlap/lc_opg_instance.hpp"

namespace fm {

/// Keeps the shortest-remaining-first run of one W, with its state at every
/// consumer; a change is evaluated from the last consumer it touches until the
/// run joins the kept one again.
class PreloadEvaluator {
 public:
  /// Cost of what cannot be: chunks left over, or W beyond its limit.
  static constexpr std::int64_t impossible = std::numeric_limits<std::int64_t>::max();

  PreloadEvaluator(const LcOpgInstance& instance, std::vector<char> preloaded);

  const std::vector<char>& preloaded() const { return preloaded_; }
  std::int64_t cost() const { return cost_; }
  /// The weights outside W fit the layers before their consumers.
  bool fits() const { return fits_; }
  /// Cost after moving each of `moved` to the other side; `impossible` too as
  /// soon as it is known to be `limit` or more.
  std::int64_t cost_with(const std::vector<std::size_t>& moved,
                         std::int64_t limit = impossible) const;
  void move(const std::vector<std::size_t>& moved);
  /// Layers run so far: the work done, the same on every machine.
  std::uint64_t work() const { return work_; }

 private:
  /// The weights of one consumer: [begin, end) in the instance's order.
  struct Group {
    std::int64_t consumer = 0;
    std::size_t begin = 0, end = 0;
    /// The kept run on reaching the consumer: its unfinished jobs, most chunks
    /// first, at [state_begin, state_end) of states_; layers of distance
    /// counted so far.
    std::size_t state_begin = 0, state_end = 0;
    std::int64_t distance = 0;
  };

  void run_all();
  void release(const Group& group, const std::vector<std::size_t>& moved) const;
  std::int64_t run_slots(std::int64_t from, std::int64_t to) const;
  std::int64_t next_consumer(std::size_t group) const;
  bool joins(std::size_t group) const;

  const LcOpgInstance& instance_;
  std::vector<char> preloaded_;
  std::vector<Group> groups_;  ///< last consumer first
  std::vector<std::int64_t> states_;
  std::int64_t preloaded_chunks_ = 0;
  std::int64_t distance_ = 0;
  std::int64_t cost_ = 0;
  bool fits_ = true;  ///< the kept run leaves no chunk over
  mutable std::uint64_t work_ = 0;
  mutable std::vector<std::int64_t> jobs_;  ///< unfinished, most chunks first
};

}  // namespace fm
