#include "planner/seeded_weights.hpp"

#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "planner/model_file.hpp"

namespace fm {
namespace {

constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15u;

std::uint64_t fnv1a_64(const std::string& text) {
  std::uint64_t value = 0xCBF29CE484222325u;
  for (char character : text) {
    value = (value ^ static_cast<std::uint8_t>(character)) * 0x100000001B3u;
  }
  return value;
}

/// SplitMix64's finaliser (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

float fact_as_float(const std::string& path, const onnx::TensorProto& tensor,
                    const std::string& key) {
  std::istringstream text(external_fact(tensor, key));
  text.imbue(std::locale::classic());
  double value = 0;
  if (!(text >> value) || !text.eof()) {
    throw UserError({path, 0, 0}, "tensor `" + tensor.name() + "`: `" + key +
                                      "` must be a decimal number, not `" + text.str() + "`");
  }
  return static_cast<float>(value);
}

std::uint64_t bytes_of(const std::string& path, const onnx::TensorProto& tensor) {
  std::int64_t bytes = sizeof(float);
  for (const std::int64_t dimension : tensor.dims()) {
    if (dimension < 0 || __builtin_mul_overflow(bytes, dimension, &bytes)) {
      throw UserError({path, 0, 0}, "tensor `" + tensor.name() + "`: impossible dimensions");
    }
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string drawn_bytes(const std::string& path, std::uint64_t seed,
                        const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT) {
    throw UserError({path, 0, 0}, "tensor `" + tensor.name() + "`: seeded weights must be float32");
  }
  const float mean = fact_as_float(path, tensor, "mean");
  const float half_range = fact_as_float(path, tensor, "half_range");
  const std::uint64_t key = seeded_stream_key(seed, tensor.name());
  std::string bytes(bytes_of(path, tensor), '\0');
  for (std::uint64_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    const float value = seeded_value(key, i, mean, half_range);
    std::memcpy(&bytes[i * sizeof(float)], &value, sizeof(float));
  }
  return bytes;
}

/// A file of contents beside the model, for models that no protobuf message can hold.
class ExternalData {
 public:
  explicit ExternalData(const std::string& model)
      : location_(std::filesystem::path(model).filename().string() + ".data"),
        file_(model + ".data") {}

  void append(const std::string& bytes, onnx::TensorProto* tensor) {
    const std::uint64_t page = 4096;  // so that contents can be mapped
    const std::uint64_t padding = (page - end_ % page) % page;
    file_.stream() << std::string(padding, '\0');
    end_ += padding;
    const auto add = [&](const std::string& key, const std::string& value) {
      onnx::StringStringEntryProto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location_);
    add("offset", std::to_string(end_));
    add("length", std::to_string(bytes.size()));
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    file_.stream() << bytes;
    end_ += bytes.size();
  }
  void commit() { file_.commit(); }

 private:
  const std::string location_;
  AtomicFile file_;
  std::uint64_t end_ = 0;
};

onnx::ModelProto read_skeleton(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError({path, 0, 0}, "no such model file");
  std::ostringstream text;
  text << file.rdbuf();
  onnx::ModelProto model;
  if (text.str().empty() || !model.ParseFromString(text.str()) || !model.has_graph()) {
    throw UserError({path, 0, 0}, "is truncated or not an ONNX model");
  }
  return model;
}

std::vector<onnx::TensorProto*> seeded_tensors(onnx::ModelProto* model) {
  std::vector<onnx::TensorProto*> seeded;
  for (onnx::TensorProto& tensor : *model->mutable_graph()->mutable_initializer()) {
    if (external_fact(tensor, "location") == seeded_weights_location) seeded.push_back(&tensor);
  }
  return seeded;
}

}  // namespace

std::uint64_t seeded_stream_key(std::uint64_t seed, const std::string& name) {
  return fnv1a_64(name) ^ mix(seed + golden_gamma);
}

float seeded_value(std::uint64_t key, std::uint64_t index, float mean, float half_range) {
  const std::uint64_t bits = mix(key + (index + 1) * golden_gamma) >> 40;
  const float centred = static_cast<float>(static_cast<std::int32_t>(bits) - (1 << 23)) * 0x1p-23f;
  // Two rounded operations, as NumPy does: a fused one would give other bits (-ffp-contract=off).
  const float scaled = half_range * centred;
  return mean + scaled;
}

std::size_t fill_skeleton(const std::string& skeleton, std::uint64_t seed,
                          const std::string& output, Bytes largest_model) {
  onnx::ModelProto model = read_skeleton(skeleton);
  const std::vector<onnx::TensorProto*> seeded = seeded_tensors(&model);
  std::uint64_t total = model.ByteSizeLong();
  for (const onnx::TensorProto* tensor : seeded) total += bytes_of(skeleton, *tensor);
  std::optional<ExternalData> beside;
  if (total > largest_model.count()) {
    if (output == "-") {
      throw UserError(
          "the filled model is larger than an ONNX file can be and needs a second file: "
          "give -o FILE");
    }
    beside.emplace(output);
  }
  AtomicFile file(output);
  for (onnx::TensorProto* tensor : seeded) {
    std::string bytes = drawn_bytes(skeleton, seed, *tensor);
    tensor->clear_external_data();
    tensor->clear_data_location();
    if (beside) {
      beside->append(bytes, tensor);
    } else {
      tensor->set_raw_data(std::move(bytes));
    }
  }
  if (!model.SerializeToOstream(&file.stream())) {
    throw DeviceError(output + ": cannot be written");
  }
  if (beside) beside->commit();
  file.commit();
  return seeded.size();
}

}  // namespace fm
