#include "executor/model_io.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/diagnostics.hpp"
#include "tests/executor/small_network.hpp"

namespace fm {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

PlanTensor tensor_named(const std::string& name, const Shape& shape) {
  PlanTensor tensor;
  tensor.id = "t0";
  tensor.name = name;
  tensor.shape = shape;
  tensor.dtype = DataType::f32;
  tensor.bytes = storage_bytes(tensor.layout, tensor.dtype, shape);
  return tensor;
}

class Comparison : public ::testing::Test {
 protected:
  OutputComparison compare(const NpyArray& output, DataType storage,
                           BarKind bars = BarKind::by_storage,
                           std::optional<double> tolerance = std::nullopt) {
    std::map<std::string, NpyArray> arrays;
    arrays["output:y"] = {{4}, {3, 0, 4, 0}};
    if (half_error_) arrays["half_error:y"] = {{}, {*half_error_}};
    write_npz(folder_.file("ref.npz"), arrays);
    return compare_output(NpzReader(folder_.file("ref.npz")), tensor_named("y", output.shape),
                          output, storage, bars, tolerance);
  }
  TemporaryFolder folder_;
  std::optional<float> half_error_ = 0.01f;
};

TEST_F(Comparison, IsRelativeToTheReferencesNorm) {
  const OutputComparison comparison = compare({{4}, {3, 0.05f, 4, 0}}, DataType::f16);
  EXPECT_NEAR(comparison.relative_error, 0.01, 1e-8);
  EXPECT_NEAR(comparison.bar, 0.015, 1e-8);
  EXPECT_TRUE(comparison.passes());
  EXPECT_FALSE(compare({{4}, {3, 0.08f, 4, 0}}, DataType::f16).passes());
}

TEST_F(Comparison, BarsFollowStorageAndOptions) {
  const NpyArray close{{4}, {3, 0.001f, 4, 0}};
  EXPECT_EQ(compare(close, DataType::f32).bar, 1e-5);
  EXPECT_FALSE(compare(close, DataType::f32).passes());
  EXPECT_TRUE(compare(close, DataType::f32, BarKind::half_error).passes());
  EXPECT_TRUE(compare(close, DataType::f32, BarKind::by_storage, 3e-4).passes());
  EXPECT_FALSE(compare(close, DataType::f16, BarKind::by_storage, 1e-4).passes());
}

TEST_F(Comparison, NanAndInfinityFail) {
  EXPECT_FALSE(compare({{4}, {3, NAN, 4, 0}}, DataType::f16).passes());
  EXPECT_EQ(compare({{4}, {3, NAN, 4, NAN}}, DataType::f16).nan_count, 2u);
  EXPECT_FALSE(compare({{4}, {3, 0, INFINITY, 0}}, DataType::f16).passes());
}

TEST_F(Comparison, MissingBarAndWrongShapeAreTheUsersMistakes) {
  EXPECT_THAT(
      [&] {
        compare({{2, 2}, {3, 0, 4, 0}}, DataType::f16);
      },
      ThrowsMessage<UserError>(testing::AllOf(HasSubstr("output:y"), HasSubstr("[2, 2]"))));
  half_error_.reset();
  EXPECT_THAT(
      [&] {
        compare({{4}, {3, 0, 4, 0}}, DataType::f16);
      },
      ThrowsMessage<UserError>(HasSubstr("--tolerance")));
}

TEST(Inputs, ComeByPrefixedOrPlainName) {
  const TemporaryFolder folder;
  std::map<std::string, NpyArray> arrays;
  arrays["input:/a"] = {{2}, {1, 2}};
  arrays["plain"] = {{2}, {3, 4}};
  write_npz(folder.file("in.npz"), arrays);
  const NpzReader file(folder.file("in.npz"));
  EXPECT_EQ(input_from(file, Plan(), tensor_named("/a", {2})).values[1], 2);
  EXPECT_EQ(input_from(file, Plan(), tensor_named("plain", {2})).values[1], 4);
  EXPECT_THAT([&] { input_from(file, Plan(), tensor_named("/c", {2})); },
              ThrowsMessage<UserError>(testing::AllOf(HasSubstr("input:/c"), HasSubstr("in.npz"))));
  EXPECT_THAT(
      [&] {
        input_from(file, Plan(), tensor_named("plain", {1, 2}));
      },
      ThrowsMessage<UserError>(testing::AllOf(HasSubstr("[2]"), HasSubstr("[1, 2]"))));
}

TEST(Inputs, RandomOnesAreStandardNormalAndRepeatable) {
  const PlanTensor tensor = tensor_named("x", {100, 100});
  const NpyArray array = random_input(tensor, 7);
  EXPECT_EQ(array.values, random_input(tensor, 7).values);
  EXPECT_NE(array.values, random_input(tensor, 8).values);
  EXPECT_NE(array.values, random_input(tensor_named("z", {100, 100}), 7).values);
  double sum = 0, squares = 0;
  for (float value : array.values) {
    sum += value;
    squares += double{value} * value;
  }
  EXPECT_NEAR(sum / 1e4, 0, 0.05);
  EXPECT_NEAR(squares / 1e4, 1, 0.06);
}

}  // namespace
}  // namespace fm
