#include "planner/layout/index_map.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace fm {
namespace {

/// Indices of the dimensions of `shape` whose row-major element is `flat`.
std::vector<IndexExpression> unflattened(const IndexExpression& flat, const Shape& shape) {
  const std::vector<std::int64_t> strides = dense_strides(shape);
  std::vector<IndexExpression> index;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    index.push_back(shape[d] <= 1 ? IndexExpression(0)
                                  : remainder(quotient(flat, strides[d]), shape[d]));
  }
  return index;
}

IndexExpression flattened(const std::vector<IndexExpression>& index, const TensorView& view) {
  IndexExpression flat(view.offset);
  for (std::size_t d = 0; d < index.size(); ++d) flat = flat + index[d] * view.strides[d];
  return flat;
}

std::vector<std::size_t> by_falling_stride(const TensorView& view) {
  std::vector<std::size_t> order(view.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return view.strides[a] > view.strides[b]; });
  return order;
}

}  // namespace

std::optional<TensorView> IndexMap::strided() const {
  if (stages_.size() == 1) return stages_.front();
  return std::nullopt;
}

IndexExpression IndexMap::element(const std::vector<IndexExpression>& index) const {
  IndexExpression flat = flattened(index, stages_.back());
  for (std::size_t s = stages_.size() - 1; s-- > 0;) {
    flat = flattened(unflattened(flat, stages_[s].shape), stages_[s]);
  }
  return flat;
}

std::int64_t IndexMap::element(const Shape& index) const {
  return element(std::vector<IndexExpression>(index.begin(), index.end())).constant();
}

void IndexMap::collapse() {
  if (stages_.size() == 1 || element_count(shape()) == 0) return;
  std::vector<IndexExpression> index;
  for (std::size_t d = 0; d < shape().size(); ++d) {
    index.push_back(IndexExpression::variable("i" + std::to_string(d), shape()[d]));
  }
  const IndexExpression flat = element(index);
  if (!flat.is_linear()) return;
  TensorView view{shape(), {}, flat.constant()};
  for (std::size_t d = 0; d < index.size(); ++d) {
    view.strides.push_back(flat.coefficient_of("i" + std::to_string(d)));
  }
  stages_ = {std::move(view)};
}

IndexMap IndexMap::through(const TensorView& view) const {
  IndexMap result = *this;
  result.stages_.push_back(view);
  result.collapse();
  return result;
}

IndexMap IndexMap::then(const IndexMap& next) const {
  IndexMap result = *this;
  for (const TensorView& view : next.stages_) result = result.through(view);
  return result;
}

bool operator==(const IndexMap& a, const IndexMap& b) {
  const auto same = [](const TensorView& p, const TensorView& q) {
    return p.shape == q.shape && p.strides == q.strides && p.offset == q.offset;
  };
  return a.stages_.size() == b.stages_.size() &&
         std::equal(a.stages_.begin(), a.stages_.end(), b.stages_.begin(), same);
}

namespace {

/// The last stage replaced by `change` of it.
template <class Change>
IndexMap with_last(const IndexMap& map, const Change& change) {
  const std::vector<TensorView>& stages = map.stages();
  IndexMap result(stages.size() == 1 ? change(stages.front()) : stages.front());
  for (std::size_t s = 1; s < stages.size(); ++s) {
    result = result.through(s + 1 == stages.size() ? change(stages[s]) : stages[s]);
  }
  return result;
}

}  // namespace

IndexMap reshaped(const IndexMap& map, const Shape& shape) {
  if (const auto view = reshaped(map.stages().back(), shape)) {
    return with_last(map, [&](const TensorView&) { return *view; });
  }
  return map.through(whole_view(shape));
}

IndexMap transposed(const IndexMap& map, const std::vector<std::int64_t>& permutation) {
  return with_last(map, [&](const TensorView& view) { return transposed(view, permutation); });
}

IndexMap sliced(const IndexMap& map, const std::vector<std::int64_t>& starts,
                const std::vector<std::int64_t>& steps, const Shape& extents) {
  return with_last(map,
                   [&](const TensorView& view) { return sliced(view, starts, steps, extents); });
}

IndexMap expanded(const IndexMap& map, const Shape& shape) {
  return with_last(map, [&](const TensorView& view) { return expanded(view, shape); });
}

std::optional<IndexMap> taken(const IndexMap& map, std::size_t axis,
                              const std::vector<std::int64_t>& positions, const Shape& indices) {
  if (positions.empty()) return std::nullopt;
  const std::int64_t extent = map.shape()[axis];
  std::vector<std::int64_t> at = positions;
  for (std::int64_t& position : at) {
    if (position < 0) position += extent;
    if (position < 0 || position >= extent) return std::nullopt;
  }
  const std::int64_t step = at.size() > 1 ? at[1] - at[0] : 1;
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (at[i] - at[i - 1] != step) return std::nullopt;
  }
  std::vector<std::int64_t> starts(map.shape().size(), 0), steps(map.shape().size(), 1);
  Shape extents = map.shape();
  starts[axis] = at[0];
  steps[axis] = step;
  extents[axis] = static_cast<std::int64_t>(at.size());
  Shape shape = map.shape();
  const auto place = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(place, indices.begin(), indices.end());
  return reshaped(sliced(map, starts, steps, extents), shape);
}

IndexMap depth_to_space(const IndexMap& map, std::int64_t block, bool column_row) {
  const Shape& s = map.shape();
  const std::int64_t depth = s[1] / (block * block);
  const Shape split = column_row ? Shape{s[0], depth, block, block, s[2], s[3]}
                                 : Shape{s[0], block, block, depth, s[2], s[3]};
  const std::vector<std::int64_t> order = column_row ? std::vector<std::int64_t>{0, 1, 4, 2, 5, 3}
                                                     : std::vector<std::int64_t>{0, 3, 4, 1, 5, 2};
  return reshaped(transposed(reshaped(map, split), order),
                  {s[0], depth, s[2] * block, s[3] * block});
}

IndexMap space_to_depth(const IndexMap& map, std::int64_t block) {
  const Shape& s = map.shape();
  const Shape split = {s[0], s[1], s[2] / block, block, s[3] / block, block};
  return reshaped(transposed(reshaped(map, split), {0, 3, 5, 1, 2, 4}),
                  {s[0], s[1] * block * block, s[2] / block, s[3] / block});
}

namespace {

std::optional<IndexMap> inverse_of_view(const TensorView& view, const Shape& base) {
  if (view.offset != 0 || element_count(view.shape) != element_count(base)) return std::nullopt;
  // The dimensions in the base's order must be a dense tensor; ones may stand anywhere.
  std::vector<std::int64_t> order;
  Shape in_base_order;
  for (std::size_t d : by_falling_stride(view)) {
    if (view.shape[d] != 1) order.push_back(static_cast<std::int64_t>(d));
  }
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) order.push_back(static_cast<std::int64_t>(d));
  }
  std::int64_t stride = element_count(base);
  for (std::int64_t d : order) {
    const auto at = static_cast<std::size_t>(d);
    in_base_order.push_back(view.shape[at]);
    if (view.shape[at] == 1) continue;
    if (view.strides[at] * view.shape[at] != stride) return std::nullopt;
    stride = view.strides[at];
  }
  return reshaped(transposed(IndexMap(view.shape), order), base);
}

}  // namespace

std::optional<IndexMap> inverse(const IndexMap& map, const Shape& base) {
  IndexMap result(map.shape());
  const std::vector<TensorView>& stages = map.stages();
  for (std::size_t s = stages.size(); s-- > 0;) {
    const auto back = inverse_of_view(stages[s], s == 0 ? base : stages[s - 1].shape);
    if (!back) return std::nullopt;
    result = result.then(*back);
  }
  return result;
}

}  // namespace fm
