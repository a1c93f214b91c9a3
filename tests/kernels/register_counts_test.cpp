// Registers come from the table of compiled twins where it has one, else from the estimate, and the
// source says which.
#include "kernels/register_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/catalogue.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const TwinForm images{"image", "float"};

std::optional<CompiledTwin> matmul(const std::string& m, const std::string& n4,
                                   const std::string& isa, const TwinForm& form = images) {
  return compiled_twin("matmul", {{"TILE_M", m}, {"TILE_N4", n4}, {"B_TRANSPOSED", "0"}}, form,
                       isa);
}

TEST(RegisterCounts, AreWhatMaliAllocates) {
  for (const std::string isa : {"valhall", "bifrost"}) {
    ASSERT_TRUE(matmul("1", "1", isa)) << isa;
    EXPECT_EQ(matmul("1", "1", isa)->registers, 32u) << isa;
    // 4 x 1 texels of sums, 4 of a and one of b are 36 registers already.
    EXPECT_EQ(matmul("4", "1", isa)->registers, 64u) << isa;
  }
}

TEST(RegisterCounts, GrowWithTheTileOnAdreno) {
  ASSERT_TRUE(matmul("1", "1", "adreno"));
  ASSERT_TRUE(matmul("8", "2", "adreno"));
  EXPECT_LT(matmul("1", "1", "adreno")->registers, matmul("8", "2", "adreno")->registers);
  // 8 x 2 texels of sums alone.
  EXPECT_GE(matmul("8", "2", "adreno")->registers, 64u);
}

TEST(RegisterCounts, SpillWhereAccumulatorsFillMalisRegisters) {
  // 8 x 1 texels of sums and 8 of a take all of 64 registers in fp32, not in fp16.
  ASSERT_TRUE(matmul("8", "1", "valhall"));
  EXPECT_GT(matmul("8", "1", "valhall")->fills, 0u);
  EXPECT_EQ(matmul("8", "1", "valhall", {"image", "half"})->fills, 0u);
  EXPECT_EQ(matmul("4", "1", "valhall")->fills, 0u);
}

TEST(RegisterCounts, HaveNoTwinOfATileNotCompiled) {
  EXPECT_FALSE(matmul("8", "8", "valhall"));
  EXPECT_FALSE(matmul("3", "1", "valhall"));
  EXPECT_FALSE(matmul("4", "1", "sse2"));
  EXPECT_FALSE(compiled_twin("matmul", {}, images, "valhall"));
}

/// A plan of one launch: y = relu(x), x an image, y a buffer.
TEST(RegisterCounts, OfALaunchNameTheirSource) {
  HostTensor x = make_tensor("t1", Layout::rows, {3, 10}, half_image);
  HostTensor y = make_tensor("t2", Layout::rows, {3, 10}, float_buffer);
  Epilogue epilogue;
  epilogue.activation = Activation::relu;
  Plan plan;
  plan.tensors = {x.plan, y.plan};
  plan.launches = {build_unary(x.plan, y.plan, epilogue)};
  EXPECT_EQ(twin_form(plan, plan.launches[0]).memory, "image");
  RegisterCounts counts = register_counts(plan, plan.launches[0]);
  EXPECT_EQ(counts.by_isa.size(), 3u);
  EXPECT_THAT(counts.source, HasSubstr("compiled(mesa "));
  EXPECT_THAT(counts.by_isa.at("valhall"), AnyOf(32u, 64u));

  plan.launches[0].parameters["ACTIVATION"] = "NEG";  // not among the twins
  counts = register_counts(plan, plan.launches[0]);
  EXPECT_THAT(counts.source, HasSubstr("estimated"));
  EXPECT_EQ(counts.by_isa.at("adreno"),
            catalogue_entry("unary").registers(plan.launches[0].parameters));
  EXPECT_EQ(counts.by_isa.at("valhall"), 32u) << "Mali allocates 32 or 64";
}

}  // namespace
}  // namespace fm
