// Attention against softmax(scale * Q K^T + mask) V in double precision.
#include <cmath>
#include <limits>

#include "core/diagnostics.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

struct AttentionCase {
  Shape batch;
  std::int64_t queries = 1, keys = 1, depth = 4, columns = 4;
  Shape mask;  ///< none when empty
  float scale = 0.25f;
  float spread = 1;  ///< queries and keys are uniform in [-spread, spread]
};

Shape with(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.insert(batch.end(), {rows, columns});
  return batch;
}

/// Element of `mask` for an index of the scores.
std::size_t broadcast_index(const Shape& mask, const Shape& at) {
  Shape own(at.end() - static_cast<std::ptrdiff_t>(mask.size()), at.end());
  for (std::size_t d = 0; d < mask.size(); ++d) own[d] = mask[d] == 1 ? 0 : own[d];
  return flat_index(mask, own);
}

struct Operands {
  HostTensor query, key, value, mask, y;

  Operands(const AttentionCase& c, const Storage& storage)
      : query(random_tensor("query", Layout::rows, with(c.batch, c.queries, c.depth), storage,
                            -c.spread, c.spread)),
        key(random_tensor("key", Layout::rows, with(c.batch, c.keys, c.depth), storage, -c.spread,
                          c.spread)),
        value(random_tensor("value", Layout::rows, with(c.batch, c.keys, c.columns), storage)),
        mask(random_tensor("mask", Layout::rows, c.mask.empty() ? Shape{1} : c.mask, storage, -4,
                           4)),
        y(make_tensor("y", Layout::rows, with(c.batch, c.queries, c.columns), storage)) {}

  AttentionOperands plan(const AttentionCase& c) const {
    AttentionOperands operands{};
    operands.query = &query.plan;
    operands.key = &key.plan;
    operands.value = &value.plan;
    operands.mask = c.mask.empty() ? nullptr : &mask.plan;
    operands.scale = c.scale;
    operands.y = &y.plan;
    return operands;
  }
};

/// softmax over the keys of one query; `largest_score` becomes at least the magnitude of each
/// finite score.
std::vector<double> weights_of(const AttentionCase& c, const Operands& o, Shape at,
                               double* largest_score) {
  std::vector<double> weights;
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  const Shape batch(at.begin(), at.end() - 2);
  for (std::int64_t k = 0; k < c.keys; ++k) {
    double score = 0;
    for (std::int64_t d = 0; d < c.depth; ++d) {
      score +=
          double{o.query.values[flat_index(o.query.plan.shape, with(batch, at.end()[-2], d))]} *
          o.key.values[flat_index(o.key.plan.shape, with(batch, k, d))];
    }
    score *= c.scale;
    at.back() = k;
    if (!c.mask.empty()) score += o.mask.values[broadcast_index(c.mask, at)];
    weights.push_back(score);
    top = std::max(top, score);
    if (std::isfinite(score)) *largest_score = std::max(*largest_score, std::abs(score));
  }
  for (double& weight : weights) sum += weight = std::exp(weight - top);
  for (double& weight : weights) weight /= sum;
  return weights;
}

void expect_attention(const AttentionCase& c, Operands& o) {
  std::vector<double> expected;
  double largest_score = 0;
  for_each_index(with(c.batch, c.queries, 1), [&](const Shape& at) {
    const std::vector<double> weights = weights_of(c, o, at, &largest_score);
    const Shape batch(at.begin(), at.end() - 2);
    for (std::int64_t column = 0; column < c.columns; ++column) {
      double sum = 0;
      for (std::int64_t k = 0; k < c.keys; ++k) {
        sum += weights[static_cast<std::size_t>(k)] *
               o.value.values[flat_index(o.value.plan.shape, with(batch, k, column))];
      }
      expected.push_back(sum);
    }
  });
  // Half weights of values up to one: their rounding errors add to at most one rounding of one.
  // Single precision: a score's rounding error is the relative error of its exponential.
  const double slack =
      o.y.plan.dtype == DataType::f16 ? 1.0 / 2048 : 1e-5 + largest_score * 0x1p-23;
  expect_values(o.y, expected, slack);
}

void check_attention(const AttentionCase& c, const Storage& storage,
                     const AttentionTile& tile = {}) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(with(c.batch, c.queries, c.keys)) +
               to_string(Shape{c.depth, c.columns}) + " mask " + to_string(c.mask));
  Operands o(c, storage);
  const PlanLaunch launch = build_attention(o.plan(c), tile);
  EXPECT_EQ(launch.macs, static_cast<std::uint64_t>(element_count(c.batch) * c.queries * c.keys *
                                                    (c.depth + c.columns)));
  run(launch, {&o.query, &o.key, &o.value, &o.mask, &o.y});
  expect_attention(c, o);
}

TEST(Attention, MixesTheValues) {
  const AttentionCase tokens{{3}, 37, 37, 16, 16, {}};
  const AttentionCase odd{{2, 2}, 13, 70, 10, 7, {}};  // padding lanes in keys, depth and columns
  for (const Storage& storage : {half_buffer, float_buffer, half_image, float_image}) {
    check_attention(tokens, storage);
    check_attention(odd, storage);
  }
}

TEST(Attention, ServesOneQueryAndOneKey) {
  check_attention({{}, 1, 1, 4, 4, {}}, half_buffer);
  check_attention({{2}, 1, 130, 64, 64, {}}, half_image);
  check_attention({{2}, 33, 1, 8, 8, {}}, float_buffer);
  check_attention({{}, 7, 3, 1, 1, {}}, half_image);
}

TEST(Attention, ServesWideHeads) {
  check_attention({{2}, 18, 67, 96, 160, {}}, float_buffer);
  check_attention({{1}, 18, 67, 256, 24, {}}, half_image);
}

TEST(Attention, BroadcastsItsMask) {
  AttentionCase c{{2, 3}, 9, 21, 8, 12, {}};
  for (const Shape& mask : {Shape{9, 21},
                            {21},
                            {1, 1, 9, 21},
                            {2, 3, 9, 21},
                            {2, 1, 1, 21},
                            {2, 1, 9, 21},
                            {1, 3, 9, 21},
                            {3, 1, 21}}) {
    c.mask = mask;
    check_attention(c, half_buffer);
    check_attention(c, float_image);
  }
}

TEST(Attention, KeepsLargeScoresApart) {
  // exp of such scores overflows unless the running maximum is taken off.
  check_attention({{2}, 12, 150, 64, 8, {}, 1, 8}, float_buffer);
  check_attention({{2}, 12, 150, 64, 8, {}, 1, 8}, float_image);
}

/// Scores that the mask puts out at minus infinity, a whole block of keys among them.
TEST(Attention, LeavesMaskedKeysOut) {
  for (const Storage& storage : {half_buffer, float_image}) {
    AttentionCase c{{2}, 10, 150, 8, 8, {10, 150}};
    Operands o(c, storage);
    for_each_index(c.mask, [&](const Shape& at) {
      const bool out = at[1] < 80 + at[0] || at[1] > 100;
      o.mask.values[flat_index(c.mask, at)] = out ? -std::numeric_limits<float>::infinity() : 0.0f;
    });
    run(build_attention(o.plan(c)), {&o.query, &o.key, &o.value, &o.mask, &o.y});
    expect_attention(c, o);
  }
}

/// Masks that leave a query some keys behind and ahead of it: blocks beside them are not read.
TEST(Attention, LeavesOutBlocksOfKeysThatNoQuerySees) {
  const std::vector<KeyBand> bands = {{1000, 0}, {9, 0}, {0, 1000}, {70, 30}, {-20, 60}};
  for (const Storage& storage : {half_buffer, float_image}) {
    for (const KeyBand& band : bands) {
      SCOPED_TRACE(std::to_string(band.behind) + " " + std::to_string(band.ahead));
      AttentionCase c{{2}, 90, 150, 8, 8, {90, 150}};
      Operands o(c, storage);
      for_each_index(c.mask, [&](const Shape& at) {
        const bool seen = at[1] >= at[0] - band.behind && at[1] <= at[0] + band.ahead;
        o.mask.values[flat_index(c.mask, at)] = seen ? 0.0f : -65504.0f;
      });
      AttentionOperands operands = o.plan(c);
      operands.band = band;
      run(build_attention(operands), {&o.query, &o.key, &o.value, &o.mask, &o.y});
      expect_attention(c, o);
    }
  }
}

TEST(Attention, AgreesForEveryTile) {
  const AttentionCase c{{2}, 29, 75, 20, 36, {29, 75}};
  for (const int queries : {1, 2, 8}) {
    check_attention(c, float_buffer, {queries, 2, 1, 3});
    check_attention(c, half_image, {queries, 1, 8, 2});
    check_attention(c, half_buffer, {queries, 4, 32, 2});
  }
}

/// Random shapes, masks and tiles.
TEST(Attention, AgreesForRandomShapes) {
  std::mt19937 random(20261202);
  const auto upto = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
  for (int round = 0; round < 16; ++round) {
    AttentionCase c{{upto(2), upto(3)}, upto(40), upto(90), upto(40), upto(40), {}};
    if (upto(2) == 1) {
      c.mask = {upto(2) == 1 ? 1 : c.batch[0], upto(2) == 1 ? 1 : c.batch[1],
                upto(2) == 1 ? 1 : c.queries, c.keys};
    }
    check_attention(c, round % 2 == 0 ? half_buffer : float_image);
  }
}

TEST(Attention, RefusesOperandsThatDoNotFit) {
  const AttentionCase c{{2}, 8, 12, 16, 16, {}};
  const auto refused = [&](const std::function<void(Operands*)>& change) {
    Operands o(c, half_buffer);
    change(&o);
    AttentionOperands operands = o.plan(c);
    operands.mask = &o.mask.plan;
    EXPECT_THROW(build_attention(operands), UserError);
  };
  refused([](Operands* o) { o->key.plan.shape = {2, 12, 12}; });
  refused([](Operands* o) { o->key.plan.shape = {1, 12, 16}; });
  refused([](Operands* o) { o->value.plan.shape = {2, 11, 16}; });
  refused([](Operands* o) { o->y.plan.shape = {2, 8, 12}; });
  refused([](Operands* o) { o->mask.plan.shape = {8, 1}; });
  refused([](Operands* o) { o->mask.plan.shape = {4, 12}; });
  refused([](Operands* o) { o->mask.plan.shape = {3, 8, 12}; });
}

}  // namespace
}  // namespace fm
