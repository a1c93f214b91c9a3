#pragma once
// Rewriting a graph in place: who produces and reads a tensor, replacing patterns by one node, new
// constants.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/graph.hpp"
#include "planner/constant_store.hpp"

namespace fm {

using NodeIndex = std::size_t;

/// Nodes keep their index until finish(); removed ones have an empty operation.
class GraphEditor {
 public:
  GraphEditor(Graph* graph, ConstantStore* constants);

  Graph& graph() { return *graph_; }
  const ConstantStore& constants() const { return *constants_; }
  std::size_t node_count() const { return graph_->nodes.size(); }
  GraphNode& node(NodeIndex index) { return graph_->nodes[index]; }
  GraphTensor& tensor(TensorIndex index) { return graph_->tensors[index]; }
  const Shape& shape(TensorIndex index) const { return graph_->tensors[index].shape; }
  bool is_constant(std::optional<TensorIndex> tensor) const;
  bool is_output(TensorIndex tensor) const;

  /// The node that produces the tensor; nullopt for inputs and constants.
  std::optional<NodeIndex> producer(std::optional<TensorIndex> tensor) const;
  /// The producer when its operation is `operation`.
  std::optional<NodeIndex> producer(std::optional<TensorIndex> tensor,
                                    const std::string& operation) const;
  /// All readers of the tensor, a node twice when it reads it twice.
  const std::vector<NodeIndex>& readers(TensorIndex tensor) const { return readers_[tensor]; }
  /// The only reader of a tensor that is no output of the graph.
  std::optional<NodeIndex> sole_reader(TensorIndex tensor) const;
  std::optional<NodeIndex> sole_reader(TensorIndex tensor, const std::string& operation) const;

  /// Value of a real constant of one element; nullopt otherwise.
  std::optional<float> scalar(std::optional<TensorIndex> tensor) const;
  /// For a node of two inputs: the input that is not `tensor`; nullopt when neither or both are.
  std::optional<TensorIndex> other_input(NodeIndex node, TensorIndex tensor) const;
  /// For a node of two inputs of which one is a scalar constant: the other input and the constant's
  /// value.
  struct ScaledInput {
    TensorIndex input;
    float value;
    bool constant_first;
  };
  std::optional<ScaledInput> with_scalar(NodeIndex node) const;

  /// Node `at` becomes `replacement` (its fused_from: that of `absorbed`, then of `at`); `absorbed`
  /// are removed. The outputs of `at` are kept unless the replacement names its own.
  void fuse(const std::vector<NodeIndex>& absorbed, NodeIndex at, GraphNode replacement);
  void remove(NodeIndex node);
  /// Readers of `from` read `to` instead.
  void replace_reads(TensorIndex from, TensorIndex to);
  /// Inserts a node before `before`, whose index and all later ones grow by one.
  void insert(NodeIndex before, GraphNode node);
  void set_input(NodeIndex node, std::size_t input, TensorIndex tensor);

  TensorIndex add_tensor(const std::string& base_name, const Shape& shape);
  TensorIndex add_constant(const std::string& base_name, const HostTensor& values);
  TensorIndex add_recipe(const std::string& base_name, const Shape& shape,
                         ConstantStore::Recipe recipe);

  /// Drops removed nodes and nodes whose results nobody reads.
  void finish();

 private:
  std::string unique_name(const std::string& base_name) const;
  void refresh();

  Graph* graph_;
  ConstantStore* constants_;
  std::vector<std::optional<NodeIndex>> producers_;
  std::vector<std::vector<NodeIndex>> readers_;
};

/// `value` is `wanted` within the rounding of exporters that write fp32 or fp16 constants.
bool is_close(float value, double wanted);

}  // namespace fm
