// gather for each element, scatter and scan: linear tensors around one axis.
#include "core/diagnostics.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

const Storage index_buffer{DataType::i32, Placement::buffer};

HostTensor indices_of(const Shape& shape, std::vector<float> values) {
  HostTensor indices = make_tensor("i", Layout::linear, shape, index_buffer);
  indices.values = std::move(values);
  return indices;
}

TEST(GatherElements, TakesAnIndexForEachElement) {
  for (const Storage& storage : {float_buffer, half_buffer}) {
    HostTensor x = random_tensor("x", Layout::linear, {2, 4, 3}, storage);
    HostTensor at = indices_of({2, 2, 3}, {0, 3, -1, 1, 1, 2, -4, 0, 0, 2, 3, 1});
    HostTensor y = make_tensor("y", Layout::linear, {2, 2, 3}, storage);
    run(build_gather_elements(x.plan, at.plan, y.plan, 1), {&x, &at, &y});
    for_each_index({2, 2, 3}, [&](const Shape& i) {
      const std::size_t flat = flat_index({2, 2, 3}, i);
      auto from = static_cast<std::int64_t>(at.values[flat]);
      if (from < 0) from += 4;
      EXPECT_EQ(y.values[flat], x.values[flat_index({2, 4, 3}, {i[0], from, i[2]})]);
    });
  }
}

TEST(GatherElements, RefusesOtherShapes) {
  const HostTensor x = make_tensor("x", Layout::linear, {4, 3}, float_buffer);
  const HostTensor y = make_tensor("y", Layout::linear, {2, 2}, float_buffer);
  const HostTensor at = indices_of({2, 2}, {0, 0, 0, 0});
  EXPECT_THROW(build_gather_elements(x.plan, at.plan, y.plan, 0), UserError);
}

/// Update by update, as the operator is defined.
std::vector<float> scattered(const HostTensor& x, const HostTensor& at, const HostTensor& updates,
                             ScatterCombination combination) {
  std::vector<float> result = x.values;
  const Shape& whole = x.plan.shape;
  for_each_index(updates.plan.shape, [&](const Shape& i) {
    const std::size_t flat = flat_index(updates.plan.shape, i);
    const bool shared = at.plan.shape.size() == 1;
    auto to = static_cast<std::int64_t>(at.values[shared ? static_cast<std::size_t>(i[1]) : flat]);
    if (to < 0) to += whole[1];
    if (to < 0 || to >= whole[1]) return;
    float& place = result[flat_index(whole, {i[0], to, i[2]})];
    const float update = updates.values[flat];
    place = combination == ScatterCombination::add        ? place + update
            : combination == ScatterCombination::multiply ? place * update
                                                          : update;
  });
  return result;
}

TEST(Scatter, CombinesUpdatesInTheirOrder) {
  const Shape whole{2, 5, 3}, part{2, 4, 3};
  for (const ScatterCombination combination :
       {ScatterCombination::replace, ScatterCombination::add, ScatterCombination::multiply}) {
    for (const bool shared : {false, true}) {
      HostTensor x = random_tensor("x", Layout::linear, whole, float_buffer);
      HostTensor updates = random_tensor("u", Layout::linear, part, float_buffer);
      HostTensor at = shared ? indices_of({4}, {3, -5, 3, 7})
                             : indices_of(part, {0, 1, 2, 3, 4, 0, -1, -5, 3, 0,  0,  9,
                                                 4, 4, 4, 4, 4, 4, 1,  1,  1, -2, -3, -9});
      HostTensor y = make_tensor("y", Layout::linear, whole, float_buffer);
      run(build_scatter(x.plan, at.plan, updates.plan, y.plan, 1, combination),
          {&x, &at, &updates, &y});
      EXPECT_EQ(y.values, scattered(x, at, updates, combination));
    }
  }
}

TEST(Scan, SumsAlongEveryAxisBothWays) {
  const Shape shape{3, 4, 5};
  for (const int axis : {0, 1, 2}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        HostTensor x = random_tensor("x", Layout::linear, shape, float_buffer);
        HostTensor y = make_tensor("y", Layout::linear, shape, float_buffer);
        run(build_scan(x.plan, y.plan, axis, exclusive, reverse), {&x, &y});
        std::vector<double> expected;
        const auto d = static_cast<std::size_t>(axis);
        for_each_index(shape, [&](const Shape& at) {
          double sum = 0;
          for (std::int64_t i = 0; i < shape[d]; ++i) {
            const std::int64_t ahead = reverse ? i - at[d] : at[d] - i;
            if (ahead < 0 || (exclusive && ahead == 0)) continue;
            Shape from = at;
            from[d] = i;
            sum += x.values[flat_index(shape, from)];
          }
          expected.push_back(sum);
        });
        expect_values(y, expected);
      }
    }
  }
}

}  // namespace
}  // namespace fm
