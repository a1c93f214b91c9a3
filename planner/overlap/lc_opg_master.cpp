#include "planner/overlap/lc_opg_master.hpp"

#include <ClpSimplex.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace fm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double negligible = 1e-7;

}  // namespace

LcOpgMaster::LcOpgMaster(const LcOpgInstance& instance, const LcOpgRows& rows)
    : instance_(instance),
      rows_(rows),
      row_of_weight_(instance.weight_count(), -1),
      row_of_layer_(instance.capacity.size(), -1),
      columns_of_(instance.weight_count()),
      simplex_(std::make_unique<ClpSimplex>()) {
  simplex_->setLogLevel(0);
  for (std::size_t w = 0; w < instance.weight_count(); ++w) {
    penalty_ += static_cast<double>(instance.preload_cost(w));
  }
  penalty_ +=
      static_cast<double>(instance.layer_cost) * static_cast<double>(instance.capacity.size() + 1);
  add_rows();
  add_fixed_columns();
  add_due_rows();
}

LcOpgMaster::~LcOpgMaster() = default;

void LcOpgMaster::add_rows() {
  int rows = 0;
  for (const std::size_t w : rows_.weights) {
    row_of_weight_[w] = rows++;
    simplex_->addRow(0, nullptr, nullptr, 1, infinity);
  }
  const std::int64_t last = rows_.weights.empty() ? 0 : instance_.consumer[rows_.weights.back()];
  for (std::int64_t layer = 0; layer < last; ++layer) {
    if (instance_.capacity[layer] == 0) continue;
    row_of_layer_[layer] = rows++;
    simplex_->addRow(0, nullptr, nullptr, -infinity,
                     static_cast<double>(instance_.capacity[layer]));
  }
  first_due_row_ = rows;
}

/// Columns 0 to n-1: y_w; n to 2n-1: leaving w out.
void LcOpgMaster::add_fixed_columns() {
  for (const bool preload : {true, false}) {
    for (const std::size_t w : rows_.weights) {
      const int row = row_of_weight_[w];
      const double one = 1;
      simplex_->addColumn(1, &row, &one, 0, preload ? 1 : infinity,
                          preload ? static_cast<double>(instance_.preload_cost(w)) : penalty_);
    }
  }
}

void LcOpgMaster::add_due_rows() {
  std::vector<int> indices;
  std::vector<double> chunks;
  const auto add_row = [&](std::size_t weight_end, double least, double most) {
    for (std::size_t i = indices.size(); i < rows_.weights.size(); ++i) {
      const std::size_t w = rows_.weights[i];
      if (w >= weight_end) break;
      indices.push_back(row_of_weight_[w]);
      chunks.push_back(static_cast<double>(instance_.chunks[w]));
    }
    simplex_->addRow(static_cast<int>(indices.size()), indices.data(), chunks.data(), least, most);
  };
  for (const LcOpgDueRow& due : rows_.due) add_row(due.weight_end, due.least, infinity);
  if (rows_.limit < infinity) {
    limit_row_ = simplex_->numberRows();
    add_row(instance_.weight_count(), -infinity, rows_.limit);
  }
}

void LcOpgMaster::add(const std::vector<LcOpgColumn>& columns) {
  std::vector<double> lower(columns.size(), 0), upper(columns.size(), infinity), cost;
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> rows;
  std::vector<double> elements;
  for (const LcOpgColumn& column : columns) {
    rows.push_back(row_of_weight_[column.weight]);
    elements.push_back(1);
    for (const LcOpgShare& share : column.shares) {
      rows.push_back(row_of_layer_[share.layer]);
      elements.push_back(static_cast<double>(share.chunks));
    }
    starts.push_back(static_cast<CoinBigIndex>(rows.size()));
    cost.push_back(static_cast<double>(instance_.layer_cost * column.distance));
    columns_of_[column.weight].push_back(columns_.size());
    columns_.push_back(column);
  }
  simplex_->addColumns(static_cast<int>(columns.size()), lower.data(), upper.data(), cost.data(),
                       starts.data(), rows.data(), elements.data());
}

void LcOpgMaster::add_schedule(const LcOpgShares& shares) {
  std::vector<LcOpgColumn> columns;
  for (const std::size_t w : rows_.weights) {
    if (shares[w].empty()) continue;
    columns.push_back({w, instance_.consumer[w] - shares[w].front().layer, shares[w]});
  }
  add(columns);
}

void LcOpgMaster::restrict_to(const std::vector<LcOpgChoice>& choices) {
  const int fixed = 2 * static_cast<int>(rows_.weights.size());
  for (const std::size_t w : rows_.weights) {
    const LcOpgChoice& choice = choices[w];
    simplex_->setColumnBounds(row_of_weight_[w], choice.may_stream ? 0 : 1,
                              choice.may_preload ? 1 : 0);
    for (const std::size_t c : columns_of_[w]) {
      const std::int64_t distance = columns_[c].distance;
      const bool allowed = choice.may_stream && distance >= choice.least_distance &&
                           distance <= choice.most_distance;
      simplex_->setColumnBounds(fixed + static_cast<int>(c), 0, allowed ? infinity : 0);
    }
  }
}

std::size_t LcOpgMaster::row_count() const {
  return static_cast<std::size_t>(simplex_->numberRows());
}

LcOpgMaster::Outcome LcOpgMaster::solve(int pivots) {
  simplex_->setMaximumIterations(pivots);
  simplex_->primal();
  work_ += static_cast<std::uint64_t>(simplex_->numberIterations() + 1) * row_count();
  constexpr int optimal = 0, infeasible = 1;  // ClpModel::status()
  if (simplex_->status() == optimal) return Outcome::optimal;
  return simplex_->status() == infeasible ? Outcome::infeasible : Outcome::stopped;
}

double LcOpgMaster::value() const { return rows_.settled_cost + simplex_->objectiveValue(); }

LcOpgPrices LcOpgMaster::prices() const {
  LcOpgPrices prices;
  const double* dual = simplex_->dualRowSolution();
  prices.layer.assign(instance_.capacity.size(), 0);
  for (std::size_t layer = 0; layer < row_of_layer_.size(); ++layer) {
    if (row_of_layer_[layer] >= 0) prices.layer[layer] = std::max(-dual[row_of_layer_[layer]], 0.0);
  }
  for (std::size_t i = 0; i < rows_.due.size(); ++i) {
    prices.due.push_back(std::max(dual[first_due_row_ + static_cast<int>(i)], 0.0));
  }
  if (limit_row_ >= 0) prices.limit = std::max(-dual[limit_row_], 0.0);
  return prices;
}

double LcOpgMaster::weight_price(std::size_t w) const {
  return simplex_->dualRowSolution()[row_of_weight_[w]];
}

double LcOpgMaster::preloaded(std::size_t w) const {
  return simplex_->primalColumnSolution()[row_of_weight_[w]];
}

std::vector<std::pair<std::int64_t, double>> LcOpgMaster::distances(std::size_t w) const {
  const double* value = simplex_->primalColumnSolution() + 2 * rows_.weights.size();
  std::map<std::int64_t, double> shares;
  for (const std::size_t c : columns_of_[w]) {
    if (value[c] > negligible) shares[columns_[c].distance] += value[c];
  }
  return {shares.begin(), shares.end()};
}

}  // namespace fm
