#pragma once
// Tensor contents on the host: constants while the planner folds them and `fmplan pack` writes
// them.

#include <cstdint>
#include <vector>

#include "core/graph.hpp"

namespace fm {

/// Row-major contents. Exactly one of the vectors is filled: `reals` for floating types, `integers`
/// for the others.
struct HostTensor {
  ElementType type = ElementType::float32;
  Shape shape;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;

  bool is_real() const;
};

bool is_real(ElementType type);
/// Bytes of one element as ONNX stores it.
std::size_t element_bytes(ElementType type);

HostTensor real_tensor(const Shape& shape, std::vector<float> values);
HostTensor integer_tensor(const Shape& shape, std::vector<std::int64_t> values);

/// Little-endian row-major bytes (ConstantData::bytes, ONNX raw_data) -> values, and back.
/// Throws UserError when `bytes` is not the size that type and shape need.
HostTensor tensor_from_bytes(ElementType type, const Shape& shape, const std::uint8_t* bytes,
                             std::size_t size);
std::vector<std::uint8_t> bytes_of(const HostTensor& tensor);

}  // namespace fm
