#pragma once
// A slow and plain interpreter of the graph IR, before and after the passes: the oracle that says
// whether a pass kept what the graph computes. Everything in double, straight from the operators'
// definitions.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "planner/node_attributes.hpp"
#include "planner/onnx_import.hpp"
#include "planner/tensor_view.hpp"

namespace fm {

class GraphInterpreter {
 public:
  using Values = std::vector<double>;

  /// `normalised`: the passes ran, so Gemm and ConvTranspose weights are in the planner's form.
  GraphInterpreter(const Graph& graph, const ConstantStore& constants, bool normalised)
      : graph_(graph), normalised_(normalised), values_(graph.tensors.size()) {
    for (TensorIndex i = 0; i < graph.tensors.size(); ++i) {
      if (!graph.tensors[i].constant || !wanted(i)) continue;
      const HostTensor loaded = constants.load(graph.tensors[i]);
      values_[i] = loaded.is_real() ? Values(loaded.reals.begin(), loaded.reals.end())
                                    : Values(loaded.integers.begin(), loaded.integers.end());
    }
  }

  /// Outputs for inputs drawn from `seed`, in [-1, 1); integers below 1000.
  std::vector<Values> run(unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> distribution(-1, 1);
    for (TensorIndex input : graph_.inputs) {
      values_[input].resize(size(input));
      const bool indices = !is_real(graph_.tensors[input].type);
      for (double& value : values_[input]) {
        value = indices ? static_cast<double>(generator() % 1000) : distribution(generator);
      }
    }
    for (const GraphNode& node : graph_.nodes) compute(node);
    std::vector<Values> outputs;
    for (TensorIndex output : graph_.outputs) outputs.push_back(values_[output]);
    return outputs;
  }

 private:
  bool wanted(TensorIndex tensor) const {
    for (const GraphNode& node : graph_.nodes) {
      for (const auto& input : node.inputs) {
        if (input == tensor) return true;
      }
    }
    return false;
  }
  const Shape& shape(TensorIndex tensor) const { return graph_.tensors[tensor].shape; }
  std::size_t size(TensorIndex tensor) const {
    return static_cast<std::size_t>(element_count(shape(tensor)));
  }
  const Values& in(const GraphNode& node, std::size_t i) const {
    return values_[node.inputs[i].value()];
  }
  bool has(const GraphNode& node, std::size_t i) const {
    return i < node.inputs.size() && node.inputs[i].has_value();
  }
  Values wide(const GraphNode& node, std::size_t i, const Shape& to) const {
    const TensorIndex tensor = node.inputs[i].value();
    return gathered(expanded(whole_view(shape(tensor)), to), values_[tensor]);
  }

  static double activation(const std::string& word, double alpha, double beta, double x) {
    if (word == "none") return x;
    if (word == "relu") return std::max(x, 0.0);
    if (word == "gelu_erf") return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    if (word == "gelu_tanh") {
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    }
    if (word == "sigmoid") return 1 / (1 + std::exp(-x));
    if (word == "hard_sigmoid") return std::clamp(alpha * x + beta, 0.0, 1.0);
    if (word == "hard_swish") return x * std::clamp(alpha * x + beta, 0.0, 1.0);
    if (word == "clip") return std::clamp(x, alpha, beta);
    if (word == "tanh") return std::tanh(x);
    if (word == "sqrt") return std::sqrt(x);
    if (word == "erf") return std::erf(x);
    if (word == "silu") return x / (1 + std::exp(-x));
    throw std::logic_error("interpreter: activation " + word);
  }

  double epilogue(const GraphNode& node, double value, double residual) const {
    const auto act = [&](double x) {
      return activation(attribute_word(node, "activation", "none"),
                        attribute_float(node, "activation_alpha", 0),
                        attribute_float(node, "activation_beta", 0), x);
    };
    return attribute_int(node, "activation_after_residual", 0) != 0 ? act(value + residual)
                                                                    : act(value) + residual;
  }

  void compute(const GraphNode& node) {
    Values& y = values_[node.outputs[0]];
    const std::string& op = node.operation;
    y.assign(size(node.outputs[0]), 0.0);
    if (op == "Conv") return convolution(node, y);
    if (op == "ConvTranspose") return transposed_convolution(node, y);
    if (op == "MatMul" || op == "Gemm") return product(node, y);
    if (op == "Softmax") return softmax(node, y);
    if (op == "Attention") return attention(node, y);
    if (op == "LayerNormalization") return layer_norm(node, y);
    if (op == "BatchNormalization") return batch_norm(node, y);
    if (op == "ReduceMean") return reduce_mean(node, y);
    if (op == "Reshape" || op == "Identity" || op == "Cast") {
      y = in(node, 0);
    } else if (op == "Transpose") {
      y = gathered(transposed(whole_view(shape(*node.inputs[0])), attribute_ints(node, "perm")),
                   in(node, 0));
    } else if (op == "Slice") {
      y = gathered(sliced(whole_view(shape(*node.inputs[0])), attribute_ints(node, "starts"),
                          attribute_ints(node, "steps"), shape(node.outputs[0])),
                   in(node, 0));
    } else if (op == "Gather") {
      take_rows(in(node, 0), shape(*node.inputs[0]).back(), in(node, 1), y);
    } else if (op == "GatherRows") {
      take_rows(in(node, 1), shape(*node.inputs[1]).back(), in(node, 0), y);
    } else if (op == "Where") {
      const Shape& to = shape(node.outputs[0]);
      const Values condition = wide(node, 0, to), a = wide(node, 1, to), b = wide(node, 2, to);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
    } else if (op == "Pad") {
      pad(node, y);
    } else if (node.inputs.size() == 2) {
      binary(node, y);
    } else {
      unary(node, y);
    }
  }

  void unary(const GraphNode& node, Values& y) const {
    static const std::map<std::string, std::string> words = {
        {"Relu", "relu"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Silu", "silu"}};
    const std::string& op = node.operation;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double x = in(node, 0)[i];
      const double alpha = attribute_float(node, "alpha", 0.2f),
                   beta = attribute_float(node, "beta", 0.5f);
      if (words.count(op) != 0) {
        y[i] = activation(words.at(op), 0, 0, x);
      } else if (op == "Erf") {
        y[i] = std::erf(x);
      } else if (op == "Sqrt") {
        y[i] = std::sqrt(x);
      } else if (op == "Gelu") {
        y[i] = activation(
            attribute_word(node, "approximate", "") == "tanh" ? "gelu_tanh" : "gelu_erf", 0, 0, x);
      } else if (op == "Clip") {
        y[i] =
            std::clamp<double>(x, attribute_float(node, "min", 0), attribute_float(node, "max", 0));
      } else if (op == "HardSigmoid") {
        y[i] = activation("hard_sigmoid", alpha, beta, x);
      } else if (op == "HardSwish") {
        y[i] = activation("hard_swish", attribute_float(node, "alpha", 1.0f / 6), beta, x);
      } else {
        throw std::logic_error("interpreter: " + op);
      }
    }
  }

  void binary(const GraphNode& node, Values& y) const {
    const Values a = wide(node, 0, shape(node.outputs[0])),
                 b = wide(node, 1, shape(node.outputs[0]));
    const std::map<std::string, std::function<double(double, double)>> operators = {
        {"Add", [](double p, double q) { return p + q; }},
        {"Sub", [](double p, double q) { return p - q; }},
        {"Mul", [](double p, double q) { return p * q; }},
        {"Div", [](double p, double q) { return p / q; }},
        {"Pow", [](double p, double q) { return std::pow(p, q); }}};
    const auto& apply = operators.at(node.operation);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = epilogue(node, apply(a[i], b[i]), 0);
  }

  void finish(const GraphNode& node, std::size_t i, std::size_t channel, double sum,
              Values& y) const {
    if (has(node, 2)) sum += in(node, 2)[in(node, 2).size() == 1 ? 0 : channel];
    y[i] = epilogue(node, sum, has(node, 3) ? in(node, 3)[i] : 0);
  }

  void convolution(const GraphNode& node, Values& y) const {
    const Shape &xs = shape(*node.inputs[0]), &ws = shape(*node.inputs[1]),
                &ys = shape(node.outputs[0]);
    const auto stride = attribute_ints(node, "strides"), pads = attribute_ints(node, "pads");
    const auto dilation = attribute_ints(node, "dilations");
    const std::int64_t groups = attribute_int(node, "group", 1);
    std::size_t i = 0;
    for (std::int64_t n = 0; n < ys[0]; ++n)
      for (std::int64_t o = 0; o < ys[1]; ++o)
        for (std::int64_t h = 0; h < ys[2]; ++h)
          for (std::int64_t w = 0; w < ys[3]; ++w, ++i) {
            double sum = 0;
            for (std::int64_t c = 0; c < ws[1]; ++c)
              for (std::int64_t kh = 0; kh < ws[2]; ++kh)
                for (std::int64_t kw = 0; kw < ws[3]; ++kw) {
                  const std::int64_t row = h * stride[0] - pads[0] + kh * dilation[0];
                  const std::int64_t column = w * stride[1] - pads[1] + kw * dilation[1];
                  if (row < 0 || column < 0 || row >= xs[2] || column >= xs[3]) continue;
                  const std::int64_t channel = o / (ys[1] / groups) * ws[1] + c;
                  sum += in(node, 0)[index(xs, n, channel, row, column)] *
                         in(node, 1)[index(ws, o, c, kh, kw)];
                }
            finish(node, i, static_cast<std::size_t>(o), sum, y);
          }
  }

  static std::size_t index(const Shape& s, std::int64_t a, std::int64_t b, std::int64_t c,
                           std::int64_t d) {
    return static_cast<std::size_t>(((a * s[1] + b) * s[2] + c) * s[3] + d);
  }

  void transposed_convolution(const GraphNode& node, Values& y) const {
    const Shape &xs = shape(*node.inputs[0]), &ws = shape(*node.inputs[1]),
                &ys = shape(node.outputs[0]);
    const auto stride = attribute_ints(node, "strides"), pads = attribute_ints(node, "pads");
    Values sums(y.size(), 0.0);
    for (std::int64_t c = 0; c < xs[1]; ++c)
      for (std::int64_t h = 0; h < xs[2]; ++h)
        for (std::int64_t w = 0; w < xs[3]; ++w)
          for (std::int64_t o = 0; o < ys[1]; ++o)
            for (std::int64_t kh = 0; kh < ws[2]; ++kh)
              for (std::int64_t kw = 0; kw < ws[3]; ++kw) {
                const std::int64_t row = h * stride[0] + kh - pads[0];
                const std::int64_t column = w * stride[1] + kw - pads[1];
                if (row < 0 || column < 0 || row >= ys[2] || column >= ys[3]) continue;
                const double weight = normalised_ ? in(node, 1)[index(ws, o, c, kh, kw)]
                                                  : in(node, 1)[index(ws, c, o, kh, kw)];
                sums[index(ys, 0, o, row, column)] += in(node, 0)[index(xs, 0, c, h, w)] * weight;
              }
    const std::size_t plane = static_cast<std::size_t>(ys[2] * ys[3]);
    for (std::size_t i = 0; i < y.size(); ++i) finish(node, i, i / plane, sums[i], y);
  }

  static void take_rows(const Values& table, std::int64_t columns, const Values& rows, Values& y) {
    const auto width = static_cast<std::size_t>(columns);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = table[static_cast<std::size_t>(rows[i / width]) * width + i % width];
    }
  }

  void product(const GraphNode& node, Values& y) const {
    Shape as = shape(*node.inputs[0]), bs = shape(*node.inputs[1]);
    TensorView av = whole_view(as), bv = whole_view(bs);
    const bool raw_gemm = node.operation == "Gemm" && !normalised_;
    if (raw_gemm && attribute_int(node, "transA", 0) != 0) av = transposed(av, {1, 0});
    if (raw_gemm && attribute_int(node, "transB", 0) != 0) bv = transposed(bv, {1, 0});
    if (attribute_int(node, "b_transposed", 0) != 0) bv = transposed(bv, {1, 0});
    const Shape& ys = shape(node.outputs[0]);
    Shape batch(ys.begin(), ys.end() - 2);
    const std::int64_t rows = ys[ys.size() - 2], columns = ys.back(), depth = av.shape.back();
    const auto wide_matrix = [&](const TensorView& view, std::size_t i) {
      Shape to = batch;
      to.insert(to.end(), view.shape.end() - 2, view.shape.end());
      return gathered(expanded(view, to), in(node, i));
    };
    const Values a = wide_matrix(av, 0), b = wide_matrix(bv, 1);
    const double scale =
        raw_gemm ? attribute_float(node, "alpha", 1) : attribute_float(node, "scale", 1);
    Values addend(y.size(), 0.0);
    if (has(node, 2) && raw_gemm) addend = wide(node, 2, ys);
    std::size_t i = 0;
    for (std::int64_t n = 0; n < element_count(batch); ++n)
      for (std::int64_t m = 0; m < rows; ++m)
        for (std::int64_t c = 0; c < columns; ++c, ++i) {
          double sum = 0;
          for (std::int64_t k = 0; k < depth; ++k) {
            sum += a[static_cast<std::size_t>((n * rows + m) * depth + k)] *
                   b[static_cast<std::size_t>((n * depth + k) * columns + c)];
          }
          if (raw_gemm) {
            y[i] = scale * sum + attribute_float(node, "beta", 1) * addend[i];
          } else {
            finish(node, i, static_cast<std::size_t>(c), scale * sum, y);
          }
        }
  }

  void softmax(const GraphNode& node, Values& y) const {
    const Shape& s = shape(node.outputs[0]);
    const auto row = static_cast<std::size_t>(s.back());
    Values mask(y.size(), 0.0);
    if (has(node, 1)) mask = wide(node, 1, s);
    for (std::size_t begin = 0; begin < y.size(); begin += row) {
      double largest = -1e300, total = 0;
      for (std::size_t i = begin; i < begin + row; ++i) {
        y[i] = attribute_float(node, "scale", 1) * in(node, 0)[i] + mask[i];
        largest = std::max(largest, y[i]);
      }
      for (std::size_t i = begin; i < begin + row; ++i) total += y[i] = std::exp(y[i] - largest);
      for (std::size_t i = begin; i < begin + row; ++i) y[i] /= total;
    }
  }

  /// Inputs: queries [.., Q, D], keys [.., D, K], values [.., K, V], perhaps a mask.
  void attention(const GraphNode& node, Values& y) const {
    const Shape& query = shape(*node.inputs[0]);
    const Shape& value = shape(*node.inputs[2]);
    const std::int64_t rows = query.end()[-2], depth = query.back();
    const std::int64_t keys = value.end()[-2], columns = value.back();
    Shape scores = query;
    scores.back() = keys;
    const Values mask = has(node, 3) ? wide(node, 3, scores)
                                     : Values(static_cast<std::size_t>(element_count(scores)), 0.0);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t row = 0; row < element_count(scores) / keys; ++row) {
      const std::int64_t batch = row / rows;
      std::vector<double> weights;
      double total = 0;
      for (std::int64_t k = 0; k < keys; ++k) {
        double score = 0;
        for (std::int64_t d = 0; d < depth; ++d) {
          score +=
              in(node, 0)[at(row * depth + d)] * in(node, 1)[at((batch * depth + d) * keys + k)];
        }
        score = score * attribute_float(node, "scale", 1) + mask[at(row * keys + k)];
        weights.push_back(std::exp(score));  // inputs in [-1, 1): no overflow
        total += weights.back();
      }
      for (std::int64_t c = 0; c < columns; ++c) {
        for (std::int64_t k = 0; k < keys; ++k) {
          y[at(row * columns + c)] +=
              weights[at(k)] / total * in(node, 2)[at((batch * keys + k) * columns + c)];
        }
      }
    }
  }

  void layer_norm(const GraphNode& node, Values& y) const {
    const Shape& s = shape(node.outputs[0]);
    const auto axis = static_cast<std::ptrdiff_t>(attribute_int(node, "axis", -1));
    const auto row = static_cast<std::size_t>(element_count({s.begin() + axis, s.end()}));
    for (std::size_t begin = 0; begin < y.size(); begin += row) {
      double mean = 0, variance = 0;
      for (std::size_t k = 0; k < row; ++k)
        mean += in(node, 0)[begin + k] / static_cast<double>(row);
      for (std::size_t k = 0; k < row; ++k) {
        variance += std::pow(in(node, 0)[begin + k] - mean, 2) / static_cast<double>(row);
      }
      for (std::size_t k = 0; k < row; ++k) {
        const double unit = (in(node, 0)[begin + k] - mean) /
                            std::sqrt(variance + attribute_float(node, "epsilon", 1e-5f));
        y[begin + k] = unit * in(node, 1)[k] + (has(node, 2) ? in(node, 2)[k] : 0);
      }
    }
  }

  void batch_norm(const GraphNode& node, Values& y) const {
    const Shape& s = shape(node.outputs[0]);
    const auto channels = static_cast<std::size_t>(s[1]);
    const auto inner = static_cast<std::size_t>(element_count({s.begin() + 2, s.end()}));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t c = i / inner % channels;
      y[i] = (in(node, 0)[i] - in(node, 3)[c]) /
                 std::sqrt(in(node, 4)[c] + attribute_float(node, "epsilon", 1e-5f)) *
                 in(node, 1)[c] +
             in(node, 2)[c];
    }
  }

  void reduce_mean(const GraphNode& node, Values& y) const {
    const auto row = static_cast<std::size_t>(shape(*node.inputs[0]).back());
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t k = 0; k < row; ++k)
        y[i] += in(node, 0)[i * row + k] / static_cast<double>(row);
    }
  }

  void pad(const GraphNode& node, Values& y) const {
    const Shape &xs = shape(*node.inputs[0]), &ys = shape(node.outputs[0]);
    const auto pads = attribute_ints(node, "pads");
    y.assign(y.size(), attribute_float(node, "value", 0));
    TensorView view = whole_view(ys);
    view.shape = xs;
    for (std::size_t d = 0; d < xs.size(); ++d) view.offset += pads[d] * view.strides[d];
    Values positions(y.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i);
    const Values targets = gathered(view, positions);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      y[static_cast<std::size_t>(targets[i])] = in(node, 0)[i];
    }
  }

  const Graph& graph_;
  bool normalised_;
  std::vector<Values> values_;
};

}  // namespace fm
