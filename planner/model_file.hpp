#pragma once
// An ONNX file as protobuf messages, without its weights in memory.

#include <onnx/onnx_pb.h>

#include <string>

namespace fm {

/// Location (TensorProto.external_data) that read_model_file() gives to large contents of the model
/// file itself.
constexpr const char* model_file_location = "//model-file";
/// Location that marks a tensor of a weightless skeleton (models/README.md).
constexpr const char* seeded_weights_location = "seeded-weights";

struct ModelFile {
  std::string path;
  std::string digest;  ///< digest_of_file(path)
  /// raw_data longer than a kilobyte is replaced by an external reference to model_file_location.
  onnx::ModelProto model;
};

/// Reads the file once through a memory map. Throws UserError when it is missing, truncated or not
/// ONNX.
ModelFile read_model_file(const std::string& path);

/// Value of a key of TensorProto.external_data; empty when absent.
std::string external_fact(const onnx::TensorProto& tensor, const std::string& key);

}  // namespace fm
