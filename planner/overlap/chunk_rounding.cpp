#include "planner/overlap/chunk_rounding.hpp"

#include <algorithm>

#include "planner/overlap/stream_limits.hpp"

namespace fm {
namespace {

bool within_caps(const TimedProblem& problem, const PointerCaps& caps, const ChunkList& chunks,
                 const OverlapSchedule& schedule) {
  std::uint64_t done = 0;
  for (std::size_t k = 0; k < schedule.streamed.size(); ++k) {
    done += schedule.copied[k] + schedule.streamed[k];
    if (done > 0 && transform_end(problem, chunks, done - 1) > transform_cap(problem, caps, k)) {
      return false;
    }
  }
  return true;
}

}  // namespace

OverlapSchedule with_late_copies(const TimedProblem& problem, const ChunkList& chunks,
                                 std::vector<std::uint64_t> streamed) {
  OverlapSchedule schedule;
  std::uint64_t done = 0;
  for (std::size_t k = 0; k < problem.launches.size(); ++k) {
    const std::uint64_t needed = chunks.image_needed[k];
    schedule.copied.push_back(needed > done ? needed - done : 0);
    done = std::max(done, needed);
    if (streamed[k] > 0) streamed[k] = std::min(streamed[k], streamable(problem, chunks, k, done));
    done += streamed[k];
  }
  schedule.streamed = std::move(streamed);
  return schedule;
}

OverlapSchedule round_to_chunks(const TimedProblem& problem, const ChunkList& chunks,
                                const LpSolution& relaxed, double share) {
  const PointerCaps caps = pointer_caps(problem, weight_demand(problem));
  OverlapSchedule schedule;
  std::uint64_t done = 0;
  double bytes = 0;  // of the chunks done
  const auto pass = [&](std::uint64_t count) {
    for (; count > 0; --count) {
      bytes += static_cast<double>(chunks.all[chunks.images[done++]].bytes);
    }
  };
  for (std::size_t k = 0; k < problem.launches.size(); ++k) {
    const std::uint64_t needed = chunks.image_needed[k];
    schedule.copied.push_back(needed > done ? needed - done : 0);
    pass(schedule.copied.back());
    std::uint64_t streamed = 0;
    if (relaxed.streamed[k] > 0) {
      double reached = bytes;
      const std::uint64_t most = streamable(problem, chunks, k, done);
      while (streamed < most) {
        const auto next = static_cast<double>(chunks.all[chunks.images[done + streamed]].bytes);
        if (reached + share * next > relaxed.transformed[k]) break;
        reached += next;
        ++streamed;
      }
      const std::int64_t cap = transform_cap(problem, caps, k);
      while (streamed > 0 && transform_end(problem, chunks, done + streamed - 1) > cap) --streamed;
    }
    schedule.streamed.push_back(streamed);
    pass(streamed);
  }
  return schedule;
}

void improve_schedule(const TimedProblem& problem, const ChunkList& chunks, int rounds,
                      std::uint64_t work, OverlapSchedule* schedule, TimedRun* run) {
  const PointerCaps caps = pointer_caps(problem, weight_demand(problem));
  const std::uint64_t a_run = problem.launches.size() + chunks.all.size();
  std::uint64_t done = 0;
  const auto accept = [&](std::vector<std::uint64_t> streamed) {
    OverlapSchedule changed = with_late_copies(problem, chunks, std::move(streamed));
    if (changed.streamed == schedule->streamed || !within_caps(problem, caps, chunks, changed))
      return false;
    done += a_run;
    TimedRun tried = run_schedule(problem, chunks, changed);
    if (tried.latency >= run->latency) return false;
    *schedule = std::move(changed);
    *run = std::move(tried);
    return true;
  };
  bool better = true;
  for (int round = 0; better && round < rounds; ++round) {
    better = false;
    for (std::size_t k = 0; k < problem.launches.size(); ++k) {
      if (problem.launches[k].slowdown.empty()) continue;
      if (done >= work) return;
      std::vector<std::uint64_t> more = schedule->streamed;
      ++more[k];
      if (accept(std::move(more))) {
        better = true;
      } else if (schedule->streamed[k] > 0) {
        std::vector<std::uint64_t> fewer = schedule->streamed;
        --fewer[k];
        better = accept(std::move(fewer)) || better;
      }
    }
  }
}

}  // namespace fm
