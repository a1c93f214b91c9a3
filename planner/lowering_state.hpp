#pragma once
// What lowering knows so far: where each graph tensor's elements are, and the launches emitted.

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/launch_builders.hpp"
#include "planner/lowering.hpp"
#include "planner/tensor_view.hpp"

namespace fm {

class LoweringState {
 public:
  LoweringState(const Graph& graph, const LoweringOptions& options);

  const Shape& shape(TensorIndex tensor) const { return graph_.tensors[tensor].shape; }
  bool is_constant(TensorIndex tensor) const { return graph_.tensors[tensor].constant.has_value(); }
  Layout layout_of(TensorIndex tensor) const { return layouts_[tensor]; }

  /// The tensor's elements in `layout` under `shape` (same elements in row-major order): the stored
  /// tensor itself where its storage is the same, else a copy made by a move launch, once. The id
  /// names the stored tensor.
  PlanTensor operand(TensorIndex tensor, Layout layout, const Shape& shape);
  PlanTensor operand(TensorIndex tensor, Layout layout) {
    return operand(tensor, layout, shape(tensor));
  }
  /// The same for any view of the tensor's elements.
  PlanTensor viewed_operand(TensorIndex tensor, const TensorView& view, Layout layout);
  /// As viewed_operand() in `rows`, but in a buffer where that lets `shape` share its storage.
  PlanTensor dense_operand(TensorIndex tensor, const Shape& shape);
  /// Constant integers as an i32 linear buffer, or the integer input itself.
  PlanTensor index_operand(TensorIndex tensor);

  /// Graph tensor `tensor` holds rows that the executor gathers from the constants `table` at the
  /// values of the integer input `indices`.
  void gather_rows(TensorIndex tensor, TensorIndex indices, const std::vector<TensorIndex>& table);

  /// Contents of a small constant of integers; empty for other tensors.
  std::vector<std::int64_t> constant_positions(TensorIndex tensor) const;

  /// A new activation that holds graph tensor `tensor` in `layout` under `shape`.
  PlanTensor result(TensorIndex tensor, Layout layout, const Shape& shape);
  PlanTensor result(TensorIndex tensor, Layout layout) {
    return result(tensor, layout, shape(tensor));
  }
  /// A new activation that is no graph tensor: partial results, permuted inputs.
  PlanTensor temporary(const std::string& name, Layout layout, const Shape& shape);
  /// Graph tensor `tensor` holds the elements of `source` through `view` of its stored tensor:
  /// nothing moves.
  void alias(TensorIndex tensor, TensorIndex source, const TensorView& view);
  /// Graph tensor `tensor` is the stored tensor `stored` seen through `view`.
  void define(TensorIndex tensor, const PlanTensor& stored, const TensorView& view);
  /// Current view of a graph tensor onto its stored tensor (or constant).
  const TensorView& view_of(TensorIndex tensor) const { return values_[tensor].view; }

  /// Moves emitted from now on serve this node.
  void begin_node(const GraphNode& node) { current_ = &node; }
  void emit(PlanLaunch launch, const GraphNode& node, std::uint64_t macs = 0);
  /// A move that serves the current node.
  void emit_move(PlanLaunch launch);
  /// Emits the moves from inputs to the graph's outputs; called last.
  void store_outputs();
  LoweredNetwork take() { return std::move(lowered_); }

 private:
  struct Value {
    std::optional<TensorIndex> constant;  ///< a constant of the graph, stored when first used
    std::size_t stored = 0;               ///< index into lowered_.tensors otherwise
    TensorView view;
  };
  using ViewKey = std::tuple<std::size_t, Shape, std::vector<std::int64_t>, std::int64_t, Layout>;

  std::size_t add(std::string name, TensorRole role, DataType type, Layout layout,
                  const Shape& shape);
  std::size_t stored_constant(TensorIndex constant, Layout layout, const Shape& shape);
  PlanTensor moved(std::size_t stored, const TensorView& view, Layout layout,
                   const std::string& name, bool in_buffer = false);
  void add_inputs();

  const Graph& graph_;
  LoweringOptions options_;
  std::vector<Layout> layouts_;
  std::vector<Value> values_;
  std::map<std::tuple<TensorIndex, Layout, Shape>, std::size_t> constants_;
  std::map<ViewKey, std::size_t> moved_;
  const GraphNode* current_ = nullptr;  ///< moves are emitted in its name
  LoweredNetwork lowered_;
};

/// Elements of `stored` (of `placement`) lie in memory exactly as those of a tensor of this layout
/// and shape.
bool same_storage(const PlanTensor& stored, Layout layout, const Shape& shape);

// One function a family of operators.
void lower_convolution(LoweringState& state, const GraphNode& node);
void lower_transposed_convolution(LoweringState& state, const GraphNode& node);
void lower_pool(LoweringState& state, const GraphNode& node);
void lower_resize(LoweringState& state, const GraphNode& node);
void lower_matmul(LoweringState& state, const GraphNode& node);
void lower_reduction(LoweringState& state, const GraphNode& node);
void lower_global_pool(LoweringState& state, const GraphNode& node);
void lower_softmax(LoweringState& state, const GraphNode& node);
void lower_layer_norm(LoweringState& state, const GraphNode& node);
void lower_unary(LoweringState& state, const GraphNode& node);
void lower_binary(LoweringState& state, const GraphNode& node);
void lower_view(LoweringState& state, const GraphNode& node);
void lower_concat(LoweringState& state, const GraphNode& node);
void lower_pad(LoweringState& state, const GraphNode& node);
void lower_gather(LoweringState& state, const GraphNode& node);
void lower_gather_rows(LoweringState& state, const GraphNode& node);

/// The node's fused activation; the residual is left to the caller.
Epilogue epilogue_of(const GraphNode& node);
/// Writes an activation into a node's attributes (the fusion passes) for epilogue_of() to read.
void set_activation(GraphNode* node, const std::string& word, float alpha, float beta);
/// The activation an elementwise operator is, as word, alpha, beta; nullopt for other operators.
struct ActivationWord {
  std::string word;
  float alpha = 0;
  float beta = 0;
};
std::optional<ActivationWord> activation_of(const GraphNode& node);

}  // namespace fm
