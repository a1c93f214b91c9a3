#include "planner/model_file.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <boost/iostreams/device/mapped_file.hpp>
#include <cstdint>
#include <filesystem>

#include "core/diagnostics.hpp"
#include "core/digest.hpp"

namespace fm {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr std::uint32_t largest_inline_contents = 1024;
constexpr std::uint32_t raw_data_field = onnx::TensorProto::kRawDataFieldNumber;

enum class Message { model, graph, node, attribute, tensor, other };

/// The message type of a length-delimited field that may hold weights.
Message nested(Message message, std::uint32_t field) {
  switch (message) {
    case Message::model:
      return field == onnx::ModelProto::kGraphFieldNumber ? Message::graph : Message::other;
    case Message::graph:
      if (field == onnx::GraphProto::kInitializerFieldNumber) return Message::tensor;
      return field == onnx::GraphProto::kNodeFieldNumber ? Message::node : Message::other;
    case Message::node:
      return field == onnx::NodeProto::kAttributeFieldNumber ? Message::attribute : Message::other;
    case Message::attribute:
      return field == onnx::AttributeProto::kTFieldNumber ? Message::tensor : Message::other;
    case Message::tensor:
    case Message::other:
      return Message::other;
  }
  return Message::other;
}

void append_varint(std::uint64_t value, std::string* out) {
  std::uint8_t bytes[10];
  const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  out->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes));
}

/// Copies a serialized ModelProto without large raw_data: the wire format is walked down to the
/// tensors.
class WeightSkipper {
 public:
  explicit WeightSkipper(const std::uint8_t* file) : file_(file) {}

  /// Appends the message in [begin, end) to `out`. Returns false where the bytes are no protobuf
  /// message.
  bool copy(Message message, std::uint64_t begin, std::uint64_t end, std::string* out) {
    std::uint64_t position = begin;
    while (position < end) {
      const std::uint64_t field_begin = position;
      std::uint64_t tag = 0;
      if (!read_varint(&position, end, &tag)) return false;
      std::uint64_t length = 0;
      switch (tag & 7) {
        case 0:
          if (!read_varint(&position, end, &length)) return false;
          length = 0;
          break;
        case 1:
          length = 8;
          break;
        case 2:
          if (!read_varint(&position, end, &length)) return false;
          break;
        case 5:
          length = 4;
          break;
        default:
          return false;
      }
      if (length > end - position) return false;
      const auto field = static_cast<std::uint32_t>(tag >> 3);
      if (message == Message::tensor && field == raw_data_field &&
          length > largest_inline_contents) {
        refer_to_file(position, length, out);
      } else if (Message inner = nested(message, field); inner != Message::other) {
        std::string copied;
        if (!copy(inner, position, position + length, &copied)) return false;
        append_varint(tag, out);
        append_varint(copied.size(), out);
        out->append(copied);
      } else {
        out->append(reinterpret_cast<const char*>(file_ + field_begin),
                    position + length - field_begin);
      }
      position += length;
    }
    return true;
  }

 private:
  bool read_varint(std::uint64_t* position, std::uint64_t end, std::uint64_t* value) const {
    *value = 0;
    for (int shift = 0; shift < 64 && *position < end; shift += 7) {
      const std::uint8_t byte = file_[(*position)++];
      *value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  static void refer_to_file(std::uint64_t offset, std::uint64_t length, std::string* out) {
    onnx::TensorProto reference;
    const auto add = [&](const std::string& key, const std::string& value) {
      onnx::StringStringEntryProto* entry = reference.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", model_file_location);
    add("offset", std::to_string(offset));
    add("length", std::to_string(length));
    reference.set_data_location(onnx::TensorProto::EXTERNAL);
    out->append(reference.SerializeAsString());
  }

  const std::uint8_t* file_;
};

boost::iostreams::mapped_file_source map_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw UserError({path, 0, 0}, "no such model file");
  }
  if (std::filesystem::file_size(path, error) == 0) {
    throw UserError({path, 0, 0}, "is empty, not an ONNX model");
  }
  try {
    return boost::iostreams::mapped_file_source(path);
  } catch (const std::exception& failure) {
    throw UserError({path, 0, 0}, std::string("cannot be read: ") + failure.what());
  }
}

}  // namespace

ModelFile read_model_file(const std::string& path) {
  const boost::iostreams::mapped_file_source mapped = map_file(path);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(mapped.data());
  ModelFile file;
  file.path = path;
  std::string light;
  if (!WeightSkipper(bytes).copy(Message::model, 0, mapped.size(), &light) ||
      !file.model.ParseFromString(light)) {
    throw UserError({path, 0, 0},
                    "is truncated or not an ONNX model (its protobuf does not parse)");
  }
  if (!file.model.has_graph() || file.model.ir_version() == 0) {
    throw UserError({path, 0, 0}, "is not an ONNX model (it holds no graph)");
  }
  file.digest = digest_of(bytes, mapped.size());
  return file;
}

std::string external_fact(const onnx::TensorProto& tensor, const std::string& key) {
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return {};
}

}  // namespace fm
