#pragma once
// Growing the graph IR node by node: each is resolved (shapes, one form an operator) and folded
// when its inputs are constants.

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph.hpp"
#include "planner/constant_store.hpp"
#include "planner/node_context.hpp"

namespace fm {

/// Operators that become constants or several nodes of others: Constant, Split, Sum.
bool is_expanded_operator(const std::string& operation);

class GraphBuilder {
 public:
  /// `read_values`: names that some node or the graph's outputs read; other outputs of nodes are
  /// ignored.
  GraphBuilder(std::string name, int opset, std::string model_path, ConstantStore* constants,
               std::set<std::string> read_values);

  bool has(const std::string& name) const { return by_name_.count(name) != 0; }
  TensorIndex add_input(GraphTensor tensor);
  TensorIndex add_constant(GraphTensor tensor);
  void add_output(const std::string& name);
  /// `index`: position in the file, which names a nameless node. Throws UserError.
  void add_node(const onnx::NodeProto& proto, int index);

  // For operators that become others (Expansion).
  const Graph& graph() const { return graph_; }
  NodeContext context(GraphNode* node) const { return {graph_, *constants_, *node}; }
  /// Resolves a node of one output; returns it.
  TensorIndex add_operation(GraphNode node, const std::string& output);
  TensorIndex add_values(const HostTensor& values, const std::string& base_name);
  /// A name of no value yet, the same for every import of the model.
  std::string fresh_name(const std::string& base_name);
  Graph take() { return std::move(graph_); }

 private:
  TensorIndex add_tensor(GraphTensor tensor);
  void add_plain_node(const onnx::NodeProto& proto, int index);
  bool expand(const onnx::NodeProto& proto, const GraphNode& node);
  // Nodes that stand for others (graph_builder_bodies.cpp).
  using Names = std::map<std::string, std::string>;  ///< in a body -> in the graph
  /// The nodes of a body, their values and names behind `prefix` where `names` has no other.
  template <class Nodes>
  void add_nodes(const Nodes& nodes, const std::string& prefix, Names* names);
  /// A subgraph in place of `node`; `names` of its inputs. Returns its outputs.
  std::vector<TensorIndex> add_subgraph(const onnx::GraphProto& subgraph, const GraphNode& node,
                                        Names names);
  void add_function(const onnx::NodeProto& proto);
  void add_branch(const onnx::NodeProto& proto, GraphNode* node);
  void add_loop(const onnx::NodeProto& proto, GraphNode* node);
  struct LoopValues {
    std::vector<TensorIndex> carried;  ///< from one iteration to the next
    std::vector<std::vector<std::optional<TensorIndex>>> scanned;  ///< of all iterations, by output
  };
  /// The body once. Returns whether another iteration follows.
  bool add_iteration(const onnx::GraphProto& body, const GraphNode& node, std::int64_t trip,
                     LoopValues* values);
  void give_value(const GraphNode& node, TensorIndex value, const std::string& output);
  void check_values(const GraphNode& node, const std::vector<TensorFacts>& facts);
  void add_constant_node(const onnx::NodeProto& proto, const std::string& name);
  void add_split(const onnx::NodeProto& proto, GraphNode node);
  void add_chain(const onnx::NodeProto& proto, const GraphNode& node, const std::string& operation);
  /// Resolves the node, then folds it or appends it; `outputs` names its outputs.
  void append(GraphNode node, const std::vector<std::string>& outputs);
  void wrap_indices(GraphNode* node);
  bool fold(const GraphNode& node, const std::vector<TensorFacts>& facts,
            const std::string& output);
  /// Refuses a constant that would take absurd memory or time; returns its work, in elements.
  double check_folding(const GraphNode& node, const std::vector<GraphTensor>& inputs,
                       const TensorFacts& result) const;
  void check_extents(const std::string& name, const Shape& shape) const;
  TensorIndex index_of(const std::string& name) const;

  Graph graph_;
  std::string model_path_;
  ConstantStore* constants_;
  std::set<std::string> read_values_;
  std::map<std::string, TensorIndex> by_name_;
  std::map<std::string, std::string> operator_of_;  ///< that gives a value
  std::map<std::size_t, double> folding_work_;      ///< by constant of the store
  std::size_t fresh_names_ = 0;
};

}  // namespace fm
