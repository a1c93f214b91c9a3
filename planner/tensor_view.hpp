#pragma once
// Strided views: what Reshape, Transpose, Slice, Squeeze and Expand do to a tensor, without moving
// a byte.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tensor_layout.hpp"

namespace fm {

/// Element [i0, i1, ..] of the view is element `offset + sum_d i_d * strides[d]` of the base
/// tensor's row-major order.
struct TensorView {
  Shape shape;
  std::vector<std::int64_t> strides;  ///< in elements; 0 repeats, negative runs backwards
  std::int64_t offset = 0;
};

/// Row-major strides of a dense tensor.
std::vector<std::int64_t> dense_strides(const Shape& shape);
TensorView whole_view(const Shape& shape);

/// The view with another shape of the same element count; nullopt when no strides express it.
std::optional<TensorView> reshaped(const TensorView& view, const Shape& shape);
/// Dimension d of the result is dimension permutation[d] of the view.
TensorView transposed(const TensorView& view, const std::vector<std::int64_t>& permutation);
/// Every dimension: `extent` elements from `start` in steps of `step` (not 0).
TensorView sliced(const TensorView& view, const std::vector<std::int64_t>& starts,
                  const std::vector<std::int64_t>& steps, const Shape& extents);
/// NumPy broadcasting to `shape`, which the view's shape must fit.
TensorView expanded(const TensorView& view, const Shape& shape);

/// The view is all of a tensor of `element_total` elements in row-major order, whatever its shape.
bool is_whole(const TensorView& view, std::int64_t element_total);

/// Copies the viewed elements of `base` into row-major order.
template <class T>
std::vector<T> gathered(const TensorView& view, const std::vector<T>& base) {
  std::vector<T> result;
  const std::int64_t total = element_count(view.shape);
  result.reserve(static_cast<std::size_t>(total));
  Shape index(view.shape.size(), 0);
  std::int64_t position = view.offset;
  for (std::int64_t n = 0; n < total; ++n) {
    result.push_back(base[static_cast<std::size_t>(position)]);
    for (std::size_t d = view.shape.size(); d-- > 0;) {
      position += view.strides[d];
      if (++index[d] < view.shape[d]) break;
      position -= view.strides[d] * view.shape[d];
      index[d] = 0;
    }
  }
  return result;
}

/// NumPy broadcasting of two shapes; nullopt when they do not fit.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);

}  // namespace fm
