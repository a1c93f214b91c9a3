#pragma once
// Problems for the overlap solvers: small random ones, and stacks of transformer layers of any
// size.

#include <algorithm>
#include <random>

#include "planner/overlap/timed_problem.hpp"

namespace fm {

/// Bytes and nanoseconds of a few units, the disk at one byte a nanosecond, chunks of one byte, no
/// streams and free copies: small enough for brute force.
inline TimedProblem random_small_problem(std::mt19937_64& random) {
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  TimedProblem problem;
  problem.chunk = Bytes(1);
  const std::size_t launches = 1 + up_to(4);
  for (std::size_t k = 0; k < launches; ++k) {
    TimedLaunch launch;
    launch.time = Nanoseconds(up_to(4));
    launch.running = Bytes(up_to(3));
    launch.waiting = Bytes(up_to(launch.running.count()));
    problem.launches.push_back(launch);
  }
  std::size_t first = 0;
  for (std::uint64_t left = up_to(4); left > 0; --left) {
    first += up_to(launches - 1 - first);
    TimedWeight weight;
    weight.bytes = Bytes(1 + up_to(3));
    weight.read = Nanoseconds(weight.bytes.count());
    weight.first_use = first;
    weight.last_use = first + up_to(launches - first);
    problem.weights.push_back(weight);
  }
  return problem;
}

/// A random problem in microseconds and kibibytes: images and buffers, slowdowns, copy costs.
inline TimedProblem random_timed_problem(std::mt19937_64& random, std::size_t launches,
                                         std::size_t weights) {
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  TimedProblem problem;
  problem.chunk = Bytes(1024);
  problem.copy = {Nanoseconds(up_to(500)), static_cast<double>(up_to(100)) / 100};
  for (std::size_t k = 0; k < launches; ++k) {
    TimedLaunch launch;
    launch.time = Nanoseconds(100 + up_to(4000));
    launch.running = Bytes(up_to(3) * 1024);
    launch.waiting = Bytes(up_to(launch.running.count() / 1024) * 1024);
    if (up_to(2) > 0) {
      const std::uint64_t bytes = 1024 * (1 + up_to(3)), first = up_to(500);
      launch.slowdown = {{Bytes(bytes), Nanoseconds(first)},
                         {Bytes(2 * bytes), Nanoseconds(2 * first + up_to(900))}};
    }
    problem.launches.push_back(launch);
  }
  for (std::size_t w = 0; w < weights; ++w) {
    TimedWeight weight;
    weight.bytes = Bytes(512 * (1 + up_to(7)));
    weight.read = Nanoseconds(100 + weight.bytes.count());
    weight.first_use = up_to(launches - 1);
    weight.last_use = weight.first_use + up_to(launches - weight.first_use);
    weight.form = up_to(3) == 0 ? WeightForm::buffer : WeightForm::image;
    problem.weights.push_back(weight);
  }
  std::sort(problem.weights.begin(), problem.weights.end(),
            [](const auto& a, const auto& b) { return a.first_use < b.first_use; });
  problem.budget = minimum_budget(problem).bytes + Bytes(1024 * up_to(12));
  return problem;
}

struct StackSize {
  std::size_t layers = 12;
  std::size_t launches_a_layer = 14;    ///< at least 8
  std::uint64_t parameters = 86000000;  ///< of all layers
  double gmacs = 16;                    ///< of all layers
  double compute_gmacs_per_second = 500;
  double disk_bytes_per_second = 2e9;
};

/// Layers of four products (qkv, projection, two of the MLP, 3 : 1 : 4 : 4 of the weights) among
/// small launches; half-precision weights in images; products carry streams for up to a fifth of
/// their time, the small launches that are elemental up to three times.
inline TimedProblem transformer_stack(const StackSize& size) {
  TimedProblem problem;
  problem.copy = {Nanoseconds(10000), 1e9 / 17e9};
  const double layer_bytes =
      2.0 * static_cast<double>(size.parameters) / static_cast<double>(size.layers);
  const double layer_time =
      size.gmacs / size.compute_gmacs_per_second * 1e9 / static_cast<double>(size.layers);
  for (std::size_t layer = 0; layer < size.layers; ++layer) {
    for (std::size_t i = 0; i < size.launches_a_layer; ++i) {
      TimedLaunch launch;
      launch.running = launch.waiting = Bytes(4 << 20);
      const double share = i == 1 ? 3 : i == 4 ? 1 : i == 6 || i == 7 ? 4 : 0;
      if (share > 0) {
        // Slices as a planner makes them: none above 16 MiB.
        double left = share / 12 * layer_bytes;
        while (left >= 1) {
          TimedWeight weight;
          weight.bytes = Bytes(static_cast<std::uint64_t>(std::min(left, 16.0 * (1 << 20))));
          weight.first_use = weight.last_use = problem.launches.size();
          weight.read =
              Nanoseconds(80000 * (1 + weight.bytes.count() / (1 << 20)) +
                          static_cast<std::uint64_t>(static_cast<double>(weight.bytes.count()) /
                                                     size.disk_bytes_per_second * 1e9));
          left -= static_cast<double>(weight.bytes.count());
          problem.weights.push_back(weight);
        }
        launch.time = Nanoseconds(1 + static_cast<std::uint64_t>(share / 12 * layer_time));
        const std::uint64_t extra = launch.time.count() / 5;
        launch.slowdown = {{Bytes(extra * 20), Nanoseconds(extra / 2)},
                           {Bytes(extra * 30), Nanoseconds(extra)}};
      } else {
        launch.time = Nanoseconds(30000);
        if (i % 2 == 0) {
          launch.slowdown = {{Bytes(512 << 10), Nanoseconds(20000)},
                             {Bytes(1 << 20), Nanoseconds(60000)}};
        }
      }
      if (!launch.slowdown.empty() && launch.slowdown[0].streamed < Bytes(1 << 16)) {
        launch.slowdown.clear();
      }
      problem.launches.push_back(launch);
    }
  }
  return problem;
}

}  // namespace fm
