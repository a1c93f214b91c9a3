#pragma once
// One way to stream one weight, and the cheapest of them at given prices of the
// layers' capacity.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "planner/overlap/lc_opg_instance.hpp"
#include "planner/overlap/lc_opg_srpt.hpp"

namespace fm {

/// A column of the linear program: z_w and the chunk profile of one weight.
struct LcOpgColumn {
  std::size_t weight = 0;
  std::int64_t distance = 0;  ///< i_w - z_w
  std::vector<LcOpgShare> shares;
};

/// What branching has decided about a weight.
struct LcOpgChoice {
  bool may_preload = true;
  bool may_stream = true;
  std::int64_t least_distance = 1;
  std::int64_t most_distance = std::numeric_limits<std::int64_t>::max();
};

/// Finds columns by a scan from the consumer backwards, with a heap of the T(w)
/// cheapest chunk places seen so far.
class LcOpgPricer {
 public:
  explicit LcOpgPricer(const LcOpgInstance& instance) : instance_(instance) {}

  /// Prices of a chunk by layer, not negative; kept by reference.
  void use(const std::vector<double>& price);
  /// Distance and cost of the cheapest column of `w`: layer_cost * distance + its chunks at their
  /// prices. Columns that cost `stop` or more may be missed; then the distance is 0 and the cost is
  /// `stop`.
  std::pair<std::int64_t, double> cheapest(std::size_t w, const LcOpgChoice& choice, double stop);
  /// Layers scanned so far: the work done, the same on every machine.
  std::uint64_t work() const { return work_; }
  /// The column of that distance.
  LcOpgColumn column(std::size_t w, std::int64_t distance);

 private:
  struct Place {
    double price = 0;
    std::int64_t layer = 0;
    std::int64_t chunks = 0;
    /// Dearest on top; of equals the one further away.
    bool operator<(const Place& other) const {
      return price != other.price ? price < other.price : layer > other.layer;
    }
  };

  void start(std::size_t w);
  void add(std::int64_t layer);
  /// The most that layers before `layer` could take off the cost of the places.
  double possible_saving(std::int64_t layer) const {
    return static_cast<double>(wanted_) *
           std::max(places_.front().price - least_before_[layer], 0.0);
  }
  /// The T(w) cheapest chunks; there must be as many.
  double places_cost() const {
    return price_sum_ - static_cast<double>(room_ - wanted_) * places_.front().price;
  }

  const LcOpgInstance& instance_;
  const std::vector<double>* price_ = nullptr;
  std::vector<double> least_before_;  ///< least price of the layers before one
  std::vector<Place> places_;         ///< a heap
  std::int64_t wanted_ = 0;           ///< T(w)
  std::int64_t room_ = 0;             ///< chunks of places_
  double price_sum_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace fm
