#pragma once
// A small, awkward launch of every kernel that streams weights.

#include <string>
#include <vector>

#include "kernels/launch_builders.hpp"
#include "kernels/launch_tiles.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm::test {

/// A launch with its operands.
struct StreamingCase {
  std::string name;
  PlanLaunch launch;
  std::vector<HostTensor> operands;
};

inline StreamingCase matmul_case(const Storage& storage, bool transposed, bool local) {
  StreamingCase made{transposed ? "matmul transposed" : local ? "matmul local" : "matmul", {}, {}};
  made.operands = {
      random_tensor("a", Layout::rows, {2, 19, 50}, storage),
      random_tensor("b", Layout::rows, transposed ? Shape{2, 44, 50} : Shape{2, 50, 44}, storage),
      make_tensor("c", Layout::rows, {2, 19, 44}, storage)};
  MatmulOperands operands{};
  operands.a = &made.operands[0].plan;
  operands.b = &made.operands[1].plan;
  operands.c = &made.operands[2].plan;
  operands.b_transposed = transposed;
  TileChoice tile;
  tile.local_memory = local;
  made.launch = build_matmul(operands, tile);
  return made;
}

inline StreamingCase attention_case(const Storage& storage, std::optional<KeyBand> band) {
  StreamingCase made{band ? "attention of a band" : "attention", {}, {}};
  made.operands = {random_tensor("query", Layout::rows, {2, 19, 24}, storage),
                   random_tensor("key", Layout::rows, {2, 150, 24}, storage),
                   random_tensor("value", Layout::rows, {2, 150, 20}, storage),
                   make_tensor("y", Layout::rows, {2, 19, 20}, storage)};
  AttentionOperands operands{};
  operands.query = &made.operands[0].plan;
  operands.key = &made.operands[1].plan;
  operands.value = &made.operands[2].plan;
  operands.y = &made.operands[3].plan;
  operands.band = band;
  made.launch = build_attention(operands);
  return made;
}

inline StreamingCase convolution_case(const Storage& storage, const std::string& name) {
  StreamingCase made{name, {}, {}};
  const bool depthwise = name == "depthwise", transposed = name == "transposed";
  const int k = name == "pointwise" ? 1 : transposed ? 2 : 3;
  const Shape out = transposed ? Shape{1, 12, 18, 22} : Shape{1, 12, 9, 11};
  made.operands = {
      random_tensor("x", Layout::channels, {1, 12, 9, 11}, storage),
      random_tensor("filter", depthwise ? Layout::depthwise_filter : Layout::conv_filter,
                    {12, depthwise ? 1 : 12, k, k}, storage),
      make_tensor("y", Layout::channels, out, storage)};
  ConvOperands operands{};
  operands.x = &made.operands[0].plan;
  operands.filter = &made.operands[1].plan;
  operands.y = &made.operands[2].plan;
  operands.geometry.kernel = {k, k};
  if (k == 3) operands.geometry.pad = {1, 1, 1, 1};
  if (depthwise) operands.geometry.groups = 12;
  if (transposed) operands.geometry.stride = {2, 2};
  made.launch = transposed ? build_transposed_convolution(operands) : build_convolution(operands);
  return made;
}

inline StreamingCase pool_case(const Storage& storage) {
  StreamingCase made{"pool", {}, {}};
  made.operands = {random_tensor("x", Layout::channels, {1, 7, 9, 11}, storage),
                   make_tensor("y", Layout::channels, {1, 7, 5, 6}, storage)};
  ConvGeometry geometry;
  geometry.kernel = {3, 3};
  geometry.stride = {2, 2};
  geometry.pad = {1, 1, 1, 1};
  made.launch =
      build_pool(made.operands[0].plan, made.operands[1].plan, geometry, PoolKind::maximum);
  return made;
}

inline StreamingCase resize_case(const Storage& storage) {
  StreamingCase made{"resize", {}, {}};
  made.operands = {random_tensor("x", Layout::channels, {1, 7, 5, 6}, storage),
                   make_tensor("y", Layout::channels, {1, 7, 10, 12}, storage)};
  made.launch = build_resize(made.operands[0].plan, made.operands[1].plan, ResizeMode::linear,
                             ResizeCoordinates::half_pixel, NearestRounding::floor, {2, 2});
  return made;
}

inline StreamingCase row_case(const Storage& storage, const std::string& name) {
  StreamingCase made{name, {}, {}};
  made.operands = {random_tensor("x", Layout::rows, {6, 7, 21}, storage),
                   random_tensor("r", Layout::rows, {1, 1, 21}, storage)};
  const HostTensor& x = made.operands[0];
  const auto result = [&](const Shape& shape) {
    return make_tensor("y", Layout::rows, shape, storage);
  };
  HostTensor y = result(name == "move"    ? Shape{7, 21, 6}
                        : name == "place" ? Shape{9, 7, 21}
                                          : Shape{6, 7, 21});
  Epilogue relu;
  relu.activation = Activation::relu;
  made.launch = name == "unary" ? build_unary(x.plan, y.plan, relu)
                : name == "binary"
                    ? build_binary(x.plan, made.operands[1].plan, y.plan, BinaryOperator::add, {})
                : name == "move" ? build_move(x.plan, y.plan, {21, 1, 147})
                                 : build_place(x.plan, y.plan, 0, 2);
  made.operands.push_back(y);
  return made;
}

inline StreamingCase gather_case(const Storage& storage) {
  StreamingCase made{"gather", {}, {}};
  made.operands = {random_tensor("x", Layout::rows, {30, 21}, storage),
                   make_tensor("at", Layout::linear, {11}, {DataType::i32, Placement::buffer}),
                   make_tensor("y", Layout::rows, {11, 21}, storage)};
  for (std::size_t i = 0; i < 11; ++i) made.operands[1].values[i] = static_cast<float>(7 * i % 30);
  made.launch =
      build_gather(made.operands[0].plan, made.operands[1].plan, made.operands[2].plan, 0);
  return made;
}

inline std::vector<StreamingCase> streaming_cases(const Storage& storage) {
  std::vector<StreamingCase> cases = {
      matmul_case(storage, false, false), matmul_case(storage, true, false),
      matmul_case(storage, false, true), attention_case(storage, {}),
      attention_case(storage, KeyBand{5, 60})};
  for (const char* name : {"conv", "pointwise", "depthwise", "transposed"}) {
    cases.push_back(convolution_case(storage, name));
  }
  for (StreamingCase& one : std::vector<StreamingCase>{matmul_case(storage, false, false),
                                                       matmul_case(storage, true, false),
                                                       convolution_case(storage, "pointwise")}) {
    one.name += " wide";
    one.launch = with_tile(one.launch, {4, 2, 8, {1, 1, 1}});
    cases.push_back(one);
  }
  StreamingCase blocks = matmul_case(storage, false, false);
  blocks.name += " in blocks";
  blocks.launch = with_tile(blocks.launch, {4, 2, 8, {1, 2, 1}, 2});
  cases.push_back(blocks);
  cases.push_back(pool_case(storage));
  cases.push_back(resize_case(storage));
  for (const char* name : {"unary", "binary", "move", "place"}) {
    cases.push_back(row_case(storage, name));
  }
  cases.push_back(gather_case(storage));
  return cases;
}

}  // namespace fm::test
