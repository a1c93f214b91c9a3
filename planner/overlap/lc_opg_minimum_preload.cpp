#include "planner/overlap/lc_opg_minimum_preload.hpp"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>

namespace fm {
namespace {

/// Sums of chunks that W can have among the first weights.
class ReachableSums {
 public:
  explicit ReachableSums(std::int64_t total)
      : sums_(static_cast<std::size_t>(total) + 1), reached_by_(sums_.size()) {
    sums_.set(0);
  }

  void always(std::int64_t chunks) {
    sums_ <<= static_cast<std::size_t>(chunks);
    offset_ += chunks;
  }

  /// Weight `w` may be in W or not.
  void maybe(std::size_t w, std::int64_t chunks) {
    boost::dynamic_bitset<> fresh = (sums_ << static_cast<std::size_t>(chunks)) - sums_;
    sums_ |= fresh;
    for (std::size_t sum = fresh.find_first(); sum != fresh.npos; sum = fresh.find_next(sum)) {
      reached_by_[sum - static_cast<std::size_t>(offset_)] = w;
    }
  }

  /// Sums below `least` are no longer allowed; they cannot come back, since
  /// sums only grow.
  void require(std::int64_t least) {
    for (std::size_t sum = sums_.find_first();
         sum != sums_.npos && static_cast<std::int64_t>(sum) < least; sum = sums_.find_next(sum)) {
      sums_.reset(sum);
    }
  }

  std::int64_t least() const { return static_cast<std::int64_t>(sums_.find_first()); }
  std::int64_t offset() const { return offset_; }
  /// The weight that first made `free` chunks, beyond the settled ones,
  /// reachable.
  std::size_t reached_by(std::int64_t free) const {
    return reached_by_[static_cast<std::size_t>(free)];
  }

 private:
  boost::dynamic_bitset<> sums_;
  std::vector<std::size_t> reached_by_;
  std::int64_t offset_ = 0;  ///< chunks of the settled weights so far
};

}  // namespace

LcOpgMinimumPreload minimum_preload(const LcOpgInstance& instance) {
  std::int64_t total = 0;
  for (const std::int64_t chunks : instance.chunks) total += chunks;
  LcOpgMinimumPreload result;
  ReachableSums sums(total);
  std::int64_t due = 0;
  const std::size_t count = instance.weight_count();
  for (std::size_t w = 0; w < count; ++w) {
    due += instance.chunks[w];
    if (instance.settled[w]) {
      sums.always(instance.chunks[w]);
    } else {
      sums.maybe(w, instance.chunks[w]);
    }
    if (w + 1 < count && instance.consumer[w + 1] == instance.consumer[w]) continue;
    const std::int64_t consumer = instance.consumer[w];
    const std::int64_t excess = std::max<std::int64_t>(due - instance.capacity_before[consumer], 0);
    sums.require(excess);
    result.due.push_back({consumer, w + 1, excess, sums.least()});
  }
  result.preloaded = instance.settled;
  result.chunks = count == 0 ? 0 : sums.least();
  for (std::int64_t free = result.chunks - sums.offset(); free > 0;) {
    const std::size_t w = sums.reached_by(free);
    result.preloaded[w] = 1;
    free -= instance.chunks[w];
  }
  return result;
}

}  // namespace fm
