#pragma once
// Constants of an ONNX file: types, attributes and where contents lie.

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "core/graph.hpp"
#include "planner/constant_store.hpp"

namespace fm {

/// Empty for types the planner does not know.
std::optional<ElementType> known_element_type(int onnx_type);
/// The same; throws UserError.
ElementType element_type_from(int onnx_type, const std::string& where);

/// A constant tensor from a TensorProto; large contents stay in the file
/// (constants.add_file_slice). `model_path` locates external data, which must lie in the model's
/// folder. Throws UserError.
GraphTensor constant_from(const onnx::TensorProto& proto, const std::string& name,
                          const std::string& model_path, ConstantStore* constants);

/// A constant from values computed while planning.
GraphTensor constant_from(const HostTensor& values, const std::string& name);

}  // namespace fm
