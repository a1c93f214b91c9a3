// y = s * conv(x) + t with constant s and t of one value a channel becomes another convolution.
#include <cmath>

#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

/// One value an output channel, computed when packed.
using ChannelValues = std::function<std::vector<double>(const ConstantStore&)>;

struct Affine {
  ChannelValues scale;  ///< empty: 1
  ChannelValues shift;  ///< empty: 0
};

/// The convolution that alone feeds `value` and has no epilogue yet.
std::optional<NodeIndex> open_convolution(GraphEditor* editor, std::optional<TensorIndex> value) {
  auto node = editor->producer(value, "Conv");
  if (!node) node = editor->producer(value, "ConvTranspose");
  if (!node || !editor->sole_reader(*value)) return std::nullopt;
  const auto& inputs = editor->node(*node).inputs;
  if (!editor->is_constant(inputs[1])) return std::nullopt;
  if (inputs.size() > 2 && inputs[2] && !editor->is_constant(inputs[2])) return std::nullopt;
  return node;
}

TensorIndex scaled_filter(GraphEditor* editor, TensorIndex filter, ChannelValues scale) {
  const GraphTensor source = editor->tensor(filter);
  return editor->add_recipe(
      source.name + ".folded", source.shape, [source, scale](const ConstantStore& constants) {
        HostTensor values = constants.load(source);
        const std::vector<double> factors = scale(constants);
        const std::size_t block = values.reals.size() / factors.size();
        for (std::size_t i = 0; i < values.reals.size(); ++i) {
          values.reals[i] = static_cast<float>(values.reals[i] * factors[i / block]);
        }
        return values;
      });
}

TensorIndex folded_bias(GraphEditor* editor, const std::string& name, std::int64_t channels,
                        std::optional<GraphTensor> bias, Affine affine) {
  const Shape shape = {channels};
  return editor->add_recipe(name, shape, [shape, bias, affine](const ConstantStore& constants) {
    const auto count = static_cast<std::size_t>(shape[0]);
    std::vector<float> before(count, 0.0f);
    if (bias) before = constants.load(*bias).reals;
    const std::vector<double> scale =
        affine.scale ? affine.scale(constants) : std::vector<double>(count, 1.0);
    const std::vector<double> shift =
        affine.shift ? affine.shift(constants) : std::vector<double>(count, 0.0);
    std::vector<float> after;
    for (std::size_t c = 0; c < count; ++c) {
      after.push_back(static_cast<float>(before[c] * scale[c] + shift[c]));
    }
    return real_tensor(shape, std::move(after));
  });
}

void fold_into(GraphEditor* editor, NodeIndex convolution, NodeIndex at, const Affine& affine) {
  GraphNode fused = editor->node(convolution);
  const TensorIndex filter = fused.inputs[1].value();
  const std::int64_t channels = editor->shape(fused.outputs[0])[1];
  fused.outputs.clear();
  if (affine.scale) fused.inputs[1] = scaled_filter(editor, filter, affine.scale);
  const bool has_bias = fused.inputs.size() > 2 && fused.inputs[2];
  if (has_bias || affine.shift) {
    const std::string name =
        (has_bias ? editor->tensor(*fused.inputs[2]).name : editor->tensor(filter).name + ".bias") +
        ".folded";
    std::optional<GraphTensor> bias;
    if (has_bias) bias = editor->tensor(*fused.inputs[2]);
    fused.inputs.resize(3);
    fused.inputs[2] = folded_bias(editor, name, channels, bias, affine);
  }
  editor->fuse({convolution}, at, std::move(fused));
}

/// A constant of one element, or of one a channel of [N, C, H, W]; as `channels` values under
/// `map`.
ChannelValues channel_values(GraphEditor* editor, std::optional<TensorIndex> constant,
                             std::int64_t channels, double (*map)(double)) {
  if (!editor->is_constant(constant)) return nullptr;
  const GraphTensor tensor = editor->tensor(*constant);
  Shape shape = tensor.shape;
  if (shape.size() > 4) return nullptr;
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  const bool one = element_count(shape) == 1;
  if (!one && shape != Shape{1, channels, 1, 1}) return nullptr;
  return [tensor, channels, one, map](const ConstantStore& constants) {
    const std::vector<float> values = constants.load(tensor).reals;
    std::vector<double> result;
    for (std::int64_t c = 0; c < channels; ++c) {
      result.push_back(map(values[one ? 0 : static_cast<std::size_t>(c)]));
    }
    return result;
  };
}

Affine affine_of(GraphEditor* editor, const GraphNode& node, std::size_t constant_side,
                 std::int64_t channels) {
  const auto constant = node.inputs[constant_side];
  const auto same = [](double v) { return v; };
  if (node.operation == "Mul") return {channel_values(editor, constant, channels, same), nullptr};
  if (node.operation == "Add") return {nullptr, channel_values(editor, constant, channels, same)};
  if (constant_side == 0) return {};
  if (node.operation == "Div") {
    return {channel_values(editor, constant, channels, [](double v) { return 1 / v; }), nullptr};
  }
  if (node.operation == "Sub") {
    return {nullptr, channel_values(editor, constant, channels, [](double v) { return -v; })};
  }
  return {};
}

/// s = scale / sqrt(variance + epsilon), t = shift - mean * s (Ioffe and Szegedy 2015).
Affine batch_norm_of(GraphEditor* editor, const GraphNode& node) {
  std::vector<GraphTensor> parameters;
  for (std::size_t i = 1; i < 5; ++i) parameters.push_back(editor->tensor(node.inputs[i].value()));
  const double epsilon = attribute_float(node, "epsilon", 1e-5f);
  const ChannelValues scale = [parameters, epsilon](const ConstantStore& constants) {
    const std::vector<float> gamma = constants.load(parameters[0]).reals;
    const std::vector<float> variance = constants.load(parameters[3]).reals;
    std::vector<double> result;
    for (std::size_t c = 0; c < gamma.size(); ++c) {
      result.push_back(gamma[c] / std::sqrt(variance[c] + epsilon));
    }
    return result;
  };
  const ChannelValues shift = [parameters, scale](const ConstantStore& constants) {
    const std::vector<float> beta = constants.load(parameters[1]).reals;
    const std::vector<float> mean = constants.load(parameters[2]).reals;
    std::vector<double> result = scale(constants);
    for (std::size_t c = 0; c < beta.size(); ++c) result[c] = beta[c] - mean[c] * result[c];
    return result;
  };
  return {scale, shift};
}

TensorIndex channel_constant(GraphEditor* editor, const std::string& name, const Shape& shape,
                             const ChannelValues& values) {
  return editor->add_recipe(name, shape, [shape, values](const ConstantStore& constants) {
    const std::vector<double> computed = values(constants);
    return real_tensor(shape, std::vector<float>(computed.begin(), computed.end()));
  });
}

/// A batch norm with no convolution before it: Mul and Add by constants [C, 1, ..].
void expand_batch_norm(GraphEditor* editor, NodeIndex* at, const Affine& affine) {
  const GraphNode node = editor->node(*at);
  const TensorIndex input = node.inputs[0].value();
  const Shape& shape = editor->shape(input);
  Shape channel_shape(shape.size() - 1, 1);
  channel_shape[0] = shape[1];
  const TensorIndex scale =
      channel_constant(editor, node.name + ".scale", channel_shape, affine.scale);
  const TensorIndex shift =
      channel_constant(editor, node.name + ".shift", channel_shape, affine.shift);
  const TensorIndex scaled = editor->add_tensor(node.name + ".scaled", editor->shape(input));
  editor->insert(*at, {node.name, "Mul", {input, scale}, {scaled}, {}, node.fused_from});
  ++*at;
  editor->fuse({}, *at, {node.name, "Add", {scaled, shift}, {}, {}, {}});
}

}  // namespace

void fold_batch_norm(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation != "BatchNormalization") continue;
    const auto& inputs = editor->node(i).inputs;
    bool constant = true;
    for (std::size_t p = 1; p < 5; ++p) constant = constant && editor->is_constant(inputs[p]);
    if (!constant) continue;  // lowering refuses it
    const Affine affine = batch_norm_of(editor, editor->node(i));
    if (const auto convolution = open_convolution(editor, inputs[0])) {
      fold_into(editor, *convolution, i, affine);
    } else {
      expand_batch_norm(editor, &i, affine);
    }
  }
  editor->finish();
}

void fold_affine(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    const GraphNode& node = editor->node(i);
    if (node.inputs.size() != 2) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto convolution = open_convolution(editor, node.inputs[side]);
      if (!convolution) continue;
      const Shape& shape = editor->shape(*node.inputs[side]);
      if (editor->shape(node.outputs[0]) != shape) continue;
      const Affine affine = affine_of(editor, node, 1 - side, shape[1]);
      if (!affine.scale && !affine.shift) continue;
      fold_into(editor, *convolution, i, affine);
      break;
    }
  }
  editor->finish();
}

}  // namespace fm
