#include <algorithm>
#include <deque>
#include <set>

#include "planner/overlap/lc_opg_lagrangian.hpp"

namespace fm {
namespace {

/// Share of the newest answer in the average.
constexpr double newest_share = 0.1;
/// How many answers' columns are kept for the linear program.
constexpr std::size_t answers_kept = 12;
/// Share of the way to the best plan's cost that a step aims at, were the bound linear. It grows
/// with success and shrinks after `patience` failures.
constexpr double first_factor = 0.1, most_factor = 2, least_factor = 1e-3, growth = 1.1,
                 decay = 0.7;
constexpr int patience = 8;

class Ascent {
 public:
  Ascent(const LcOpgInstance& instance, const LcOpgRows& rows, LcOpgLagrangian* lagrangian)
      : instance_(instance), rows_(rows), lagrangian_(*lagrangian) {}

  LcOpgAscent run(std::int64_t cutoff, std::uint64_t work, const std::function<bool()>& stop) {
    start();
    const double target = static_cast<double>(cutoff);
    double factor = first_factor;
    int without = 0;
    while (best_.answer.value < target && lagrangian_.work() < work && !stop()) {
      const LcOpgPrices prices = stepped(factor * (target - best_.answer.value));
      LcOpgAnswer answer = lagrangian_.answer(prices);
      average(answer, newest_share);
      newest_.push_back(answer.columns);
      if (newest_.size() > answers_kept) newest_.pop_front();
      if (answer.value > best_.answer.value) {
        without = 0;
        factor = std::min(factor * growth, most_factor);
        best_.prices = prices;
        best_.answer = std::move(answer);
      } else if (++without == patience) {
        if (factor == least_factor) break;
        without = 0;
        factor = std::max(factor * decay, least_factor);
      }
    }
    newest_.push_back(best_.answer.columns);
    for (const std::vector<LcOpgColumn>& columns : newest_) keep_columns(columns);
    best_.preloaded = std::move(preloaded_);
    return std::move(best_);
  }

 private:
  /// One price for all layers before the last one that binds: the level is the
  /// first thing to find.
  void start() {
    std::int64_t last = 0;
    for (const std::size_t w : rows_.weights) last = std::max(last, instance_.consumer[w]);
    for (const double level : {0.0, 0.2, 0.5, 0.8, 0.9, 0.95, 1.0}) {
      for (const std::int64_t reach : {last, last * 2 / 3, last / 3}) {
        LcOpgPrices prices;
        prices.layer.assign(instance_.capacity.size(), 0);
        prices.due.assign(rows_.due.size(), 0);
        std::fill(prices.layer.begin(), prices.layer.begin() + reach,
                  level * static_cast<double>(instance_.chunk_cost));
        LcOpgAnswer answer = lagrangian_.answer(prices);
        if (answer.value > best_.answer.value) {
          best_.answer = std::move(answer);
          best_.prices = std::move(prices);
        }
        if (level == 0) break;
      }
    }
    layer_excess_.assign(instance_.capacity.size(), 0);
    due_excess_.assign(rows_.due.size(), 0);
    preloaded_.assign(instance_.weight_count(), 0);
    average(best_.answer, 1);
  }

  /// Mixes how far the answer breaks each row into the running averages.
  void average(const LcOpgAnswer& answer, double share) {
    std::vector<double> layer(layer_excess_.size()), preloaded(preloaded_.size(), 0);
    for (std::size_t i = 0; i < layer.size(); ++i) {
      layer[i] = -static_cast<double>(instance_.capacity[i]);
    }
    for (const std::size_t w : rows_.weights) {
      preloaded[w] = answer.preload_excess[w] == 0 ? 1 : 0;
    }
    for (const LcOpgColumn& column : answer.columns) {
      if (preloaded[column.weight] == 1) continue;
      for (const LcOpgShare& part : column.shares) {
        layer[part.layer] += static_cast<double>(part.chunks);
      }
    }
    mix(share, layer, &layer_excess_);
    mix(share, preloaded, &preloaded_);
    double chunks = 0;
    std::size_t row = 0;
    for (std::size_t w = 0; w <= preloaded.size(); ++w) {
      for (; row < rows_.due.size() && rows_.due[row].weight_end == w; ++row) {
        due_excess_[row] += share * (rows_.due[row].least - chunks - due_excess_[row]);
      }
      if (w < preloaded.size()) chunks += preloaded[w] * static_cast<double>(instance_.chunks[w]);
    }
    if (rows_.limit < std::numeric_limits<double>::infinity()) {
      limit_excess_ += share * (chunks - rows_.limit - limit_excess_);
    }
  }

  static void mix(double share, const std::vector<double>& newest, std::vector<double>* mean) {
    for (std::size_t i = 0; i < newest.size(); ++i) {
      (*mean)[i] += share * (newest[i] - (*mean)[i]);
    }
  }

  /// The best prices moved along the averaged excess so far that the bound
  /// would rise by `rise`, were it linear.
  LcOpgPrices stepped(double rise) const {
    double norm = 0;
    const auto count = [&](double price, double excess) {
      if (price > 0 || excess > 0) norm += excess * excess;
    };
    const LcOpgPrices& from = best_.prices;
    for (std::size_t i = 0; i < from.layer.size(); ++i) count(from.layer[i], layer_excess_[i]);
    for (std::size_t i = 0; i < from.due.size(); ++i) count(from.due[i], due_excess_[i]);
    count(from.limit, limit_excess_);
    const double step = norm > 0 ? rise / norm : 0;
    LcOpgPrices to = from;
    for (std::size_t i = 0; i < to.layer.size(); ++i) {
      // A layer that carries nothing has no price.
      to.layer[i] =
          instance_.capacity[i] == 0 ? 0 : std::max(from.layer[i] + step * layer_excess_[i], 0.0);
    }
    for (std::size_t i = 0; i < to.due.size(); ++i) {
      to.due[i] = std::max(from.due[i] + step * due_excess_[i], 0.0);
    }
    to.limit = std::max(from.limit + step * limit_excess_, 0.0);
    return to;
  }

  void keep_columns(const std::vector<LcOpgColumn>& columns) {
    for (const LcOpgColumn& column : columns) {
      std::vector<std::int64_t> key{static_cast<std::int64_t>(column.weight), column.distance};
      for (const LcOpgShare& share : column.shares) {
        key.push_back(share.layer);
        key.push_back(share.chunks);
      }
      if (known_.insert(std::move(key)).second) best_.columns.push_back(column);
    }
  }

  const LcOpgInstance& instance_;
  const LcOpgRows& rows_;
  LcOpgLagrangian& lagrangian_;
  LcOpgAscent best_;
  std::vector<double> layer_excess_, due_excess_, preloaded_;
  double limit_excess_ = 0;
  std::deque<std::vector<LcOpgColumn>> newest_;
  std::set<std::vector<std::int64_t>> known_;
};

}  // namespace

LcOpgAscent ascend(const LcOpgInstance& instance, const LcOpgRows& rows,
                   LcOpgLagrangian* lagrangian, std::int64_t cutoff, std::uint64_t work,
                   const std::function<bool()>& stop) {
  return Ascent(instance, rows, lagrangian).run(cutoff, work, stop);
}

}  // namespace fm
