#pragma once
// Random LC-OPG problems, and their solutions by trying everything.

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "planner/overlap/lc_opg.hpp"
#include "planner/overlap/lc_opg_instance.hpp"
#include "planner/overlap/lc_opg_srpt.hpp"

namespace fm {

struct LcOpgShape {
  int layers = 5;
  int capacity = 3;
  int weights = 4;
  int chunks = 4;
};

/// Layers and weights are from half to all of the shape's, other counts from 0 or 1.
inline LcOpgProblem random_lc_opg(const LcOpgShape& shape, std::mt19937* random) {
  const auto up_to = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(*random);
  };
  LcOpgProblem problem;
  problem.name = "random";
  problem.chunk_bytes = Bytes(1024);
  problem.m_peak = Bytes(1024 * 1024);
  const double lambdas[] = {0, 0.1, 0.5, 0.7, 0.9, 0.9, 0.9, 1};
  problem.lambda = lambdas[up_to(0, 7)];
  const int layers = up_to((shape.layers + 1) / 2, shape.layers);
  for (int i = 0; i < layers; ++i) {
    problem.layers.push_back(
        {"l" + std::to_string(i), static_cast<std::uint64_t>(up_to(0, shape.capacity))});
  }
  const int weights = up_to((shape.weights + 1) / 2, shape.weights);
  for (int i = 0; i < weights; ++i) {
    // The last chunk may be part of one.
    const int bytes = 1024 * up_to(1, shape.chunks) - up_to(0, 1) * 500;
    problem.weights.push_back({"w" + std::to_string(i), Bytes(bytes),
                               static_cast<std::size_t>(up_to(0, layers - 1)), up_to(0, 9) == 0});
  }
  return problem;
}

/// Least sum of distances for a fixed W over every assignment of chunks to layers; nullopt when
/// there is none.
inline std::optional<std::int64_t> least_distance_by_trying(const LcOpgInstance& instance,
                                                            const std::vector<char>& preloaded) {
  std::optional<std::int64_t> best;
  std::vector<std::int64_t> room = instance.capacity;
  std::function<void(std::size_t, std::int64_t)> weight;
  // Places `left` chunks of w in layers from `layer` on; `first` is its z_w once it has one.
  std::function<void(std::size_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t)> place =
      [&](std::size_t w, std::int64_t layer, std::int64_t left, std::int64_t first,
          std::int64_t distance) {
        if (left == 0) {
          weight(w + 1, distance + instance.consumer[w] - first);
          return;
        }
        if (layer >= instance.consumer[w]) return;
        for (std::int64_t taken = 0; taken <= std::min(left, room[layer]); ++taken) {
          room[layer] -= taken;
          place(w, layer + 1, left - taken, first < 0 && taken > 0 ? layer : first, distance);
          room[layer] += taken;
        }
      };
  weight = [&](std::size_t w, std::int64_t distance) {
    if (best && distance >= *best) return;
    if (w == instance.weight_count()) {
      best = distance;
    } else if (preloaded[w]) {
      weight(w + 1, distance);
    } else {
      place(w, 0, instance.chunks[w], -1, distance);
    }
  };
  weight(0, 0);
  return best;
}

/// Least cost over every W that the problem allows, each with its best schedule; nullopt when
/// nothing satisfies the preload limit.
inline std::optional<std::int64_t> least_cost_by_trying(const LcOpgProblem& problem) {
  const LcOpgInstance instance = lc_opg_instance(problem);
  std::optional<std::int64_t> best;
  const std::size_t count = instance.weight_count();
  for (std::size_t mask = 0; mask < std::size_t{1} << count; ++mask) {
    std::vector<char> preloaded(count);
    std::int64_t chunks = 0;
    bool allowed = true;
    for (std::size_t w = 0; w < count; ++w) {
      preloaded[w] = (mask >> w & 1) != 0;
      if (preloaded[w]) chunks += instance.chunks[w];
      allowed = allowed && (preloaded[w] || !problem.weights[instance.original[w]].preload);
    }
    if (!allowed || chunks > instance.preload_limit) continue;
    const auto shares = srpt_schedule(instance, preloaded);
    if (!shares) continue;
    const std::int64_t cost = cost_of(instance, preloaded, *shares);
    if (!best || cost < *best) best = cost;
  }
  return best;
}

}  // namespace fm
