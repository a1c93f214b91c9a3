#include "planner/host_tensor.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

template <class Stored, class Value>
void read_as(const std::uint8_t* bytes, std::size_t count, std::vector<Value>* values) {
  values->resize(count);
  if constexpr (std::is_same_v<Stored, Value>) {
    if (count != 0) std::memcpy(values->data(), bytes, count * sizeof(Stored));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
    (*values)[i] = static_cast<Value>(stored);
  }
}

void check_single_precision(const std::uint8_t* bytes, const std::vector<float>& rounded) {
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    double value;
    std::memcpy(&value, bytes + i * sizeof(value), sizeof(value));
    if (std::isinf(rounded[i]) && !std::isinf(value)) {
      throw UserError("contents hold " + std::to_string(value) + ", beyond single precision");
    }
  }
}

template <class Stored, class Value>
void write_as(const std::vector<Value>& values, std::vector<std::uint8_t>* bytes) {
  bytes->resize(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored stored = static_cast<Stored>(values[i]);
    std::memcpy(bytes->data() + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

}  // namespace

bool is_real(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float16 ||
         type == ElementType::float64;
}

bool HostTensor::is_real() const { return fm::is_real(type); }

std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::float32:
    case ElementType::int32:
      return 4;
    case ElementType::float16:
      return 2;
    case ElementType::int64:
    case ElementType::float64:
      return 8;
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::boolean:
      return 1;
  }
  return 0;
}

HostTensor real_tensor(const Shape& shape, std::vector<float> values) {
  return {ElementType::float32, shape, std::move(values), {}};
}

HostTensor integer_tensor(const Shape& shape, std::vector<std::int64_t> values) {
  return {ElementType::int64, shape, {}, std::move(values)};
}

HostTensor tensor_from_bytes(ElementType type, const Shape& shape, const std::uint8_t* bytes,
                             std::size_t size) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (size != count * element_bytes(type)) {
    throw UserError("contents of " + std::to_string(size) + " bytes do not fit shape " +
                    to_string(shape) + " of " + to_string(type));
  }
  HostTensor tensor{type, shape, {}, {}};
  switch (type) {
    case ElementType::float32:
      read_as<float>(bytes, count, &tensor.reals);
      break;
    case ElementType::float64:
      read_as<double>(bytes, count, &tensor.reals);
      check_single_precision(bytes, tensor.reals);
      break;
    case ElementType::float16: {
      std::vector<std::uint16_t> halves;
      read_as<std::uint16_t>(bytes, count, &halves);
      tensor.reals.reserve(count);
      for (std::uint16_t half : halves) tensor.reals.push_back(float_from_half(half));
      break;
    }
    case ElementType::int64:
      read_as<std::int64_t>(bytes, count, &tensor.integers);
      break;
    case ElementType::int32:
      read_as<std::int32_t>(bytes, count, &tensor.integers);
      break;
    case ElementType::int8:
      read_as<std::int8_t>(bytes, count, &tensor.integers);
      break;
    case ElementType::uint8:
    case ElementType::boolean:
      read_as<std::uint8_t>(bytes, count, &tensor.integers);
      break;
  }
  return tensor;
}

std::vector<std::uint8_t> bytes_of(const HostTensor& tensor) {
  std::vector<std::uint8_t> bytes;
  switch (tensor.type) {
    case ElementType::float32:
      write_as<float>(tensor.reals, &bytes);
      break;
    case ElementType::float64:
      write_as<double>(tensor.reals, &bytes);
      break;
    case ElementType::float16: {
      std::vector<std::uint16_t> halves;
      for (float value : tensor.reals) halves.push_back(half_from_float(value));
      write_as<std::uint16_t>(halves, &bytes);
      break;
    }
    case ElementType::int64:
      write_as<std::int64_t>(tensor.integers, &bytes);
      break;
    case ElementType::int32:
      write_as<std::int32_t>(tensor.integers, &bytes);
      break;
    case ElementType::int8:
      write_as<std::int8_t>(tensor.integers, &bytes);
      break;
    case ElementType::uint8:
    case ElementType::boolean:
      write_as<std::uint8_t>(tensor.integers, &bytes);
      break;
  }
  return bytes;
}

}  // namespace fm
