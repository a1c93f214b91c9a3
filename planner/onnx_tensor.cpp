#include "planner/onnx_tensor.hpp"

#include <cstring>
#include <filesystem>

#include "core/diagnostics.hpp"
#include "planner/model_file.hpp"

namespace fm {
namespace {

Shape shape_of(const onnx::TensorProto& proto, const std::string& name) {
  Shape shape(proto.dims().begin(), proto.dims().end());
  if (!is_possible(shape)) {
    throw UserError("tensor `" + name + "` has impossible dimensions " + to_string(shape));
  }
  return shape;
}

template <class Stored, class Field>
std::vector<std::uint8_t> stored_as(const Field& field) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(field.size()) * sizeof(Stored));
  std::size_t position = 0;
  for (const auto value : field) {
    const Stored stored = static_cast<Stored>(value);
    std::memcpy(bytes.data() + position, &stored, sizeof(Stored));
    position += sizeof(Stored);
  }
  return bytes;
}

std::vector<std::uint8_t> inline_bytes(const onnx::TensorProto& proto, ElementType type) {
  if (proto.has_raw_data()) return {proto.raw_data().begin(), proto.raw_data().end()};
  switch (type) {
    case ElementType::float32:
      return stored_as<float>(proto.float_data());
    case ElementType::float64:
      return stored_as<double>(proto.double_data());
    case ElementType::int64:
      return stored_as<std::int64_t>(proto.int64_data());
    case ElementType::int32:
      return stored_as<std::int32_t>(proto.int32_data());
    case ElementType::float16:
      return stored_as<std::uint16_t>(proto.int32_data());
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::boolean:
      return stored_as<std::uint8_t>(proto.int32_data());
  }
  return {};
}

std::uint64_t number_fact(const onnx::TensorProto& proto, const std::string& name,
                          const std::string& key, std::uint64_t fallback) {
  const std::string text = external_fact(proto, key);
  if (text.empty()) return fallback;
  if (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18) {
    throw UserError("tensor `" + name + "`: external data " + key + " `" + text + "` is no number");
  }
  return std::stoull(text);
}

/// The external file, which must lie in the model's folder even through symbolic links.
std::string external_path(const std::string& location, const std::string& name,
                          const std::string& model_path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::weakly_canonical(fs::absolute(model_path)).parent_path();
  std::error_code error;  // a name too long, a loop of links
  const fs::path file = fs::weakly_canonical(folder / location, error);
  if (error || location.find('\0') != std::string::npos) {
    throw UserError("tensor `" + name + "`: external data names no file: " + error.message());
  }
  const fs::path inside = file.lexically_relative(folder);
  if (location.empty() || fs::path(location).is_absolute() || inside.empty() ||
      *inside.begin() == "..") {
    throw UserError("tensor `" + name + "`: external data `" + location +
                    "` lies outside the model's folder");
  }
  if (!fs::is_regular_file(file, error)) {
    throw UserError("tensor `" + name + "`: external data file `" + location + "` is missing");
  }
  return file.string();
}

std::size_t external_contents(const onnx::TensorProto& proto, const GraphTensor& tensor,
                              const std::string& model_path, ConstantStore* constants) {
  const std::string location = external_fact(proto, "location");
  if (location == seeded_weights_location) {
    return constants->add_missing(model_path + ": tensor `" + tensor.name +
                                  "` has no contents: this is a weightless skeleton; fill it first "
                                  "(fmplan fill --model " +
                                  model_path + " -o FULL.onnx)");
  }
  const std::uint64_t wanted =
      static_cast<std::uint64_t>(element_count(tensor.shape)) * element_bytes(tensor.type);
  const std::uint64_t offset = number_fact(proto, tensor.name, "offset", 0);
  const std::uint64_t length = number_fact(proto, tensor.name, "length", wanted);
  if (length != wanted) {
    throw UserError("tensor `" + tensor.name + "`: contents of " + std::to_string(length) +
                    " bytes do not fit shape " + to_string(tensor.shape) + " of " +
                    to_string(tensor.type));
  }
  const std::string path = location == model_file_location
                               ? model_path
                               : external_path(location, tensor.name, model_path);
  if (offset + length > std::filesystem::file_size(path)) {
    throw UserError("tensor `" + tensor.name + "`: " + path + " is too short for its contents");
  }
  return constants->add_file_slice(path, offset, length, tensor.type, tensor.shape);
}

}  // namespace

std::optional<ElementType> known_element_type(int onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::FLOAT:
      return ElementType::float32;
    case onnx::TensorProto::FLOAT16:
      return ElementType::float16;
    case onnx::TensorProto::DOUBLE:
      return ElementType::float64;
    case onnx::TensorProto::INT64:
      return ElementType::int64;
    case onnx::TensorProto::INT32:
      return ElementType::int32;
    case onnx::TensorProto::INT8:
      return ElementType::int8;
    case onnx::TensorProto::UINT8:
      return ElementType::uint8;
    case onnx::TensorProto::BOOL:
      return ElementType::boolean;
    default:
      return std::nullopt;
  }
}

ElementType element_type_from(int onnx_type, const std::string& where) {
  if (const auto type = known_element_type(onnx_type)) return *type;
  throw UserError(where + ": element type " + std::to_string(onnx_type) + " is not supported");
}

GraphTensor constant_from(const onnx::TensorProto& proto, const std::string& name,
                          const std::string& model_path, ConstantStore* constants) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.type = element_type_from(proto.data_type(), "tensor `" + name + "`");
  tensor.shape = shape_of(proto, name);
  tensor.constant.emplace();
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    tensor.constant->initializer = external_contents(proto, tensor, model_path, constants);
    return tensor;
  }
  tensor.constant->bytes = inline_bytes(proto, tensor.type);
  if (tensor.constant->bytes.size() !=
      static_cast<std::size_t>(element_count(tensor.shape)) * element_bytes(tensor.type)) {
    throw UserError("tensor `" + name + "`: contents of " +
                    std::to_string(tensor.constant->bytes.size()) + " bytes do not fit shape " +
                    to_string(tensor.shape) + " of " + to_string(tensor.type));
  }
  return tensor;
}

GraphTensor constant_from(const HostTensor& values, const std::string& name) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.type = values.type;
  tensor.shape = values.shape;
  tensor.constant.emplace();
  tensor.constant->bytes = bytes_of(values);
  return tensor;
}

}  // namespace fm
