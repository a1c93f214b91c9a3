#include "planner/overlap/overlap_lp.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "planner/overlap/group_shares.hpp"
#include "planner/overlap/image_window.hpp"
#include "planner/overlap/launch_groups.hpp"
#include "planner/overlap/linear_program.hpp"
#include "planner/overlap/read_positions.hpp"

namespace fm {
namespace {

// Units in which all numbers are of moderate size.
constexpr double time_unit = 1e3;      // microseconds
constexpr double byte_unit = 1 << 20;  // MiB

class OverlapLp {
 public:
  OverlapLp(const TimedProblem& problem, std::size_t groups)
      : problem_(problem),
        positions_(problem),
        demand_(weight_demand(chunkwise(problem))),
        caps_(pointer_caps(chunkwise(problem), demand_)),
        streams_(problem.launches.size()) {
    if (problem.whole_claims) image_caps_ = pointer_caps(problem, weight_demand(problem)).running;
    images_end_ = positions_.corners().back().images / byte_unit;
    for (std::size_t k = 0; k < problem.launches.size(); ++k) {
      streams_[k] = !problem.launches[k].slowdown.empty() && images_needed(k) < images_end_;
    }
    for (const LaunchGroup& group : launch_groups(problem, groups)) add_group(group);
  }

  std::optional<LpSolution> solve(double seconds) const {
    std::vector<double> values;
    double objective = 0;
    if (!program_.solve(seconds, &values, &objective)) return std::nullopt;
    const auto value = [&](int column) { return values[static_cast<std::size_t>(column)]; };
    std::vector<RelaxedGroup> groups;
    for (const Columns& columns : groups_) {
      RelaxedGroup group{columns.launches, value(columns.pointer_start) * time_unit,
                         value(columns.pointer_finish) * time_unit,
                         value(columns.transformed) * byte_unit, 0};
      for (const int piece : columns.streams) group.streamed += value(piece) * byte_unit;
      groups.push_back(group);
    }
    LpSolution solution;
    solution.latency = (objective + fixed_) * time_unit;
    share_out(problem_, positions_, streams_, groups, &solution);
    return solution;
  }

 private:
  /// A group starts at `start` and ends at `finish`, both relative to the sum of the bare times
  /// until then, so that all columns and right-hand sides are about overhead; a single launch
  /// without streams ends at the same column.
  struct Columns {
    LaunchGroup launches;
    int start = -1, finish = -1;
    int pointer_start = -1, pointer_finish = -1;
    int transformed = -1;
    std::vector<int> streams;
    std::vector<double> slopes;  // of them, in units

    bool single() const { return launches.first == launches.last; }
  };

  double cap_time(std::int64_t cap) const {
    return positions_.time_at(static_cast<double>(cap)) / time_unit;
  }
  double needed(std::size_t k) const {
    return positions_.time_at(static_cast<double>(demand_.needed[k])) / time_unit;
  }
  double images_needed(std::size_t k) const {
    return positions_.images_at(needed(k) * time_unit) / byte_unit;
  }
  double bare(std::size_t k) const {
    return static_cast<double>(problem_.launches[k].time.count()) / time_unit;
  }
  double head_start() const { return static_cast<double>(problem_.head_start.count()) / time_unit; }

  /// Images, in MiB, that may be claimed for transforms of launch k.
  double most_images(std::size_t k) const {
    if (image_caps_.empty()) return images_end_;
    const std::int64_t cap = image_caps_[k - std::min(k, problem_.ahead)];
    const double time = positions_.time_at(static_cast<double>(cap));
    return positions_.images_at(time) / byte_unit;
  }

  void add_group(const LaunchGroup& group) {
    const std::size_t first = group.first, last = group.last;
    const double cost = last + 1 == problem_.launches.size() ? 1 : 0;
    const double unbounded = std::numeric_limits<double>::max();
    Columns now;
    now.launches = group;
    const std::vector<StreamPiece> pieces = stream_pieces(problem_, group, streams_);
    const bool one_column = now.single() && pieces.empty();
    now.start = program_.column(0, unbounded, one_column ? cost : 0);
    now.finish = one_column ? now.start : program_.column(0, unbounded, cost);
    now.pointer_start = program_.column(needed(first), cap_time(caps_.waiting[first]));
    now.pointer_finish = program_.column(needed(last), cap_time(caps_.running[last]));
    now.transformed = program_.column(images_needed(last), most_images(last));
    for (const StreamPiece& piece : pieces) {
      now.streams.push_back(program_.column(0, piece.bytes / byte_unit));
      now.slopes.push_back(piece.slope * byte_unit / time_unit);
    }
    add_disk_rows(now);
    add_transform_rows(now);
    add_copy_rows(now);
    for (std::size_t k = first; k <= last; ++k) fixed_ += bare(k);
    groups_.push_back(std::move(now));
  }

  void add_disk_rows(const Columns& now) {
    if (groups_.empty()) {
      program_.row({{now.start, 1}, {now.pointer_start, -1}}, -head_start());
    } else {
      const Columns& before = groups_.back();
      program_.row({{now.start, 1},
                    {before.finish, -1},
                    {now.pointer_start, -1},
                    {before.pointer_finish, 1}},
                   0);
    }
    double time = 0, read = 0;  // `read`: disk time that must have passed in the group
    for (std::size_t k = now.launches.first; k <= now.launches.last; ++k) {
      read = std::max(read, needed(k) - time);
      time += bare(k);
    }
    // Both columns of a launch that cannot slow down are one.
    if (now.finish == now.start) {
      program_.row({{now.pointer_finish, -1}, {now.pointer_start, 1}}, -time);
      return;
    }
    program_.row(
        {{now.finish, 1}, {now.start, -1}, {now.pointer_finish, -1}, {now.pointer_start, 1}},
        -time);
    // What launch k needs is read when it starts: so long before the group's end as the launches
    // from k on take.
    if (read <= needed(now.launches.first)) return;
    program_.row({{now.finish, 1}, {now.start, -1}, {now.pointer_start, 1}}, read);
  }

  void add_transform_rows(const Columns& now) {
    const std::size_t last = now.launches.last;
    // What the last launch streams is read when it starts: by the end at the latest.
    const int pointer = now.single() ? now.pointer_start : now.pointer_finish;
    const double to = cap_time(now.single() ? caps_.waiting[last] : caps_.running[last]);
    for (const EnvelopeLine& line :
         image_envelope(positions_, needed(last) * time_unit, to * time_unit)) {
      program_.row({{pointer, line.rate * time_unit / byte_unit}, {now.transformed, -1}},
                   -line.offset / byte_unit);
    }
    std::vector<LinearProgram::Term> ready{{now.transformed, 1}};
    for (const int piece : now.streams) ready.push_back({piece, -1});
    program_.row(ready, images_needed(now.launches.first));
    program_.row(copied(now), 0);
  }

  /// Transformed in the group and not streamed.
  std::vector<LinearProgram::Term> copied(const Columns& now) const {
    std::vector<LinearProgram::Term> terms{{now.transformed, 1}};
    if (!groups_.empty()) terms.push_back({groups_.back().transformed, -1});
    for (const int piece : now.streams) terms.push_back({piece, -1});
    return terms;
  }

  /// Least time of a copied MiB.
  double copy_cost(const Columns& now) const {
    const std::size_t first = now.launches.first;
    const double from = first == 0 ? 0 : needed(first - 1) * time_unit;
    const double to = cap_time(caps_.waiting[now.launches.last]) * time_unit;
    return least_copy_cost(problem_, positions_, from, to) * byte_unit / time_unit;
  }

  void add_copy_rows(const Columns& now) {
    const double cost = copy_cost(now);
    // Copies before the first launch may run in the head start.
    const double begin = groups_.empty() ? -head_start() : 0;
    const int before = groups_.empty() ? -1 : groups_.back().finish;
    std::vector<LinearProgram::Term> slower{{now.finish, 1}, {now.start, -1}};
    for (std::size_t i = 0; i < now.streams.size(); ++i) {
      slower.push_back({now.streams[i], -now.slopes[i]});
    }
    if (!now.streams.empty()) program_.row(slower, 0);
    std::vector<LinearProgram::Term> copying{{now.start, 1}, {before, -1}};
    if (now.single()) {
      for (const LinearProgram::Term& term : copied(now)) {
        copying.push_back({term.column, -cost * term.factor});
      }
      program_.row(copying, begin);
      return;
    }
    // Before the group's first launch: at least what that one lacks.
    const int transformed = groups_.empty() ? -1 : groups_.back().transformed;
    copying.push_back({transformed, cost});
    program_.row(copying, begin + cost * images_needed(now.launches.first));
    std::vector<LinearProgram::Term> all{
        {now.finish, 1}, {before, -1}, {now.transformed, -cost}, {transformed, cost}};
    for (std::size_t i = 0; i < now.streams.size(); ++i) {
      all.push_back({now.streams[i], cost - now.slopes[i]});
    }
    program_.row(all, begin);
  }

  const TimedProblem& problem_;
  const ReadPositions positions_;
  const WeightDemand demand_;
  const PointerCaps caps_;
  std::vector<char> streams_;             // by launch
  std::vector<std::int64_t> image_caps_;  // with whole claims: pointer behind the images
  double images_end_ = 0;
  double fixed_ = 0;  // sum of bare times
  LinearProgram program_;
  std::vector<Columns> groups_;
};

}  // namespace

std::optional<LpSolution> solve_overlap_lp(const TimedProblem& problem, double seconds,
                                           std::size_t groups) {
  if (problem.budget < minimum_budget(problem).bytes) {
    throw std::invalid_argument("the budget is below its minimum");
  }
  return OverlapLp(problem, groups).solve(seconds);
}

}  // namespace fm
