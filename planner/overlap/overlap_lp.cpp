#include "planner/overlap/overlap_lp.hpp"

#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>
#include <stdexcept>

#include "planner/overlap/image_window.hpp"
#include "planner/overlap/read_positions.hpp"

namespace fm {
namespace {

// Units in which all numbers are of moderate size.
constexpr double time_unit = 1e3;      // microseconds
constexpr double byte_unit = 1 << 20;  // MiB

/// Rows, columns and coefficients as Clp takes them.
class LinearProgram {
 public:
  int column(double lower, double upper, double cost = 0) {
    lower_.push_back(lower);
    upper_.push_back(upper);
    cost_.push_back(cost);
    return static_cast<int>(lower_.size()) - 1;
  }
  struct Term {
    int column;
    double factor;
  };
  /// sum of terms >= `at_least`
  void row(std::initializer_list<Term> terms, double at_least) {
    row(std::vector<Term>(terms), at_least);
  }
  void row(const std::vector<Term>& terms, double at_least) {
    for (const Term& term : terms) {
      if (term.column < 0) continue;
      rows_.push_back(static_cast<int>(row_lower_.size()));
      columns_.push_back(term.column);
      factors_.push_back(term.factor);
    }
    row_lower_.push_back(at_least);
  }
  /// False when time ran out.
  bool solve(double seconds, std::vector<double>* values, double* objective) const {
    const CoinPackedMatrix matrix(true, rows_.data(), columns_.data(), factors_.data(),
                                  static_cast<CoinBigIndex>(factors_.size()));
    const std::vector<double> row_upper(row_lower_.size(), COIN_DBL_MAX);
    ClpSimplex model;
    model.setLogLevel(0);
    model.loadProblem(matrix, lower_.data(), upper_.data(), cost_.data(), row_lower_.data(),
                      row_upper.data());
    model.setMaximumSeconds(seconds);
    ClpSolve method;
    method.setSolveType(ClpSolve::useDual);
    method.setPresolveType(ClpSolve::presolveOn);
    model.initialSolve(method);
    if (model.isProvenPrimalInfeasible()) throw std::logic_error("the overlap LP is infeasible");
    if (!model.isProvenOptimal()) return false;
    values->assign(model.primalColumnSolution(), model.primalColumnSolution() + lower_.size());
    *objective = model.objectiveValue();
    return true;
  }

 private:
  std::vector<double> lower_, upper_, cost_, row_lower_, factors_;
  std::vector<int> rows_, columns_;
};

class OverlapLp {
 public:
  explicit OverlapLp(const TimedProblem& problem)
      : problem_(problem),
        positions_(problem),
        demand_(weight_demand(chunkwise(problem))),
        caps_(pointer_caps(chunkwise(problem), demand_)) {
    if (problem.whole_claims) image_caps_ = pointer_caps(problem, weight_demand(problem)).running;
    images_end_ = positions_.corners().back().images / byte_unit;
    for (std::size_t k = 0; k < problem.launches.size(); ++k) add_launch(k);
  }

  std::optional<LpSolution> solve(double seconds) const {
    std::vector<double> values;
    double objective = 0;
    if (!program_.solve(seconds, &values, &objective)) return std::nullopt;
    LpSolution solution;
    solution.latency = (objective + fixed_) * time_unit;
    for (const Columns& columns : launches_) {
      double streamed = 0;
      for (const int piece : columns.streams) streamed += values[static_cast<std::size_t>(piece)];
      solution.streamed.push_back(streamed * byte_unit);
      solution.transformed.push_back(values[static_cast<std::size_t>(columns.transformed)] *
                                     byte_unit);
    }
    return solution;
  }

 private:
  /// A launch starts at `start`, relative to the sum of the bare times before it, so that all
  /// columns and right-hand sides are about overhead; without streams it ends at the same column.
  struct Columns {
    int start = -1, finish = -1;
    int pointer_start = -1, pointer_finish = -1;
    int transformed = -1;
    std::vector<int> streams;
  };

  double cap_time(std::int64_t cap) const {
    return positions_.time_at(static_cast<double>(cap)) / time_unit;
  }

  /// Images, in MiB, that may be claimed for transforms of launch k.
  double most_images(std::size_t k) const {
    if (image_caps_.empty()) return images_end_;
    const std::int64_t cap = image_caps_[k - std::min(k, problem_.ahead)];
    const double time = positions_.time_at(static_cast<double>(cap));
    return positions_.images_at(time) / byte_unit;
  }

  void add_launch(std::size_t k) {
    const TimedLaunch& launch = problem_.launches[k];
    const bool last = k + 1 == problem_.launches.size();
    const double bare = static_cast<double>(launch.time.count()) / time_unit;
    const double needed = positions_.time_at(static_cast<double>(demand_.needed[k])) / time_unit;
    const double images_needed = positions_.images_at(needed * time_unit) / byte_unit;
    const double unbounded = COIN_DBL_MAX;
    Columns now;
    const bool streams = !launch.slowdown.empty() && images_needed < images_end_;
    now.start = program_.column(0, unbounded, last && !streams ? 1 : 0);
    now.finish = streams ? program_.column(0, unbounded, last ? 1 : 0) : now.start;
    now.pointer_start = program_.column(needed, cap_time(caps_.waiting[k]));
    now.pointer_finish = program_.column(needed, cap_time(caps_.running[k]));
    now.transformed = program_.column(images_needed, most_images(k));
    if (streams) add_streams(launch, &now);
    add_disk_rows(k, now, bare);
    add_transform_rows(k, now, images_needed, needed);
    fixed_ += bare;
    launches_.push_back(std::move(now));
  }

  void add_streams(const TimedLaunch& launch, Columns* now) {
    std::vector<LinearProgram::Term> slower{{now->finish, 1}, {now->start, -1}};
    double bytes = 0, time = 0;
    for (const SlowdownPoint& point : launch.slowdown) {
      const double next_bytes = static_cast<double>(point.streamed.count()) / byte_unit;
      const double next_time = static_cast<double>(point.extra.count()) / time_unit;
      now->streams.push_back(program_.column(0, next_bytes - bytes));
      slower.push_back({now->streams.back(), -(next_time - time) / (next_bytes - bytes)});
      bytes = next_bytes, time = next_time;
    }
    program_.row(slower, 0);
  }

  void add_disk_rows(std::size_t k, const Columns& now, double bare) {
    if (k == 0) {
      const double head = static_cast<double>(problem_.head_start.count()) / time_unit;
      program_.row({{now.start, 1}, {now.pointer_start, -1}}, -head);
    } else {
      const Columns& before = launches_.back();
      program_.row({{now.start, 1},
                    {before.finish, -1},
                    {now.pointer_start, -1},
                    {before.pointer_finish, 1}},
                   0);
    }
    // Both columns of a launch that cannot slow down are one.
    if (now.finish == now.start) {
      program_.row({{now.pointer_finish, -1}, {now.pointer_start, 1}}, -bare);
    } else {
      program_.row(
          {{now.finish, 1}, {now.start, -1}, {now.pointer_finish, -1}, {now.pointer_start, 1}},
          -bare);
    }
  }

  void add_transform_rows(std::size_t k, const Columns& now, double images_needed, double needed) {
    const double to = positions_.time_at(static_cast<double>(caps_.waiting[k]));
    for (const EnvelopeLine& line : image_envelope(positions_, needed * time_unit, to)) {
      program_.row({{now.pointer_start, line.rate * time_unit / byte_unit}, {now.transformed, -1}},
                   -line.offset / byte_unit);
    }
    const int before = k == 0 ? -1 : launches_.back().transformed;
    std::vector<LinearProgram::Term> ready{{now.transformed, 1}}, copied = ready;
    if (before >= 0) copied.push_back({before, -1});
    for (const int piece : now.streams) {
      ready.push_back({piece, -1});
      copied.push_back({piece, -1});
    }
    program_.row(ready, images_needed);
    program_.row(copied, 0);
    const double from = k == 0 ? 0 : positions_.time_at(static_cast<double>(demand_.needed[k - 1]));
    const double cost = least_copy_cost(problem_, positions_, from, to) * byte_unit / time_unit;
    std::vector<LinearProgram::Term> copying{{now.start, 1}};
    if (k > 0) copying.push_back({launches_.back().finish, -1});
    for (const LinearProgram::Term& term : copied) {
      copying.push_back({term.column, -cost * term.factor});
    }
    // Copies before the first launch may run in the head start.
    const double head = static_cast<double>(problem_.head_start.count()) / time_unit;
    program_.row(copying, k == 0 ? -head : 0);
  }

  const TimedProblem& problem_;
  const ReadPositions positions_;
  const WeightDemand demand_;
  const PointerCaps caps_;
  std::vector<std::int64_t> image_caps_;  // with whole claims: pointer behind the images
  double images_end_ = 0;
  double fixed_ = 0;  // sum of bare times
  LinearProgram program_;
  std::vector<Columns> launches_;
};

}  // namespace

std::optional<LpSolution> solve_overlap_lp(const TimedProblem& problem, double seconds) {
  if (problem.budget < minimum_budget(problem).bytes) {
    throw std::invalid_argument("the budget is below its minimum");
  }
  return OverlapLp(problem).solve(seconds);
}

}  // namespace fm
