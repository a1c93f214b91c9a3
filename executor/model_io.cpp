#include "executor/model_io.hpp"

#include <cmath>
#include <cstring>
#include <random>

#include "core/diagnostics.hpp"
#include "core/digest.hpp"

namespace fm {
namespace {

constexpr double half_maximum = 65504;
constexpr double two_pi = 6.283185307179586;

void check_shape(const std::string& where, const Shape& found, const Shape& wanted) {
  if (found == wanted) return;
  throw UserError(where + " has shape " + to_string(found) + ", the plan has " + to_string(wanted));
}

/// " for node `n`", the first that reads it; empty where none does.
std::string reader_of(const Plan& plan, const PlanTensor& tensor) {
  if (tensor.first_use.empty()) return "";
  const std::vector<std::string>& nodes = plan.launch(tensor.first_use).nodes;
  return nodes.empty() ? "" : " for node `" + nodes.front() + "`";
}

}  // namespace

std::vector<const PlanTensor*> tensors_of(const Plan& plan, TensorRole role) {
  std::vector<const PlanTensor*> found;
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.role == role) found.push_back(&tensor);
  }
  return found;
}

NpyArray input_from(const NpzReader& file, const Plan& plan, const PlanTensor& tensor) {
  const std::string prefixed = "input:" + tensor.name;
  if (!file.has(prefixed) && !file.has(tensor.name)) {
    throw UserError(file.path() + ": no array '" + prefixed + "' for the model's input; " +
                    accepted_words(prefixed, file.names()));
  }
  const std::string name = file.has(prefixed) ? prefixed : tensor.name;
  NpyArray array = file.read(name);
  check_shape(file.path() + ": array '" + name + "'", array.shape, tensor.shape);
  if (!array.in_range) {
    throw UserError(file.path() + ": array '" + name + "'" + reader_of(plan, tensor) + " has " +
                    (tensor.dtype == DataType::i32 ? "integers beyond 2^24, which"
                                                   : "numbers beyond single precision, which") +
                    " the device does not hold");
  }
  return array;
}

NpyArray random_input(const PlanTensor& tensor, std::uint64_t seed, std::int64_t integer_limit) {
  NpyArray array;
  array.shape = tensor.shape;
  array.values.resize(static_cast<std::size_t>(element_count(tensor.shape)));
  std::mt19937_64 bits(seed ^ checksum_of(tensor.name.data(), tensor.name.size()));
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; };
  for (float& value : array.values) {
    if (tensor.dtype == DataType::i32 || tensor.dtype == DataType::u8) {
      value = static_cast<float>((bits() >> 32) * static_cast<std::uint64_t>(integer_limit) >> 32);
    } else {  // Box and Muller, 1958
      value =
          static_cast<float>(std::sqrt(-2 * std::log(uniform())) * std::cos(two_pi * uniform()));
    }
  }
  return array;
}

std::vector<std::uint8_t> to_device_bytes(const PlanTensor& tensor, const NpyArray& array) {
  return pack(tensor.layout, tensor.dtype, tensor.shape, array.values.data());
}

NpyArray from_device_bytes(const PlanTensor& tensor, const std::vector<std::uint8_t>& bytes) {
  NpyArray array{tensor.shape, unpack(tensor.layout, tensor.dtype, tensor.shape, bytes.data()),
                 tensor.value_type};
  const ElementType type = tensor.value_type;
  const bool real =
      type == ElementType::float32 || type == ElementType::float16 || type == ElementType::float64;
  for (const float value : array.values) {
    if (real || std::abs(value) < static_cast<float>(largest_exact_integer)) continue;
    throw UserError("output `" + tensor.name + "` of " + to_string(type) + " has the value " +
                    std::to_string(value) + ": integers from 2^24 on are not exact on the device");
  }
  return array;
}

namespace {

double bar_of(const NpzReader& reference, const PlanTensor& tensor, DataType storage, BarKind bars,
              std::optional<double> tolerance) {
  if (tolerance) return *tolerance;
  if (storage == DataType::f32 && bars == BarKind::by_storage) return float_bar;
  const std::string name = "half_error:" + tensor.name;
  if (!reference.has(name)) {
    throw UserError(reference.path() + ": no '" + name +
                    "', the error of half storage that sets the bar; give --tolerance");
  }
  const NpyArray error = reference.read(name);
  if (error.values.size() != 1)
    throw UserError(reference.path() + ": '" + name + "' is not one number");
  return half_error_factor * static_cast<double>(error.values[0]);
}

}  // namespace

OutputComparison compare_output(const NpzReader& reference, const PlanTensor& tensor,
                                const NpyArray& output, DataType storage, BarKind bars,
                                std::optional<double> tolerance) {
  const std::string name = "output:" + tensor.name;
  if (!reference.has(name)) {
    throw UserError(reference.path() + ": no array '" + name + "'; " +
                    accepted_words(name, reference.names()));
  }
  const NpyArray expected = reference.read(name);
  check_shape(reference.path() + ": array '" + name + "'", expected.shape, output.shape);
  OutputComparison result;
  result.name = tensor.name;
  result.bar = bar_of(reference, tensor, storage, bars, tolerance);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double want = expected.values[i], got = output.values[i];
    if (std::isnan(want)) continue;
    if (std::isnan(got)) {
      ++result.nan_count;
      continue;
    }
    if (std::abs(want) > half_maximum) ++result.beyond_half;
    difference += (got - want) * (got - want);
    norm += want * want;
  }
  // A reference of zeros proves nothing unless the output is zero too.
  result.relative_error =
      norm > 0 ? std::sqrt(difference / norm) : (difference > 0 ? HUGE_VAL : 0.0);
  return result;
}

}  // namespace fm
