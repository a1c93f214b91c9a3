#pragma once
// Random chains of movement operators, as index maps and, independently, on the elements
// themselves.

#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "planner/layout/index_map.hpp"

namespace fm {

/// Elements numbered in row-major order.
struct Numbered {
  Shape shape;
  std::vector<std::int64_t> elements;

  static Numbered dense(const Shape& shape) {
    Numbered result{shape,
                    std::vector<std::int64_t>(static_cast<std::size_t>(element_count(shape)))};
    std::iota(result.elements.begin(), result.elements.end(), 0);
    return result;
  }
  std::int64_t& at(const Shape& index) { return elements[flat(index)]; }
  std::int64_t at(const Shape& index) const { return elements[flat(index)]; }

 private:
  std::size_t flat(const Shape& index) const {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
    return static_cast<std::size_t>(flat);
  }
};

inline void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  for (std::int64_t n = 0; n < element_count(shape); ++n) {
    visit(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

/// A tensor of `shape` whose element at an index is that of `from` at source(index).
inline Numbered rearranged(const Numbered& from, const Shape& shape,
                           const std::function<Shape(const Shape&)>& source) {
  Numbered result = Numbered::dense(shape);
  for_each_index(shape, [&](const Shape& index) { result.at(index) = from.at(source(index)); });
  return result;
}

/// A map and what it must be.
struct MovedTensor {
  Shape base;
  IndexMap map;
  Numbered elements;
};

class MovementChains {
 public:
  explicit MovementChains(unsigned seed) : generator_(seed) {}

  MovedTensor make(const Shape& base, int length) {
    MovedTensor tensor{base, IndexMap(base), Numbered::dense(base)};
    for (int i = 0; i < length; ++i) step(&tensor);
    return tensor;
  }

 private:
  std::size_t below(std::size_t limit) { return generator_() % limit; }

  void step(MovedTensor* tensor) {
    const Shape shape = tensor->map.shape();
    switch (below(6)) {
      case 0:
        return reshape(tensor, random_factors(element_count(shape)));
      case 1:
        return transpose(tensor, shape);
      case 2:
        return slice(tensor, shape);
      case 3:
        return gather(tensor, shape);
      case 4:
        return blocks(tensor, element_count(shape));
      default:
        return reshape(tensor, random_factors(element_count(shape)));
    }
  }

  Shape random_factors(std::int64_t count) {
    Shape shape;
    while (count > 1 && shape.size() < 5) {
      std::int64_t factor = 1;
      for (std::int64_t candidate : {2, 3, 4, 5, 6, 7, 8, 12}) {
        if (count % candidate == 0 && below(3) == 0) factor = candidate;
      }
      if (factor == 1 && below(4) != 0) continue;
      shape.push_back(factor);
      count /= factor;
    }
    shape.push_back(count);
    return shape;
  }

  void reshape(MovedTensor* tensor, const Shape& shape) {
    tensor->map = reshaped(tensor->map, shape);
    tensor->elements.shape = shape;
  }

  void transpose(MovedTensor* tensor, const Shape& shape) {
    std::vector<std::int64_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator_);
    Shape result;
    for (std::int64_t d : order) result.push_back(shape[static_cast<std::size_t>(d)]);
    tensor->map = transposed(tensor->map, order);
    tensor->elements = rearranged(tensor->elements, result, [&](const Shape& index) {
      Shape source(index.size());
      for (std::size_t d = 0; d < index.size(); ++d) {
        source[static_cast<std::size_t>(order[d])] = index[d];
      }
      return source;
    });
  }

  void slice(MovedTensor* tensor, const Shape& shape) {
    const std::size_t d = below(shape.size());
    if (shape[d] < 3) return;
    const bool backwards = below(3) == 0;
    std::vector<std::int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
    Shape extents = shape;
    steps[d] = backwards ? -1 : static_cast<std::int64_t>(1 + below(2));
    starts[d] = backwards ? shape[d] - 1 : static_cast<std::int64_t>(below(2));
    extents[d] = backwards ? shape[d] - 1 : (shape[d] - starts[d] + steps[d] - 1) / steps[d];
    tensor->map = sliced(tensor->map, starts, steps, extents);
    tensor->elements = rearranged(tensor->elements, extents, [&](const Shape& index) {
      Shape source = index;
      source[d] = starts[d] + steps[d] * index[d];
      return source;
    });
  }

  void gather(MovedTensor* tensor, const Shape& shape) {
    const std::size_t d = below(shape.size());
    if (shape[d] < 4) return;
    const std::vector<std::int64_t> positions = {-1, shape[d] - 2, -3};
    const auto map = taken(tensor->map, d, positions, {3});
    ASSERT_TRUE(map.has_value());
    Shape result = shape;
    result[d] = 3;
    tensor->map = *map;
    tensor->elements = rearranged(tensor->elements, result, [&](const Shape& index) {
      Shape source = index;
      source[d] = shape[d] - 1 - index[d];
      return source;
    });
  }

  /// DepthToSpace and SpaceToDepth by their definitions in ONNX, where the count allows.
  void blocks(MovedTensor* tensor, std::int64_t count) {
    if (count % 16 != 0) return;
    const Shape s = {1, 4, 2, count / 8};
    reshape(tensor, s);
    if (below(2) == 0 && s[3] % 2 == 0) {
      tensor->map = space_to_depth(tensor->map, 2);
      tensor->elements =
          rearranged(tensor->elements, {1, 16, 1, s[3] / 2}, [](const Shape& i) -> Shape {
            const std::int64_t block = i[1] / 4;
            return {i[0], i[1] % 4, i[2] * 2 + block / 2, i[3] * 2 + block % 2};
          });
      return;
    }
    const bool column_row = below(2) == 0;
    tensor->map = depth_to_space(tensor->map, 2, column_row);
    tensor->elements =
        rearranged(tensor->elements, {1, 1, 4, s[3] * 2}, [&](const Shape& i) -> Shape {
          const std::int64_t h = i[2] % 2, w = i[3] % 2;
          const std::int64_t channel = column_row ? i[1] * 4 + h * 2 + w : (h * 2 + w) * 1 + i[1];
          return {i[0], channel, i[2] / 2, i[3] / 2};
        });
  }

  std::mt19937 generator_;
};

}  // namespace fm
