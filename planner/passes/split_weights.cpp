// Weights too large for one image of the device: parts of the output channels, each an operator of
// its own.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

struct Split {
  Layout layout = Layout::rows;
  std::size_t weight_axis = 0;  ///< output channels in the weight
  std::size_t output_axis = 0;  ///< and in the operator's result
};

std::optional<Split> split_of(const Graph& graph, const GraphNode& node) {
  const auto weight = node.inputs.size() > 1 ? node.inputs[1] : std::nullopt;
  if (!weight || !graph.tensors[*weight].constant) return std::nullopt;
  const Shape& shape = graph.tensors[*weight].shape;
  const std::size_t rank = graph.tensors[node.outputs[0]].shape.size();
  if (node.operation == "Conv" && attribute_int(node, "group", 1) != 1) {
    return Split{Layout::depthwise_filter, 0, 1};
  }
  if (node.operation == "Conv" || node.operation == "ConvTranspose") {
    return Split{Layout::conv_filter, 0, 1};
  }
  if ((node.operation == "MatMul" || node.operation == "Gemm") && shape.size() == 2) {
    return Split{Layout::rows, 1, rank - 1};
  }
  return std::nullopt;
}

std::string part_name(const std::string& name, std::int64_t begin, std::int64_t end,
                      std::size_t axis) {
  return name + "[" + std::to_string(begin) + ":" + std::to_string(end) + "]/" +
         std::to_string(axis);
}

/// The largest multiple of 4 output channels whose weight fits an image.
std::int64_t largest_part(const PlacementRule& placement, const Split& split, Shape shape,
                          const GraphNode& node, const std::string& weight) {
  const Shape whole = shape;
  std::int64_t part = whole[split.weight_axis] / 4 * 4;
  for (; part >= 4; part -= 4) {
    shape[split.weight_axis] = part;
    if (!placement.needs_split(split.layout, shape)) return part;
  }
  throw UserError("node `" + node.name + "` (" + node.operation + "): weight `" + weight +
                  "` of shape " + to_string(whole) + " makes an image too large for the device (" +
                  std::to_string(placement.limits().width) + " x " +
                  std::to_string(placement.limits().height) +
                  " texels), even when split by output channels; use --placement buffer or auto");
}

class WeightSplitter {
 public:
  explicit WeightSplitter(Graph* graph) : graph_(graph) {}

  void split(const GraphNode& node, const Split& how, std::int64_t part) {
    const std::int64_t total = graph_->tensors[*node.inputs[1]].shape[how.weight_axis];
    GraphNode concat{node.name, "Concat", {}, node.outputs, {}, node.fused_from};
    concat.attributes["axis"] = static_cast<std::int64_t>(how.output_axis);
    for (std::int64_t begin = 0; begin < total; begin += part) {
      const std::int64_t end = std::min(total, begin + part);
      GraphNode piece = node;
      piece.inputs[1] = constant_part(*node.inputs[1], how.weight_axis, begin, end);
      if (node.inputs.size() > 2 && node.inputs[2]) {
        const TensorIndex bias = *node.inputs[2];
        piece.inputs[2] = constant_part(bias, graph_->tensors[bias].shape.size() - 1, begin, end);
      }
      if (node.inputs.size() > 3 && node.inputs[3]) {
        piece.inputs[3] = residual_part(node, how.output_axis, begin, end);
      }
      piece.outputs = {part_tensor(node.outputs[0], how.output_axis, begin, end)};
      concat.inputs.push_back(piece.outputs[0]);
      nodes_.push_back(std::move(piece));
    }
    nodes_.push_back(std::move(concat));
  }

  void keep(GraphNode node) { nodes_.push_back(std::move(node)); }
  void finish() { graph_->nodes = std::move(nodes_); }

 private:
  TensorIndex part_tensor(TensorIndex whole, std::size_t axis, std::int64_t begin,
                          std::int64_t end) {
    GraphTensor part = graph_->tensors[whole];
    part.name = part_name(part.name, begin, end, axis);
    part.shape[axis] = end - begin;
    graph_->tensors.push_back(std::move(part));
    return graph_->tensors.size() - 1;
  }

  /// Named so that `fmplan pack` finds the whole constant; contents are never asked for while
  /// planning.
  TensorIndex constant_part(TensorIndex whole, std::size_t axis, std::int64_t begin,
                            std::int64_t end) {
    const TensorIndex part = part_tensor(whole, axis, begin, end);
    graph_->tensors[part].constant = ConstantData{};
    return part;
  }

  TensorIndex residual_part(const GraphNode& node, std::size_t axis, std::int64_t begin,
                            std::int64_t end) {
    const TensorIndex whole = *node.inputs[3];
    const TensorIndex part = part_tensor(whole, axis, begin, end);
    const std::size_t rank = graph_->tensors[whole].shape.size();
    std::vector<std::int64_t> starts(rank, 0);
    starts[axis] = begin;
    GraphNode slice{node.name, "Slice", {whole}, {part}, {}, node.fused_from};
    slice.attributes = {{"starts", starts}, {"steps", std::vector<std::int64_t>(rank, 1)}};
    nodes_.push_back(std::move(slice));
    return part;
  }

  Graph* graph_;
  std::vector<GraphNode> nodes_;
};

}  // namespace

void split_large_weights(Graph* graph, const PlacementRule& placement) {
  WeightSplitter splitter(graph);
  const std::vector<GraphNode> nodes = graph->nodes;
  for (const GraphNode& node : nodes) {
    const auto how = split_of(*graph, node);
    if (!how || !placement.needs_split(how->layout, graph->tensors[*node.inputs[1]].shape)) {
      splitter.keep(node);
      continue;
    }
    const GraphTensor& weight = graph->tensors[*node.inputs[1]];
    if (how->layout == Layout::depthwise_filter) {
      throw UserError("node `" + node.name + "` (Conv): depthwise filter `" + weight.name +
                      "` of shape " + to_string(weight.shape) +
                      " makes an image too large for the device");
    }
    const std::int64_t part = largest_part(placement, *how, weight.shape, node, weight.name);
    splitter.split(node, *how, part);
  }
  splitter.finish();
}

}  // namespace fm
