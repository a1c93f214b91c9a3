#pragma once
// Brute force over everything a reader and a GPU may do, one nanosecond after the other.

#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "planner/overlap/timed_problem.hpp"

namespace fm {

/// Shortest latency of a problem without streams and copies, the disk at one byte a nanosecond:
/// weights may be read in any order and piece by piece, the disk and the GPU may idle, each byte
/// is claimed when its reading begins. Empty: no way through.
class ReadSearch {
 public:
  explicit ReadSearch(const TimedProblem& problem) : problem_(problem) {}

  std::optional<std::uint64_t> shortest() const {
    std::uint64_t limit = 1;
    for (const TimedLaunch& launch : problem_.launches) limit += launch.time.count();
    for (const TimedWeight& weight : problem_.weights) limit += weight.bytes.count();
    std::set<State> now;
    add({0, 0, std::vector<std::uint64_t>(problem_.weights.size(), 0)}, &now);
    for (std::uint64_t time = 0; time <= limit; ++time) {
      std::set<State> next;
      for (const State& state : now) {
        if (state.launch == problem_.launches.size()) return time;
        step(state, &next);
      }
      now = std::move(next);
    }
    return std::nullopt;
  }

 private:
  struct State {
    std::size_t launch;  // running when left > 0, else waited for
    std::uint64_t left;  // time until it ends
    std::vector<std::uint64_t> read;
    bool operator<(const State& other) const {
      return std::tie(launch, left, read) < std::tie(other.launch, other.left, other.read);
    }
  };

  bool fits(const State& state, Bytes beside) const {
    Bytes bytes = beside;
    for (std::size_t w = 0; w < state.read.size(); ++w) {
      if (problem_.weights[w].last_use >= state.launch) bytes += Bytes(state.read[w]);
    }
    return bytes <= problem_.budget;
  }

  /// The state and all that follow from it at the same instant.
  void add(State state, std::set<State>* states) const {
    if (state.launch < problem_.launches.size() && state.left == 0) {
      const TimedLaunch& launch = problem_.launches[state.launch];
      bool ready = fits(state, launch.running);
      for (std::size_t w = 0; w < state.read.size(); ++w) {
        const TimedWeight& weight = problem_.weights[w];
        if (weight.first_use <= state.launch)
          ready = ready && state.read[w] == weight.bytes.count();
      }
      if (ready) {
        State started = state;
        started.left = launch.time.count();
        if (started.left == 0) ++started.launch;
        if (started.left == 0) {
          add(std::move(started), states);
        } else {
          states->insert(std::move(started));
        }
      }
    }
    states->insert(std::move(state));
  }

  /// One nanosecond passes: the disk reads a byte of some weight, or idles.
  void step(const State& state, std::set<State>* next) const {
    const TimedLaunch& launch = problem_.launches[state.launch];
    const Bytes beside = state.left > 0 ? launch.running : launch.waiting;
    for (std::size_t w = 0; w <= state.read.size(); ++w) {
      State after = state;
      if (w < state.read.size()) {
        if (after.read[w] == problem_.weights[w].bytes.count()) continue;
        ++after.read[w];
      }
      if (!fits(after, beside)) continue;
      if (after.left > 0 && --after.left == 0) ++after.launch;
      add(std::move(after), next);
    }
  }

  const TimedProblem& problem_;
};

}  // namespace fm
