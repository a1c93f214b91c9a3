// softmax, layer_norm and reduction: kernels in which work-items share a row.
#include "core/diagnostics.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

/// Expected values of an operator that maps each row of `x` to a row as long.
std::vector<double> by_row(
    const HostTensor& x,
    const std::function<std::vector<double>(const std::vector<double>&, std::size_t)>& map) {
  const auto columns = static_cast<std::size_t>(x.plan.shape.back());
  std::vector<double> expected;
  for (std::size_t row = 0; row * columns < x.values.size(); ++row) {
    const auto begin = x.values.begin() + static_cast<std::ptrdiff_t>(row * columns);
    const std::vector<double> mapped =
        map(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(columns)), row);
    expected.insert(expected.end(), mapped.begin(), mapped.end());
  }
  return expected;
}

std::vector<double> softmax_of(std::vector<double> row) {
  double top = row[0], sum = 0;
  for (const double value : row) top = std::max(top, value);
  for (double& value : row) sum += value = std::exp(value - top);
  for (double& value : row) value /= sum;
  return row;
}

void check_softmax(const Shape& shape, const Storage& storage) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(shape));
  HostTensor x = random_tensor("x", Layout::rows, shape, storage, -8, 8);
  HostTensor y = make_tensor("y", Layout::rows, shape, storage);
  run(build_softmax(x.plan, nullptr, 0.5f, y.plan), {&x, &y});
  expect_values(y, by_row(x, [](std::vector<double> row, std::size_t) {
                  for (double& value : row) value *= 0.5;
                  return softmax_of(row);
                }));
}

TEST(Softmax, SumsEveryRowToOne) {
  check_softmax({2, 5, 197}, half_buffer);
  check_softmax({2, 5, 197}, half_image);
  check_softmax({9, 197}, float_buffer);
  check_softmax({3, 2}, half_buffer);
  check_softmax({70, 11}, half_buffer);
  check_softmax({2, 1030}, half_buffer);
}

void check_masked_softmax(const Shape& shape, const Shape& mask_shape,
                          const std::function<std::size_t(std::size_t)>& mask_row) {
  SCOPED_TRACE(to_string(mask_shape));
  HostTensor x = random_tensor("x", Layout::rows, shape, half_buffer, -4, 4);
  HostTensor mask = random_tensor("mask", Layout::rows, mask_shape, half_buffer, -4, 4);
  HostTensor y = make_tensor("y", Layout::rows, shape, half_buffer);
  run(build_softmax(x.plan, &mask.plan, 1, y.plan), {&x, &mask, &y});
  expect_values(y, by_row(x, [&](std::vector<double> row, std::size_t index) {
                  for (std::size_t k = 0; k < row.size(); ++k) {
                    row[k] += mask.values[mask_row(index) * row.size() + k];
                  }
                  return softmax_of(row);
                }));
}

TEST(Softmax, BroadcastsItsMask) {
  const Shape shape{2, 3, 5, 7};
  check_masked_softmax(shape, {2, 3, 5, 7}, [](std::size_t row) { return row; });
  check_masked_softmax(shape, {5, 7}, [](std::size_t row) { return row % 5; });
  check_masked_softmax(shape, {2, 1, 1, 7}, [](std::size_t row) { return row / 15; });
  check_masked_softmax(shape, {2, 1, 5, 7}, [](std::size_t row) { return row / 15 * 5 + row % 5; });
  check_masked_softmax(shape, {7}, [](std::size_t) { return std::size_t{0}; });
  check_masked_softmax(shape, {1, 3, 1, 7}, [](std::size_t row) { return row / 5 % 3; });
  HostTensor x = random_tensor("x", Layout::rows, shape, half_buffer);
  HostTensor mask = random_tensor("mask", Layout::rows, {5, 1}, half_buffer);
  EXPECT_THROW(build_softmax(x.plan, &mask.plan, 1, x.plan), UserError);
}

void check_layer_norm(const Shape& shape, const Storage& storage, bool with_shift) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(shape));
  HostTensor x = random_tensor("x", Layout::rows, shape, storage, 2, 4);  // far from mean zero
  HostTensor weight = random_tensor("weight", Layout::rows, {shape.back()}, storage);
  HostTensor shift = random_tensor("shift", Layout::rows, {shape.back()}, storage);
  HostTensor y = make_tensor("y", Layout::rows, shape, storage);
  run(build_layer_norm(x.plan, weight.plan, with_shift ? &shift.plan : nullptr, 1e-3f, y.plan),
      {&x, &weight, &shift, &y});
  const auto expected = by_row(x, [&](std::vector<double> row, std::size_t) {
    double mean = 0, variance = 0;
    for (const double value : row) mean += value / static_cast<double>(row.size());
    for (const double value : row) {
      variance += (value - mean) * (value - mean) / static_cast<double>(row.size());
    }
    for (std::size_t k = 0; k < row.size(); ++k) {
      row[k] = (row[k] - mean) / std::sqrt(variance + 1e-3) * weight.values[k] +
               (with_shift ? shift.values[k] : 0);
    }
    return row;
  });
  expect_values(y, expected, 1e-5);
}

TEST(LayerNorm, NormalizesRows) {
  check_layer_norm({1, 5, 768}, half_buffer, true);
  check_layer_norm({1, 5, 768}, half_image, true);
  check_layer_norm({3, 35}, float_buffer, false);
  check_layer_norm({67, 6}, half_buffer, true);
}

double reduced(const std::vector<double>& values, Reduction kind) {
  double sum = 0, squares = 0, top = values[0], bottom = values[0], product = 1;
  for (const double value : values) {
    sum += value;
    squares += value * value;
    top = std::max(top, value);
    bottom = std::min(bottom, value);
    product *= value;
  }
  switch (kind) {
    case Reduction::sum:
      return sum;
    case Reduction::mean:
      return sum / static_cast<double>(values.size());
    case Reduction::maximum:
      return top;
    case Reduction::minimum:
      return bottom;
    case Reduction::product:
      return product;
    case Reduction::l2:
      return std::sqrt(squares);
    case Reduction::sum_square:
      return squares;
  }
  return 0;
}

void check_row_reduction(const Shape& shape, Reduction kind, const Storage& storage) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(shape));
  HostTensor x = random_tensor("x", Layout::rows, shape, storage, 0.5f, 1.25f);
  Shape reduced_shape = shape;
  reduced_shape.back() = 1;
  HostTensor y = make_tensor("y", Layout::rows, reduced_shape, storage);
  run(build_reduction(x.plan, y.plan, kind), {&x, &y});
  expect_values(y,
                by_row(x, [&](const std::vector<double>& row,
                              std::size_t) { return std::vector<double>{reduced(row, kind)}; }),
                1e-5);
}

TEST(Reduction, ReducesRowsOfEveryLength) {
  for (const Reduction kind :
       {Reduction::sum, Reduction::mean, Reduction::maximum, Reduction::minimum, Reduction::product,
        Reduction::l2, Reduction::sum_square}) {
    check_row_reduction({3, 7, 13}, kind, half_buffer);
  }
  check_row_reduction({2, 771}, Reduction::mean, half_image);
  check_row_reduction({5, 771}, Reduction::minimum, float_buffer);
}

void check_spatial_reduction(const Shape& shape, Reduction kind, const Storage& storage) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(shape));
  HostTensor x = random_tensor("x", Layout::channels, shape, storage);
  HostTensor y = make_tensor("y", Layout::channels, {shape[0], shape[1], 1, 1}, storage);
  run(build_reduction(x.plan, y.plan, kind), {&x, &y});
  const auto plane = static_cast<std::ptrdiff_t>(shape[2] * shape[3]);
  std::vector<double> expected;
  for (auto at = x.values.begin(); at != x.values.end(); at += plane) {
    expected.push_back(reduced(std::vector<double>(at, at + plane), kind));
  }
  expect_values(y, expected, 1e-5);
}

TEST(Reduction, ReducesPlanesOfChannels) {
  check_spatial_reduction({2, 10, 7, 7}, Reduction::mean, half_buffer);
  check_spatial_reduction({2, 10, 7, 7}, Reduction::mean, half_image);
  check_spatial_reduction({3, 5, 13, 9}, Reduction::maximum, half_buffer);
}

}  // namespace
}  // namespace fm
