#include "planner/overlap/lc_opg_instance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr std::int64_t lambda_scale = 10'000;

void set_costs(double lambda, LcOpgInstance* instance) {
  const double scaled = lambda * lambda_scale;
  const auto chunk = static_cast<std::int64_t>(std::llround(scaled));
  if (!(lambda >= 0 && lambda <= 1) || std::abs(scaled - static_cast<double>(chunk)) > 1e-6) {
    throw UserError("lambda must be from 0 to 1 with at most four decimals");
  }
  const std::int64_t divisor = std::gcd(chunk, lambda_scale);
  instance->chunk_cost = chunk / divisor;
  instance->layer_cost = (lambda_scale - chunk) / divisor;
  instance->cost_scale = lambda_scale / divisor;
}

/// Layers of distance weight `w` has when nothing else is streamed; its
/// consumer must have room.
std::int64_t least_distance(const LcOpgInstance& instance, std::size_t w) {
  std::int64_t room = 0;
  std::int64_t layer = instance.consumer[w];
  while (room < instance.chunks[w]) room += instance.capacity[--layer];
  return instance.consumer[w] - layer;
}

bool is_settled(const LcOpgInstance& instance, std::size_t w) {
  if (instance.capacity_before[instance.consumer[w]] < instance.chunks[w]) return true;
  return !instance.limited &&
         instance.preload_cost(w) <= instance.layer_cost * least_distance(instance, w);
}

}  // namespace

LcOpgInstance lc_opg_instance(const LcOpgProblem& problem) {
  LcOpgInstance instance;
  set_costs(problem.lambda, &instance);
  const auto most = static_cast<std::int64_t>(problem.m_peak / problem.chunk_bytes);
  instance.capacity_before.push_back(0);
  for (const LcOpgLayer& layer : problem.layers) {
    instance.capacity.push_back(std::min(static_cast<std::int64_t>(layer.capacity), most));
    instance.capacity_before.push_back(instance.capacity_before.back() + instance.capacity.back());
  }
  instance.original.resize(problem.weights.size());
  std::iota(instance.original.begin(), instance.original.end(), std::size_t{0});
  std::stable_sort(instance.original.begin(), instance.original.end(),
                   [&](std::size_t a, std::size_t b) {
                     return problem.weights[a].layer < problem.weights[b].layer;
                   });
  std::int64_t total = 0;
  for (const std::size_t index : instance.original) {
    const LcOpgWeight& weight = problem.weights[index];
    instance.chunks.push_back(
        static_cast<std::int64_t>(ceil_div(weight.bytes.count(), problem.chunk_bytes.count())));
    instance.consumer.push_back(static_cast<std::int64_t>(weight.layer));
    total += instance.chunks.back();
  }
  instance.preload_limit = total;
  if (problem.preload_limit) {
    instance.preload_limit =
        std::min(total, static_cast<std::int64_t>(*problem.preload_limit / problem.chunk_bytes));
  }
  instance.limited = instance.preload_limit < total;
  for (std::size_t w = 0; w < instance.weight_count(); ++w) {
    instance.settled.push_back(problem.weights[instance.original[w]].preload ||
                               is_settled(instance, w));
  }
  return instance;
}

}  // namespace fm
