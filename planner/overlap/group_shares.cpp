#include "planner/overlap/group_shares.hpp"

#include <algorithm>

namespace fm {
namespace {

class Sharing {
 public:
  Sharing(const TimedProblem& problem, const ReadPositions& positions,
          const std::vector<char>& streams, LpSolution* solution)
      : problem_(problem),
        positions_(positions),
        streams_(streams),
        demand_(weight_demand(chunkwise(problem))),
        solution_(*solution) {}

  void add(const RelaxedGroup& group) {
    const LaunchGroup& launches = group.launches;
    if (launches.first == launches.last) {
      solution_.streamed.push_back(group.streamed);
      solution_.transformed.push_back(group.transformed);
      done_ = group.transformed;
      return;
    }
    // What earlier groups left over is streamed here if it can.
    const double reached = std::max(done_, needed(launches.first));
    const double most = std::max(0.0, group.transformed - reached);
    const double wanted = group.streamed > 0 ? most : 0;
    const std::vector<StreamPiece> pieces = stream_pieces(problem_, launches, streams_);
    std::vector<double> streamed;
    double room = 0;
    for (const StreamPiece& piece : pieces) {
      room += piece.bytes;
      if (room < std::min(wanted, group.streamed)) continue;
      streamed = streams_at(group, piece.slope, wanted);
      double all = 0;
      for (const double bytes : streamed) all += bytes;
      if (all + static_cast<double>(problem_.chunk.count()) >= wanted) break;
    }
    streamed.resize(launches.last - launches.first + 1, 0);
    for (std::size_t i = 0; i < streamed.size(); ++i) {
      done_ = std::max(done_, needed(launches.first + i)) + streamed[i];
      solution_.streamed.push_back(streamed[i]);
      solution_.transformed.push_back(done_);
    }
  }

 private:
  double needed(std::size_t k) const {
    return positions_.images_at(positions_.time_at(static_cast<double>(demand_.needed[k])));
  }

  /// By launch of the group, with pieces up to `slope`.
  std::vector<double> streams_at(const RelaxedGroup& group, double slope, double wanted) const {
    std::vector<double> streamed;
    double pointer = group.pointer_start, done = done_;
    for (std::size_t k = group.launches.first; k <= group.launches.last; ++k) {
      done = std::max(done, needed(k));
      const double read = positions_.images_at(pointer) - done;
      double bytes = 0, extra = 0;
      for (const StreamPiece& piece : stream_pieces(problem_.launches[k])) {
        const double left = std::min(read, wanted) - bytes;
        if (!streams_[k] || piece.slope > slope * 1.02 || left <= 0) break;
        bytes += std::min(piece.bytes, left);
        extra += std::min(piece.bytes, left) * piece.slope;
      }
      streamed.push_back(bytes);
      wanted -= bytes;
      done += bytes;
      const double time = static_cast<double>(problem_.launches[k].time.count()) + extra;
      pointer = std::min(group.pointer_finish, pointer + time);
    }
    return streamed;
  }

  const TimedProblem& problem_;
  const ReadPositions& positions_;
  const std::vector<char>& streams_;
  const WeightDemand demand_;
  LpSolution& solution_;
  double done_ = 0;  // image bytes transformed
};

}  // namespace

void share_out(const TimedProblem& problem, const ReadPositions& positions,
               const std::vector<char>& streams, const std::vector<RelaxedGroup>& groups,
               LpSolution* solution) {
  Sharing sharing(problem, positions, streams, solution);
  for (const RelaxedGroup& group : groups) sharing.add(group);
}

}  // namespace fm
