#include "planner/overlap/lc_opg_column.hpp"

#include <algorithm>

namespace fm {

void LcOpgPricer::use(const std::vector<double>& price) {
  price_ = &price;
  least_before_.assign(1, std::numeric_limits<double>::infinity());
  for (std::size_t layer = 0; layer < price.size(); ++layer) {
    const double before = least_before_.back();
    least_before_.push_back(instance_.capacity[layer] > 0 ? std::min(before, price[layer])
                                                          : before);
  }
}

void LcOpgPricer::start(std::size_t w) {
  places_.clear();
  wanted_ = instance_.chunks[w];
  room_ = 0;
  price_sum_ = 0;
}

void LcOpgPricer::add(std::int64_t layer) {
  ++work_;
  const double price = (*price_)[layer];
  const std::int64_t chunks = std::min(instance_.capacity[layer], wanted_);
  if (chunks == 0) return;
  if (room_ >= wanted_ && price >= places_.front().price) return;
  places_.push_back({price, layer, chunks});
  std::push_heap(places_.begin(), places_.end());
  room_ += chunks;
  price_sum_ += price * static_cast<double>(chunks);
  while (room_ - places_.front().chunks >= wanted_) {
    const Place& dearest = places_.front();
    room_ -= dearest.chunks;
    price_sum_ -= dearest.price * static_cast<double>(dearest.chunks);
    std::pop_heap(places_.begin(), places_.end());
    places_.pop_back();
  }
}

std::pair<std::int64_t, double> LcOpgPricer::cheapest(std::size_t w, const LcOpgChoice& choice,
                                                      double stop) {
  start(w);
  const std::int64_t consumer = instance_.consumer[w];
  const std::int64_t most = std::min(consumer, choice.most_distance);
  const auto layer_cost = static_cast<double>(instance_.layer_cost);
  std::int64_t best_distance = 0;
  double best = stop;
  for (std::int64_t distance = 1; distance <= most; ++distance) {
    const double own = layer_cost * static_cast<double>(std::max(distance, choice.least_distance));
    if (own >= best) break;
    add(consumer - distance);
    if (room_ < wanted_ || distance < choice.least_distance) continue;
    const double cost = own + std::max(places_cost(), 0.0);
    if (cost < best) {
      best = cost;
      best_distance = distance;
    }
    if (own + places_cost() - possible_saving(consumer - distance) >= best) break;
  }
  return {best_distance, best};
}

LcOpgColumn LcOpgPricer::column(std::size_t w, std::int64_t distance) {
  start(w);
  const std::int64_t consumer = instance_.consumer[w];
  for (std::int64_t d = 1; d <= distance; ++d) add(consumer - d);
  LcOpgColumn column{w, distance, {}};
  std::int64_t over = room_ - wanted_;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::int64_t chunks = places_[i].chunks - (i == 0 ? over : 0);
    if (chunks > 0) column.shares.push_back({places_[i].layer, chunks});
  }
  std::sort(column.shares.begin(), column.shares.end(),
            [](const LcOpgShare& a, const LcOpgShare& b) { return a.layer < b.layer; });
  return column;
}

}  // namespace fm
