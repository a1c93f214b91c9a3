#pragma once
// Operators that become several nodes of others when they are imported.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/node_context.hpp"

namespace fm {

class GraphBuilder;

/// One node on its way to becoming others. Values that are constant fold as any node's do.
class Expansion {
 public:
  using Value = std::optional<TensorIndex>;
  using Inputs = std::vector<Value>;
  using Ints = std::vector<std::int64_t>;
  using Attributes = std::map<std::string, AttributeValue>;

  /// `outputs`: names of the node's outputs; "" where nobody reads it.
  Expansion(GraphBuilder& builder, GraphNode expanded, std::vector<std::string> outputs)
      : node(std::move(expanded)), builder_(builder), outputs_(std::move(outputs)) {}

  GraphNode node;

  NodeContext context();
  int opset() const;
  bool has(std::size_t input) const { return input < node.inputs.size() && node.inputs[input]; }
  TensorIndex input(std::size_t input);  ///< refuses the node when it is missing
  bool wants(std::size_t output) const {
    return output < outputs_.size() && !outputs_[output].empty();
  }
  Shape shape(TensorIndex tensor) const;
  ElementType type(TensorIndex tensor) const;
  bool is_constant(TensorIndex tensor) const;

  TensorIndex add(const std::string& operation, const Inputs& inputs, const Attributes& = {});
  TensorIndex reshape(TensorIndex value, const Shape& shape);
  TensorIndex transpose(TensorIndex value, const Ints& permutation);
  /// Elements [start, end) along `axis`, `step` apart.
  TensorIndex slice(TensorIndex value, std::int64_t axis, std::int64_t start, std::int64_t end,
                    std::int64_t step = 1);
  /// Refuses the node when a constant that the import makes would have absurdly many elements.
  void check_constant(const Shape& shape);
  TensorIndex reals(const Shape& shape, std::vector<float> values);
  TensorIndex integers(const Shape& shape, Ints values, ElementType type = ElementType::int64);
  /// A scalar of this type.
  TensorIndex number(double value, ElementType type = ElementType::float32);
  /// 0, 1, .. along dimension `axis` of a tensor of `rank`.
  TensorIndex counting(std::int64_t extent, std::int64_t axis, std::int64_t rank, ElementType type);

  /// The node that gives one of the outputs; for an output that nobody reads nothing happens.
  void give(std::size_t output, const std::string& operation, const Inputs& inputs,
            const Attributes& = {});
  void give(std::size_t output, TensorIndex value) { give(output, "Identity", {value}); }

 private:
  GraphBuilder& builder_;
  std::vector<std::string> outputs_;
};

/// Returns false, having done nothing, where the node can stay as it is.
using Expander = bool (*)(Expansion&);
using ExpanderTable = std::map<std::string, Expander>;
const ExpanderTable& expanders();

// The table's parts, one a file.
void add_elementwise_expanders(ExpanderTable* table);
void add_reduction_expanders(ExpanderTable* table);
void add_normalisation_expanders(ExpanderTable* table);
void add_selection_expanders(ExpanderTable* table);
void add_convolution_expanders(ExpanderTable* table);
void add_pool_expanders(ExpanderTable* table);
void add_resize_expanders(ExpanderTable* table);

}  // namespace fm
