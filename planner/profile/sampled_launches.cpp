#include "planner/profile/sampled_launches.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "kernels/launch_builders.hpp"
#include "planner/placement.hpp"

namespace fm {
namespace {

constexpr double most_macs = 128.0 * 1024 * 1024, fewest_macs = 1024.0 * 1024;
constexpr std::int64_t most_elements = 2 * 1024 * 1024;

class Sampler {
 public:
  Sampler(std::uint64_t seed, const DeviceConfig& config)
      : state_(seed), rule_(PlacementRule::for_device(PlacementPolicy::automatic, config)) {
    plan_.config = config.name();
    plan_.policy = "profile";
  }

  Plan make(std::size_t count) {
    const std::vector<std::function<PlanLaunch()>> kinds{
        [&] { return matmul(); },   [&] { return binary(); },    [&] { return conv(1); },
        [&] { return move(); },     [&] { return conv(3); },     [&] { return unary(); },
        [&] { return batched(); },  [&] { return depthwise(); }, [&] { return pool(); },
        [&] { return place(); },    [&] { return resize(); },    [&] { return transposed(); },
        [&] { return broadcast(); }};
    for (std::size_t i = 0; i < count; ++i) {
      PlanLaunch launch = kinds[i % kinds.size()]();
      launch.id = "S" + std::to_string(i);
      plan_.launches.push_back(std::move(launch));
    }
    plan_.tensors.assign(tensors_.begin(), tensors_.end());
    return std::move(plan_);
  }

 private:
  /// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers everywhere.
  std::uint64_t random() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  bool coin() { return random() % 2 == 0; }
  /// Even over logarithms, a multiple of `unit` when that is not below it.
  std::int64_t size(double from, double to, std::int64_t unit = 1) {
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    const auto value = static_cast<std::int64_t>(from * std::pow(to / from, share));
    return std::max<std::int64_t>(unit, value / unit * unit);
  }

  const PlanTensor& tensor(TensorRole role, Layout layout, const Shape& shape) {
    PlanTensor made;
    made.id = made.name = "t" + std::to_string(tensors_.size());
    made.role = role;
    made.dtype = plan_.storage;
    made.shape = shape;
    made.layout = layout;
    made.placement = rule_.of(role, layout, shape);
    made.bytes = storage_bytes(layout, made.dtype, shape);
    return tensors_.emplace_back(std::move(made));
  }
  const PlanTensor& rows(const Shape& shape) {
    return tensor(TensorRole::activation, Layout::rows, shape);
  }
  const PlanTensor& channels(const Shape& shape) {
    return tensor(TensorRole::activation, Layout::channels, shape);
  }
  const PlanTensor& weight(Layout layout, const Shape& shape) {
    return tensor(TensorRole::weight, layout, shape);
  }

  Epilogue epilogue() {
    constexpr Activation choices[] = {Activation::none, Activation::none, Activation::relu,
                                      Activation::gelu_erf};
    Epilogue result;
    result.activation = choices[random() % 4];
    return result;
  }

  PlanLaunch matmul() {
    const std::int64_t m = size(1, 512), n = size(64, 3072, 4);
    const auto cells = static_cast<double>(m * n);
    const std::int64_t k =
        size(std::max(32.0, fewest_macs / cells), std::clamp(most_macs / cells, 64.0, 3072.0), 4);
    MatmulOperands operands{};
    operands.a = &rows({m, k});
    operands.b = &weight(Layout::rows, {k, n});
    operands.bias = &weight(Layout::rows, {n});
    operands.c = &rows({m, n});
    operands.epilogue = epilogue();
    if (coin()) operands.epilogue.residual = &rows({m, n});
    return build_matmul(operands);
  }

  /// Of two activations, as in attention.
  PlanLaunch batched() {
    const std::int64_t heads = size(2, 16), m = size(32, 256), n = size(32, 256, 4);
    const std::int64_t k = size(32, 256, 4);
    MatmulOperands operands{};
    operands.b_transposed = coin();
    operands.a = &rows({heads, m, k});
    operands.b = operands.b_transposed ? &rows({heads, n, k}) : &rows({heads, k, n});
    operands.c = &rows({heads, m, n});
    return build_matmul(operands);
  }

  struct Feature {
    std::int64_t channels = 0, side = 0;
  };
  Feature feature(std::int64_t most_channels = 512) {
    const std::int64_t side = size(7, 112);
    const double room = static_cast<double>(most_elements) / static_cast<double>(side * side);
    return {size(8, std::min<double>(room, static_cast<double>(most_channels)), 8), side};
  }

  PlanLaunch conv(int window) {
    const Feature in = feature();
    const int stride = random() % 4 == 0 ? 2 : 1;
    const std::int64_t side = (in.side - 1) / stride + 1;
    const double a_channel =
        static_cast<double>(in.channels * side * side) * static_cast<double>(window * window);
    const std::int64_t out = size(std::max(8.0, fewest_macs / a_channel),
                                  std::clamp(most_macs / a_channel, 16.0, 1024.0), 8);
    ConvOperands operands{};
    operands.geometry.kernel = {window, window};
    operands.geometry.stride = {stride, stride};
    const int pad = window / 2;
    operands.geometry.pad = {pad, pad, pad, pad};
    operands.x = &channels({1, in.channels, in.side, in.side});
    operands.filter = &weight(Layout::conv_filter, {out, in.channels, window, window});
    operands.bias = &weight(Layout::rows, {out});
    operands.y = &channels({1, out, side, side});
    operands.epilogue = epilogue();
    return build_convolution(operands);
  }

  PlanLaunch depthwise() {
    const Feature in = feature();
    const int window = coin() ? 3 : 5;
    ConvOperands operands{};
    operands.geometry.kernel = {window, window};
    operands.geometry.pad = {window / 2, window / 2, window / 2, window / 2};
    operands.geometry.groups = static_cast<int>(in.channels);
    operands.x = &channels({1, in.channels, in.side, in.side});
    operands.filter = &weight(Layout::depthwise_filter, {in.channels, 1, window, window});
    operands.bias = &weight(Layout::rows, {in.channels});
    operands.y = &channels({1, in.channels, in.side, in.side});
    operands.epilogue = epilogue();
    return build_convolution(operands);
  }

  PlanLaunch transposed() {
    const Feature in = feature(128);
    const std::int64_t side = std::min<std::int64_t>(in.side, 56), out = size(8, 64, 8);
    ConvOperands operands{};
    operands.geometry.kernel = {2, 2};
    operands.geometry.stride = {2, 2};
    operands.x = &channels({1, in.channels, side, side});
    operands.filter = &weight(Layout::conv_filter, {out, in.channels, 2, 2});
    operands.bias = &weight(Layout::rows, {out});
    operands.y = &channels({1, out, 2 * side, 2 * side});
    return build_transposed_convolution(operands);
  }

  PlanLaunch pool() {
    const Feature in = feature();
    const std::int64_t out = (in.side - 1) / 2 + 1;
    ConvGeometry geometry;
    geometry.kernel = {3, 3};
    geometry.stride = {2, 2};
    geometry.pad = {1, 1, 1, 1};
    return build_pool(channels({1, in.channels, in.side, in.side}),
                      channels({1, in.channels, out, out}), geometry, PoolKind::maximum);
  }

  PlanLaunch resize() {
    const Feature in = feature();
    const std::int64_t side = std::min<std::int64_t>(in.side, 56);
    return build_resize(channels({1, in.channels, side, side}),
                        channels({1, in.channels, 2 * side, 2 * side}),
                        coin() ? ResizeMode::nearest : ResizeMode::linear,
                        ResizeCoordinates::asymmetric, NearestRounding::floor, {2, 2});
  }

  Shape matrix() {
    const std::int64_t m = size(4, 1024);
    const double room = static_cast<double>(most_elements) / static_cast<double>(m);
    return {m, size(16, std::min(room, 3072.0), 4)};
  }

  PlanLaunch unary() {
    const Shape shape = matrix();
    Epilogue one;
    one.activation = coin() ? Activation::relu : Activation::gelu_erf;
    return build_unary(rows(shape), rows(shape), one);
  }
  PlanLaunch binary() {
    const Shape shape = matrix();
    return build_binary(rows(shape), rows(shape), rows(shape), BinaryOperator::add, epilogue());
  }
  PlanLaunch broadcast() {
    const Feature in = feature();
    const PlanTensor& x = channels({1, in.channels, in.side, in.side});
    const PlanTensor& scale = channels({1, in.channels, 1, 1});
    return build_binary(x, scale, channels(x.shape), BinaryOperator::multiply, {});
  }

  /// Heads apart: [m, h * k] -> [h, m, k].
  PlanLaunch move() {
    const std::int64_t heads = size(2, 16), m = size(16, 512), k = size(16, 128, 4);
    return build_move(rows({m, heads * k}), rows({heads, m, k}), {k, heads * k, 1});
  }
  PlanLaunch place() {
    const Shape shape = matrix();
    return build_place(rows(shape), rows({shape[0] + 1, shape[1]}), 0, 1);
  }

  std::uint64_t state_;
  PlacementRule rule_;
  Plan plan_;
  std::deque<PlanTensor> tensors_;  // so that they stay where they are
};

}  // namespace

Plan sampled_launches(std::size_t count, std::uint64_t seed, const DeviceConfig& config) {
  return Sampler(seed, config).make(count);
}

}  // namespace fm
