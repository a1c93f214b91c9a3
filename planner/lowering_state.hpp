#pragma once
// What lowering knows so far: where each graph tensor's elements are, and the launches emitted.

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/launch_builders.hpp"
#include "planner/host_tensor.hpp"
#include "planner/layout/index_map.hpp"
#include "planner/layout/readings.hpp"
#include "planner/layout/storage_choice.hpp"
#include "planner/layout/texel_index.hpp"
#include "planner/lowering.hpp"

namespace fm {

class LoweringState {
 public:
  LoweringState(const Graph& graph, const LoweringOptions& options);

  const Graph& graph() const { return graph_; }
  const Shape& shape(TensorIndex tensor) const { return graph_.tensors[tensor].shape; }
  bool is_constant(TensorIndex tensor) const { return graph_.tensors[tensor].constant.has_value(); }
  Layout layout_of(TensorIndex tensor) const { return layouts_[tensor]; }

  /// The tensor's elements in `layout` under `shape` (same elements in row-major order), read about
  /// `times` times each: the stored tensor itself where its storage is the same; or seen through an
  /// index function (the id then names a view, which emit() resolves); else a copy made by a move
  /// launch, once.
  PlanTensor operand(TensorIndex tensor, Layout layout, const Shape& shape,
                     Reads times = Reads::many);
  PlanTensor operand(TensorIndex tensor, Layout layout, Reads times = Reads::many) {
    return operand(tensor, layout, shape(tensor), times);
  }
  /// The same for any map of the stored tensor's (or constant's) elements.
  PlanTensor mapped_operand(TensorIndex tensor, const IndexMap& map, Layout layout,
                            Reads times = Reads::many);
  /// Integers as an i32 linear buffer: constants, an input of the model itself, or a copy.
  PlanTensor index_operand(TensorIndex tensor);

  /// Graph tensor `tensor` holds rows that the executor gathers from the constants `table` at the
  /// values of the integer input `indices`.
  void gather_rows(TensorIndex tensor, TensorIndex indices, const std::vector<TensorIndex>& table);

  /// Where an operator writes graph tensor `tensor` in `layout` under `shape`: a new activation, or
  /// a view of the storage that the tensor's readers want.
  PlanTensor result(TensorIndex tensor, Layout layout, const Shape& shape);
  PlanTensor result(TensorIndex tensor, Layout layout) {
    return result(tensor, layout, shape(tensor));
  }
  /// The form that the readers of an elementwise operator's result chose, and in which it works.
  std::optional<StorageForm> elementwise_form(const GraphNode& node) const;
  /// A new activation that holds graph tensor `tensor` in this form.
  PlanTensor result_in(const StorageForm& form, TensorIndex tensor);
  /// A new activation that is no graph tensor: partial results, permuted inputs.
  PlanTensor temporary(const std::string& name, Layout layout, const Shape& shape,
                       ElementType type = ElementType::float32);
  /// Graph tensor `tensor` holds the elements of `source` through `map` of its stored tensor:
  /// nothing moves.
  void alias(TensorIndex tensor, TensorIndex source, const IndexMap& map);
  /// Graph tensor `tensor` is the stored tensor `stored` seen through `map`.
  void define(TensorIndex tensor, const PlanTensor& stored, const IndexMap& map);
  /// Where a graph tensor's elements lie in its stored tensor (or constant).
  const IndexMap& map_of(TensorIndex tensor) const { return values_[tensor].map; }
  bool eliminates() const { return options_.eliminate; }
  /// Whether its operator wrote this part of a concatenation into the output's storage.
  bool lies_in(TensorIndex part, TensorIndex joined) const;
  /// The storage of a concatenation's output.
  PlanTensor joined_storage(TensorIndex joined);
  /// Where a tensor in `layout` is written that is `map` of the elements of `stored`.
  PlanTensor region_of(const PlanTensor& stored, const IndexMap& map, Layout layout);
  /// Layout of a concatenation's storage.
  Layout joined_layout(TensorIndex joined) const { return choices_.joined.at(joined); }

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
    IndexMap map;
  };
  struct View {
    std::size_t stored = 0;
    TexelIndex index;
  };

  std::size_t add(std::string name, TensorRole role, DataType type, Layout layout,
                  const Shape& shape);
  std::size_t stored_constant(TensorIndex constant, Layout layout, const Shape& shape);
  /// A tensor like `stored` that is read or written through `index`.
  PlanTensor view(std::size_t stored, const Shape& shape, Layout layout, const TexelIndex& index);
  /// Views in the launch's arguments become index functions of the stored tensors.
  void resolve(PlanLaunch* launch) const;
  PlanTensor copied(std::size_t stored, const IndexMap& map, Layout layout, const std::string& name,
                    DataType type, bool in_buffer = false);
  /// How a computed value of this type is stored: integers and booleans never as half.
  DataType storage_of(ElementType type) const {
    return is_real(type) ? options_.storage : DataType::f32;
  }
  DataType storage_of(TensorIndex tensor) const { return storage_of(graph_.tensors[tensor].type); }
  std::size_t output_storage(TensorIndex output);
  std::optional<PlanTensor> chosen_result(TensorIndex tensor, Layout layout, const Shape& wanted);
  void add_inputs();
  /// Of a stored tensor (no view) in lowered_.tensors.
  static std::size_t position_of(const PlanTensor& stored) {
    return std::stoul(stored.id.substr(1));
  }

  const Graph& graph_;
  LoweringOptions options_;
  std::vector<Layout> layouts_;
  std::vector<Value> values_;
  std::map<std::tuple<TensorIndex, Layout, Shape>, std::size_t> constants_;
  StoragePlan choices_;
  std::map<std::string, std::size_t> copies_;   ///< by stored tensor, layout and map
  std::map<std::string, View> views_;           ///< by id
  std::map<TensorIndex, std::size_t> joined_;   ///< storage of concatenations, by output
  std::map<TensorIndex, std::size_t> outputs_;  ///< by graph output
  const GraphNode* current_ = nullptr;          ///< moves are emitted in its name
  LoweredNetwork lowered_;
};

/// `rows` has no scalars: they are one row of one element.
Shape at_least_one_dimension(const Shape& shape);

/// The map is all of a tensor of `element_total` elements in row-major order, whatever its shape.
bool is_whole_map(const IndexMap& map, std::int64_t element_total);

/// Elements of `stored` (of `placement`) lie in memory exactly as those of a tensor of this layout
/// and shape.
bool same_storage(const PlanTensor& stored, Layout layout, const Shape& shape);

// One function a family of operators.
void lower_convolution(LoweringState& state, const GraphNode& node);
void lower_transposed_convolution(LoweringState& state, const GraphNode& node);
void lower_pool(LoweringState& state, const GraphNode& node);
void lower_resize(LoweringState& state, const GraphNode& node);
void lower_matmul(LoweringState& state, const GraphNode& node);
void lower_attention(LoweringState& state, const GraphNode& node);
void lower_reduction(LoweringState& state, const GraphNode& node);
void lower_global_pool(LoweringState& state, const GraphNode& node);
void lower_softmax(LoweringState& state, const GraphNode& node);
void lower_layer_norm(LoweringState& state, const GraphNode& node);
void lower_unary(LoweringState& state, const GraphNode& node);
void lower_binary(LoweringState& state, const GraphNode& node);
void lower_where(LoweringState& state, const GraphNode& node);
void lower_view(LoweringState& state, const GraphNode& node);
void lower_concat(LoweringState& state, const GraphNode& node);
void lower_pad(LoweringState& state, const GraphNode& node);
void lower_gather(LoweringState& state, const GraphNode& node);
void lower_gather_rows(LoweringState& state, const GraphNode& node);
void lower_gather_elements(LoweringState& state, const GraphNode& node);
void lower_scatter(LoweringState& state, const GraphNode& node);
void lower_scan(LoweringState& state, const GraphNode& node);

/// The node's fused activation; the residual is left to the caller.
Epilogue epilogue_of(const GraphNode& node);
/// An elementwise operator's own activation. It must be one (activation_of()).
Epilogue activation_epilogue(const GraphNode& node);
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
