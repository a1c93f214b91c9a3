#include "planner/onnx_import.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/diagnostics.hpp"
#include "planner/graph_builder.hpp"
#include "planner/host_tensor.hpp"
#include "planner/model_file.hpp"
#include "planner/onnx_nodes.hpp"
#include "planner/onnx_tensor.hpp"

namespace fm {
namespace {

int default_opset(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& entry : model.opset_import()) {
    if (!is_default_domain(entry.domain())) continue;
    return static_cast<int>(std::clamp<std::int64_t>(entry.version(), -1, INT32_MAX));
  }
  return 0;
}

void check_opset(int opset) {
  if (opset == 0) throw UserError("imports no operator set of the default domain");
  if (opset < oldest_opset || opset > newest_opset) {
    throw UserError("opset " + std::to_string(opset) + " is not supported; export it with opset " +
                    std::to_string(oldest_opset) + " to " + std::to_string(newest_opset));
  }
}

/// Shape of a graph input under the bindings; unbound dimensions are appended to `unbound`.
Shape bound_shape(const onnx::ValueInfoProto& input, const ShapeBindings& bindings,
                  std::vector<std::string>* unbound) {
  const auto& dimensions = input.type().tensor_type().shape().dim();
  const auto whole = bindings.inputs.find(input.name());
  if (whole != bindings.inputs.end() &&
      whole->second.size() != static_cast<std::size_t>(dimensions.size())) {
    throw UserError("--shape " + input.name() + " gives " + to_string(whole->second) +
                    ", but the input has " + std::to_string(dimensions.size()) + " dimensions");
  }
  Shape shape;
  for (int d = 0; d < dimensions.size(); ++d) {
    const auto& dimension = dimensions[d];
    const auto named = bindings.dimensions.find(dimension.dim_param());
    const bool fixed = dimension.has_dim_value() && dimension.dim_value() >= 0;
    if (whole != bindings.inputs.end()) {
      const std::int64_t value = whole->second[static_cast<std::size_t>(d)];
      if (fixed && value != dimension.dim_value()) {
        throw UserError("--shape " + input.name() + " gives dimension " + std::to_string(d) +
                        " as " + std::to_string(value) + ", but the model fixes it at " +
                        std::to_string(dimension.dim_value()));
      }
      shape.push_back(value);
    } else if (fixed) {
      shape.push_back(dimension.dim_value());
    } else if (named != bindings.dimensions.end()) {
      shape.push_back(named->second);
    } else {
      shape.push_back(0);
      unbound->push_back("dimension " + std::to_string(d) + " of input `" + input.name() + "`" +
                         (dimension.dim_param().empty()
                              ? std::string()
                              : " (--dim " + dimension.dim_param() + "=N)"));
    }
  }
  return shape;
}

void check_bindings(const onnx::GraphProto& graph, const ShapeBindings& bindings) {
  std::vector<std::string> inputs, dimensions;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    inputs.push_back(input.name());
    for (const auto& dimension : input.type().tensor_type().shape().dim()) {
      if (!dimension.dim_param().empty()) dimensions.push_back(dimension.dim_param());
    }
  }
  for (const auto& [name, shape] : bindings.inputs) {
    if (std::count(inputs.begin(), inputs.end(), name) == 0) {
      throw UserError("--shape names no input `" + name + "`; " + accepted_words(name, inputs));
    }
    for (std::int64_t extent : shape) {
      if (extent < 1) throw UserError("--shape " + name + ": dimensions must be positive");
    }
  }
  for (const auto& [name, values] : bindings.values) {
    if (std::count(inputs.begin(), inputs.end(), name) == 0) {
      throw UserError("--value names no input `" + name + "`; " + accepted_words(name, inputs));
    }
  }
  for (const auto& [name, extent] : bindings.dimensions) {
    if (std::count(dimensions.begin(), dimensions.end(), name) == 0) {
      throw UserError("--dim names no dimension `" + name + "`; " +
                      accepted_words(name, dimensions));
    }
    if (extent < 1) throw UserError("--dim " + name + ": must be positive");
  }
}

/// An input that the plan is made for as a constant: of the model's shape, or of its one open
/// dimension as long as the values.
GraphTensor given_input(const onnx::ValueInfoProto& input, const std::vector<std::string>& values) {
  const auto& dimensions = input.type().tensor_type().shape().dim();
  const auto count = static_cast<std::int64_t>(values.size());
  HostTensor tensor;
  tensor.type =
      element_type_from(input.type().tensor_type().elem_type(), "input `" + input.name() + "`");
  for (const auto& dimension : dimensions) {
    tensor.shape.push_back(dimension.has_dim_value() ? dimension.dim_value()
                           : dimensions.size() == 1  ? count
                                                     : -1);
  }
  if (element_count(tensor.shape) != count) {
    throw UserError("--value " + input.name() + " gives " + std::to_string(count) +
                    " numbers, but its shape is " + to_string(tensor.shape));
  }
  for (const std::string& value : values) {
    if (is_real(tensor.type)) {
      tensor.reals.push_back(std::strtof(value.c_str(), nullptr));
      continue;
    }
    char* stop = nullptr;
    tensor.integers.push_back(std::strtoll(value.c_str(), &stop, 10));
    if (*stop != '\0') {
      throw UserError("--value " + input.name() + ": `" + value + "` is no " +
                      to_string(tensor.type));
    }
  }
  return constant_from(tensor, input.name());
}

void add_inputs(const onnx::GraphProto& proto, const ShapeBindings& bindings,
                GraphBuilder* builder) {
  check_bindings(proto, bindings);
  std::vector<std::string> unbound;
  std::string shape_flags;
  for (const onnx::ValueInfoProto& input : proto.input()) {
    if (builder->has(input.name()))
      continue;  // an initializer listed as input, as IR version 3 did
    const std::string reader = reader_of(proto, input.name());
    if (reader.empty() && !known_element_type(input.type().tensor_type().elem_type())) continue;
    if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) {
      throw UserError("input `" + input.name() + "`" + reader + " is no tensor with a shape");
    }
    if (const auto given = bindings.values.find(input.name()); given != bindings.values.end()) {
      builder->add_constant(given_input(input, given->second));
      continue;
    }
    const std::size_t unbound_before = unbound.size();
    GraphTensor tensor;
    tensor.name = input.name();
    tensor.type = element_type_from(input.type().tensor_type().elem_type(),
                                    "input `" + input.name() + "`" + reader);
    tensor.shape = bound_shape(input, bindings, &unbound);
    if (unbound.size() != unbound_before) shape_flags += " --shape " + input.name() + "=N,N,..";
    builder->add_input(std::move(tensor));
  }
  if (unbound.empty()) return;
  std::string message = "has dimensions that are not bound: ";
  for (std::size_t i = 0; i < unbound.size(); ++i) message += (i ? ", " : "") + unbound[i];
  throw UserError(message + "; or give whole shapes:" + shape_flags);
}

/// Names that some node or the graph's outputs read.
std::set<std::string> read_values(const onnx::GraphProto& proto) {
  std::set<std::string> names;
  for (const onnx::NodeProto& node : proto.node()) {
    names.insert(node.input().begin(), node.input().end());
    names.merge(values_of_branches(node));
  }
  for (const onnx::ValueInfoProto& output : proto.output()) names.insert(output.name());
  names.erase("");
  return names;
}

void add_outputs(const onnx::GraphProto& proto, GraphBuilder* builder) {
  if (proto.output().empty()) throw UserError("the graph has no output");
  for (const onnx::ValueInfoProto& output : proto.output()) builder->add_output(output.name());
}

}  // namespace

ImportedModel import_model(const std::string& path, const ShapeBindings& bindings) {
  ImportedModel result;
  result.path = path;
  const ModelFile file = read_model_file(path);
  result.digest = file.digest;
  for (const auto& [name, numbers] : bindings.values) {
    std::string text = name + "=";
    for (std::size_t i = 0; i < numbers.size(); ++i) text += (i != 0 ? "," : "") + numbers[i];
    result.values.push_back(std::move(text));
  }
  try {
    const onnx::GraphProto& proto = file.model.graph();
    const int opset = default_opset(file.model);
    check_operators(proto, opset);
    check_opset(opset);
    GraphBuilder builder(proto.name(), opset, path, &result.constants, read_values(proto));
    for (const onnx::TensorProto& initializer : proto.initializer()) {
      builder.add_constant(constant_from(initializer, initializer.name(), path, &result.constants));
    }
    add_inputs(proto, bindings, &builder);
    for (int index : topological_order(proto)) {
      builder.add_node(proto.node(index), index);
    }
    add_outputs(proto, &builder);
    result.graph = builder.take();
  } catch (const UserError& error) {
    throw UserError(SourceLocation{path, 0, 0}, error.what());
  }
  return result;
}

}  // namespace fm
