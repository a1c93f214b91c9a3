#pragma once
// The nodes of an ONNX graph: which are supported, in what order they run, what they say.

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph.hpp"

namespace fm {

/// "" and "ai.onnx" name the operators of the ONNX standard.
bool is_default_domain(const std::string& domain);

/// Throws UserError that lists every unsupported operator with a node that uses it, or the unknown
/// domain.
void check_operators(const onnx::GraphProto& graph, int opset);

/// Node indices such that each follows the producers of its inputs; file order where that is
/// possible. Throws UserError for cycles and for inputs that nothing produces.
std::vector<int> topological_order(const onnx::GraphProto& graph);

/// The node's name, or "<op>_<index>" when it has none.
std::string node_name(const onnx::NodeProto& node, int index);

/// Attributes as the graph IR holds them; tensors and subgraphs are left out.
std::map<std::string, AttributeValue> plain_attributes(const onnx::NodeProto& node);

/// Names that the node's branches read or return: their own, or values around them.
std::set<std::string> values_of_branches(const onnx::NodeProto& node);

/// " (read by Add)"; empty where no node reads it.
std::string reader_of(const onnx::GraphProto& graph, const std::string& value);

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name);

}  // namespace fm
