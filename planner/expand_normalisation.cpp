// Normalisations written out in elementwise operators and reductions.
#include <numeric>

#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

using Attributes = Expansion::Attributes;
using Ints = Expansion::Ints;

/// [C, 1, ..] to go with [N, C, ..].
TensorIndex by_channel(Expansion& e, TensorIndex values, std::size_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = element_count(e.shape(values));
  return e.reshape(values, shape);
}

struct Moments {
  TensorIndex mean, centred, variance;
};
Moments moments(Expansion& e, TensorIndex x, const Ints& axes) {
  const Attributes along = {{"axes", axes}, {"keepdims", std::int64_t{1}}};
  const TensorIndex mean = e.add("ReduceMean", {x}, along);
  const TensorIndex centred = e.add("Sub", {x, mean});
  return {mean, centred, e.add("ReduceMean", {e.add("Mul", {centred, centred})}, along)};
}

TensorIndex one_over_deviation(Expansion& e, TensorIndex variance) {
  const TensorIndex epsilon = e.number(attribute_float(e.node, "epsilon", 1e-5f));
  return e.add("Reciprocal", {e.add("Sqrt", {e.add("Add", {variance, epsilon})})});
}

Ints all_but_channels(std::size_t rank) {
  Ints axes;
  for (std::size_t d = 0; d < rank; ++d) {
    if (d != 1) axes.push_back(static_cast<std::int64_t>(d));
  }
  return axes;
}

/// new = old * momentum + batch * (1 - momentum)
void give_running(Expansion& e, std::size_t output, std::size_t slot, TensorIndex batch) {
  if (!e.wants(output)) return;
  const double momentum = attribute_float(e.node, "momentum", 0.9f);
  const TensorIndex old = e.add("Mul", {e.input(slot), e.number(momentum)});
  const TensorIndex flat = e.reshape(batch, e.shape(e.input(slot)));
  e.give(output, "Add", {old, e.add("Mul", {flat, e.number(1 - momentum)})});
}

/// Statistics or parameters that are computed; constant ones are folded later.
bool expand_batch_norm(Expansion& e) {
  const bool training = attribute_int(e.node, "training_mode", 0) != 0;
  bool constant = !training;
  for (std::size_t i = 1; i < 5; ++i) constant = constant && e.is_constant(e.input(i));
  if (constant) return false;
  const TensorIndex x = e.input(0);
  const std::size_t rank = e.shape(x).size();
  if (rank < 2) e.context().refuse("its input has no channels");
  TensorIndex mean = by_channel(e, e.input(3), rank), variance = by_channel(e, e.input(4), rank);
  TensorIndex centred = 0;
  if (training) {
    const Moments own = moments(e, x, all_but_channels(rank));
    mean = own.mean;
    centred = own.centred;
    variance = own.variance;
    give_running(e, 1, 3, mean);
    give_running(e, 2, 4, variance);
  } else {
    centred = e.add("Sub", {x, mean});
  }
  const TensorIndex factor =
      e.add("Mul", {by_channel(e, e.input(1), rank), one_over_deviation(e, variance)});
  e.give(0, "Add", {e.add("Mul", {centred, factor}), by_channel(e, e.input(2), rank)});
  return true;
}

bool expand_instance_norm(Expansion& e) {
  const TensorIndex x = e.input(0);
  const std::size_t rank = e.shape(x).size();
  if (rank < 3) e.context().refuse("its input has no dimensions behind the channels");
  Ints axes(rank - 2);
  std::iota(axes.begin(), axes.end(), std::int64_t{2});
  const Moments own = moments(e, x, axes);
  const TensorIndex normal = e.add("Mul", {own.centred, one_over_deviation(e, own.variance)});
  e.give(
      0, "Add",
      {e.add("Mul", {normal, by_channel(e, e.input(1), rank)}), by_channel(e, e.input(2), rank)});
  return true;
}

/// With mean or deviation as outputs, or computed scale and shift of several dimensions.
bool expand_layer_norm(Expansion& e) {
  if (!e.wants(1) && !e.wants(2)) return false;
  const TensorIndex x = e.input(0);
  const auto rank = static_cast<std::int64_t>(e.shape(x).size());
  const std::int64_t axis = e.context().axis(attribute_int(e.node, "axis", -1), rank);
  Ints axes(static_cast<std::size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  const Moments own = moments(e, x, axes);
  const TensorIndex deviation = one_over_deviation(e, own.variance);
  TensorIndex value = e.add("Mul", {e.add("Mul", {own.centred, deviation}), e.input(1)});
  if (e.has(2)) value = e.add("Add", {value, e.input(2)});
  e.give(0, value);
  e.give(1, own.mean);
  e.give(2, deviation);
  return true;
}

bool expand_mean_variance(Expansion& e) {
  const TensorIndex x = e.input(0);
  const Moments own = moments(e, x, attribute_ints(e.node, "axes", {0, 2, 3}));
  const TensorIndex deviation = e.add("Sqrt", {own.variance});
  e.give(0, "Div", {own.centred, e.add("Add", {deviation, e.number(1e-9)})});
  return true;
}

bool expand_lp_norm(Expansion& e) {
  const Attributes along = {{"axes", Ints{attribute_int(e.node, "axis", -1)}},
                            {"keepdims", std::int64_t{1}}};
  const bool absolute = attribute_int(e.node, "p", 2) == 1;
  const TensorIndex norm = absolute ? e.add("ReduceSum", {e.add("Abs", {e.input(0)})}, along)
                                    : e.add("ReduceL2", {e.input(0)}, along);
  e.give(0, "Div", {e.input(0), norm});
  return true;
}

/// x / (bias + alpha * mean of squares over neighbouring channels) ^ beta: an average pool along
/// the channels, whose padding counts.
bool expand_local_response(Expansion& e) {
  const TensorIndex x = e.input(0);
  const Shape shape = e.shape(x);
  if (shape.size() < 3) e.context().refuse("its input has no dimensions behind the channels");
  const std::int64_t size = attribute_int(e.node, "size", 1);
  const std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  const Shape lines = {shape[0], 1, shape[1], element_count(shape) / (shape[0] * shape[1])};
  const TensorIndex squares = e.reshape(e.add("Mul", {x, x}), lines);
  const TensorIndex means = e.add("AveragePool", {squares},
                                  {{"kernel_shape", Ints{size, 1}},
                                   {"pads", Ints{before, 0, after, 0}},
                                   {"count_include_pad", std::int64_t{1}}});
  const TensorIndex scaled =
      e.add("Mul", {e.reshape(means, shape), e.number(attribute_float(e.node, "alpha", 1e-4f))});
  const TensorIndex base = e.add("Add", {scaled, e.number(attribute_float(e.node, "bias", 1))});
  e.give(0, "Div", {x, e.add("Pow", {base, e.number(attribute_float(e.node, "beta", 0.75f))})});
  return true;
}

}  // namespace

void add_normalisation_expanders(ExpanderTable* table) {
  (*table)["BatchNormalization"] = expand_batch_norm;
  (*table)["InstanceNormalization"] = expand_instance_norm;
  (*table)["LayerNormalization"] = expand_layer_norm;
  (*table)["MeanVarianceNormalization"] = expand_mean_variance;
  (*table)["LpNormalization"] = expand_lp_norm;
  (*table)["LRN"] = expand_local_response;
}

}  // namespace fm
