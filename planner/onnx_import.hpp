#pragma once
// From an ONNX file to the graph IR: every shape known, shape arithmetic folded, one form an
// operator.

#include <cstdint>
#include <map>
#include <string>

#include "core/graph.hpp"
#include "planner/constant_store.hpp"

namespace fm {

constexpr int oldest_opset = 1;
constexpr int newest_opset = 17;

/// What the model leaves open: dimensions, and inputs whose values the plan is made for.
struct ShapeBindings {
  std::map<std::string, std::int64_t> dimensions;  ///< by dimension name
  std::map<std::string, Shape> inputs;             ///< whole shapes by input name; these win
  std::map<std::string, std::vector<std::string>> values;  ///< numbers of inputs, row-major
};

struct ImportedModel {
  std::string path;
  std::string digest;
  std::vector<std::string> values;  ///< as PlanModel::values
  Graph graph;
  ConstantStore constants;
};

/// Throws UserError: unreadable or truncated file, opset outside [oldest_opset, newest_opset],
/// unknown domain, unsupported operators (all of them, with node and opset), unbound dimensions
/// (all, with the flags that bind them), missing initializers, cycles, shapes that do not fit,
/// external data outside the model's folder.
ImportedModel import_model(const std::string& path, const ShapeBindings& bindings);

}  // namespace fm
