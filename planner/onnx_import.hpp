#pragma once
// From an ONNX file to the graph IR: every shape known, shape arithmetic folded, one form an
// operator.

#include <cstdint>
#include <map>
#include <string>

#include "core/graph.hpp"
#include "planner/constant_store.hpp"

namespace fm {

constexpr int oldest_opset = 9;
constexpr int newest_opset = 17;

/// Values of the dimensions that the model leaves open.
struct ShapeBindings {
  std::map<std::string, std::int64_t> dimensions;  ///< by dimension name
  std::map<std::string, Shape> inputs;             ///< whole shapes by input name; these win
};

struct ImportedModel {
  std::string path;
  std::string digest;
  Graph graph;
  ConstantStore constants;
};

/// Throws UserError: unreadable or truncated file, opset outside [oldest_opset, newest_opset],
/// unknown domain, unsupported operators (all of them, with node and opset), unbound dimensions
/// (all, with the flags that bind them), missing initializers, cycles, shapes that do not fit,
/// external data outside the model's folder.
ImportedModel import_model(const std::string& path, const ShapeBindings& bindings);

}  // namespace fm
