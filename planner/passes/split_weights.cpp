// Weights too large for one image of the device: parts of the output channels, each an operator of
// its own.
#include <algorithm>
#include <map>
#include <tuple>

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
    if (shape[1] != 1) return std::nullopt;  // refused when it is lowered
    return Split{Layout::depthwise_filter, 0, 1};
  }
  if (node.operation == "Conv" || node.operation == "ConvTranspose") {
    return Split{Layout::conv_filter, 0, 1};
  }
  if ((node.operation == "MatMul" || node.operation == "Gemm") && shape.size() == 2) {
    const bool turned = attribute_int(node, "b_transposed", 0) != 0;
    return Split{Layout::rows, turned ? std::size_t{0} : std::size_t{1}, rank - 1};
  }
  return std::nullopt;
}

std::string part_name(const std::string& name, std::int64_t begin, std::int64_t end,
                      std::size_t axis) {
  return name + "[" + std::to_string(begin) + ":" + std::to_string(end) + "]/" +
         std::to_string(axis);
}

/// What a part may be at most.
struct PartLimits {
  const PlacementRule& placement;
  DataType storage;
  WeightSlices slices;
  bool fits_image(const Split& split, const Shape& shape) const {
    return !placement.needs_split(split.layout, shape);
  }
  bool stays_whole(const Split& split, const Shape& shape) const {
    if (slices == WeightSlices::whole && placement.weight_as_wanted(split.layout, shape))
      return true;
    return fits(split, shape, largest_whole_weight);
  }
  bool fits(const Split& split, const Shape& shape, Bytes largest = largest_slice) const {
    return fits_image(split, shape) && storage_bytes(split.layout, storage, shape) <= largest;
  }
};

/// Output channels a part, a multiple of 4: as few parts as possible, about equally large.
std::int64_t part_size(const PartLimits& limits, const Split& split, Shape shape,
                       const GraphNode& node, const std::string& weight) {
  const Shape whole = shape;
  const std::int64_t total = whole[split.weight_axis];
  std::int64_t part = total / 4 * 4;
  for (shape[split.weight_axis] = part; part > 4 && !limits.fits(split, shape);) {
    shape[split.weight_axis] = part -= 4;
  }
  if (part >= 4 && limits.fits_image(split, shape)) {
    const std::int64_t parts = (total + part - 1) / part;
    return ((total + parts - 1) / parts + 3) / 4 * 4;
  }
  throw UserError("node `" + node.name + "` (" + node.operation + "): weight `" + weight +
                  "` of shape " + to_string(whole) + " makes an image too large for the device (" +
                  std::to_string(limits.placement.limits().width) + " x " +
                  std::to_string(limits.placement.limits().height) +
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

  /// The same parts as split() makes of it, as inputs of a GatherRows.
  void gather_parts(GraphNode node, TensorIndex table, std::int64_t part) {
    const std::int64_t total = graph_->tensors[table].shape[0];
    node.inputs.resize(1);
    for (std::int64_t begin = 0; begin < total; begin += part) {
      node.inputs.push_back(constant_part(table, 0, begin, std::min(total, begin + part)));
    }
    nodes_.push_back(std::move(node));
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
  /// planning. One tensor for all who read it.
  TensorIndex constant_part(TensorIndex whole, std::size_t axis, std::int64_t begin,
                            std::int64_t end) {
    const auto [entry, is_new] =
        constant_parts_.emplace(std::make_tuple(whole, axis, begin, end), TensorIndex{0});
    if (is_new) {
      entry->second = part_tensor(whole, axis, begin, end);
      graph_->tensors[entry->second].constant = ConstantData{};
    }
    return entry->second;
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
  std::map<std::tuple<TensorIndex, std::size_t, std::int64_t, std::int64_t>, TensorIndex>
      constant_parts_;
};

/// Part sizes of the weights that must be split, by node.
using PartSizes = std::map<const GraphNode*, std::pair<Split, std::int64_t>>;

PartSizes part_sizes(const Graph& graph, const std::vector<GraphNode>& nodes,
                     const PartLimits& limits) {
  PartSizes sizes;
  for (const GraphNode& node : nodes) {
    const auto how = split_of(graph, node);
    if (!how) continue;
    const GraphTensor& weight = graph.tensors[*node.inputs[1]];
    if (limits.stays_whole(*how, weight.shape)) continue;
    if (how->layout == Layout::depthwise_filter) {
      if (limits.fits_image(*how, weight.shape)) continue;
      throw UserError("node `" + node.name + "` (Conv): depthwise filter `" + weight.name +
                      "` of shape " + to_string(weight.shape) +
                      " makes an image too large for the device");
    }
    const std::int64_t part = part_size(limits, *how, weight.shape, node, weight.name);
    if (part < weight.shape[how->weight_axis]) sizes[&node] = {*how, part};
  }
  return sizes;
}

}  // namespace

void split_large_weights(Graph* graph, const PlacementRule& placement, DataType storage,
                         WeightSlices slices) {
  WeightSplitter splitter(graph);
  const std::vector<GraphNode> nodes = graph->nodes;
  const PartSizes sizes = part_sizes(*graph, nodes, {placement, storage, slices});
  std::map<TensorIndex, std::int64_t> tables;  // split by rows -> part
  for (const auto& [node, size] : sizes) {
    if (size.first.layout == Layout::rows && size.first.weight_axis == 0) {
      tables[*node->inputs[1]] = size.second;
    }
  }
  for (const GraphNode& node : nodes) {
    const auto size = sizes.find(&node);
    const auto table = node.operation == "GatherRows" ? tables.find(*node.inputs[1]) : tables.end();
    if (size != sizes.end()) {
      splitter.split(node, size->second.first, size->second.second);
    } else if (table != tables.end()) {
      splitter.gather_parts(node, table->first, table->second);
    } else {
      splitter.keep(node);
    }
  }
  splitter.finish();
}

}  // namespace fm
