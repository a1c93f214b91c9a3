#include "planner/seeded_weights.hpp"

#include <cstring>
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

void fill_tensor(const std::string& path, std::uint64_t seed, onnx::TensorProto* tensor) {
  if (tensor->data_type() != onnx::TensorProto::FLOAT) {
    throw UserError({path, 0, 0},
                    "tensor `" + tensor->name() + "`: seeded weights must be float32");
  }
  const float mean = fact_as_float(path, *tensor, "mean");
  const float half_range = fact_as_float(path, *tensor, "half_range");
  std::uint64_t count = 1;
  for (std::int64_t dimension : tensor->dims()) count *= static_cast<std::uint64_t>(dimension);
  const std::uint64_t key = seeded_stream_key(seed, tensor->name());
  std::string bytes(count * sizeof(float), '\0');
  for (std::uint64_t i = 0; i < count; ++i) {
    const float value = seeded_value(key, i, mean, half_range);
    std::memcpy(&bytes[i * sizeof(float)], &value, sizeof(float));
  }
  tensor->clear_external_data();
  tensor->clear_data_location();
  tensor->set_raw_data(std::move(bytes));
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
                          const std::string& output) {
  const std::string contents = [&] {
    std::ifstream file(skeleton, std::ios::binary);
    if (!file) throw UserError({skeleton, 0, 0}, "no such model file");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }();
  onnx::ModelProto model;
  if (contents.empty() || !model.ParseFromString(contents) || !model.has_graph()) {
    throw UserError({skeleton, 0, 0}, "is truncated or not an ONNX model");
  }
  std::size_t filled = 0;
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (external_fact(tensor, "location") != seeded_weights_location) continue;
    fill_tensor(skeleton, seed, &tensor);
    ++filled;
  }
  AtomicFile file(output);
  if (!model.SerializeToOstream(&file.stream())) {
    throw DeviceError(output + ": cannot be written");
  }
  file.commit();
  return filled;
}

}  // namespace fm
