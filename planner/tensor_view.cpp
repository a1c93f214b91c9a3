#include "planner/tensor_view.hpp"

#include <algorithm>

namespace fm {

std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

TensorView whole_view(const Shape& shape) { return {shape, dense_strides(shape), 0}; }

namespace {

struct Run {
  std::int64_t extent, stride;
};

/// Dimensions of extent 1 dropped and neighbours that form one dense run joined.
std::vector<Run> joined_runs(const TensorView& view) {
  std::vector<Run> runs;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) continue;
    if (!runs.empty() && runs.back().stride == view.strides[d] * view.shape[d]) {
      runs.back().extent *= view.shape[d];
      runs.back().stride = view.strides[d];
    } else {
      runs.push_back({view.shape[d], view.strides[d]});
    }
  }
  return runs;
}

}  // namespace

std::optional<TensorView> reshaped(const TensorView& view, const Shape& shape) {
  std::vector<Run> runs = joined_runs(view);
  TensorView result{shape, std::vector<std::int64_t>(shape.size(), 1), view.offset};
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (runs.empty() || runs.back().extent % shape[d] != 0) return std::nullopt;
    result.strides[d] = runs.back().stride;
    runs.back().extent /= shape[d];
    runs.back().stride *= shape[d];
    if (runs.back().extent == 1) runs.pop_back();
  }
  return result;
}

TensorView transposed(const TensorView& view, const std::vector<std::int64_t>& permutation) {
  TensorView result{{}, {}, view.offset};
  for (std::int64_t source : permutation) {
    result.shape.push_back(view.shape[static_cast<std::size_t>(source)]);
    result.strides.push_back(view.strides[static_cast<std::size_t>(source)]);
  }
  return result;
}

TensorView sliced(const TensorView& view, const std::vector<std::int64_t>& starts,
                  const std::vector<std::int64_t>& steps, const Shape& extents) {
  TensorView result = view;
  result.shape = extents;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    result.offset += starts[d] * view.strides[d];
    result.strides[d] = view.strides[d] * steps[d];
  }
  return result;
}

TensorView expanded(const TensorView& view, const Shape& shape) {
  TensorView result{shape, std::vector<std::int64_t>(shape.size(), 0), view.offset};
  const std::size_t lead = shape.size() - view.shape.size();
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] != 1 || shape[lead + d] == 1) result.strides[lead + d] = view.strides[d];
  }
  return result;
}

bool is_whole(const TensorView& view, std::int64_t element_total) {
  if (view.offset != 0 || element_count(view.shape) != element_total) return false;
  const std::vector<std::int64_t> dense = dense_strides(view.shape);
  for (std::size_t d = 0; d < dense.size(); ++d) {
    if (view.shape[d] != 1 && view.strides[d] != dense[d]) return false;
  }
  return true;
}

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

}  // namespace fm
