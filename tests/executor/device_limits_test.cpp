#include "executor/device_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnostics.hpp"
#include "tests/executor/small_network.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::SmallNetwork;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class DeviceLimits : public ::testing::Test {
 protected:
  Plan plan(Placement placement) {
    NetworkOptions options;
    options.weights = options.activations = placement;
    return SmallNetwork(options).plan();
  }
  void expect_refused(const Plan& plan, const std::vector<std::string>& words) {
    try {
      check_device_limits(plan, device_);
      FAIL() << "accepted";
    } catch (const UserError& error) {
      for (const std::string& word : words) EXPECT_THAT(error.what(), HasSubstr(word));
    }
  }
  OpenClDevice device_ = select_device("");
};

TEST_F(DeviceLimits, AcceptsWhatFits) {
  EXPECT_NO_THROW(check_device_limits(plan(Placement::buffer), device_));
  EXPECT_NO_THROW(check_device_limits(plan(Placement::image2d), device_));
}

TEST_F(DeviceLimits, NamesTheWeightWhoseImageIsTooLarge) {
  device_.image_height_limit = 40;
  expect_refused(plan(Placement::image2d), {"image too large for the device", "weight w0",
                                            "/small/w0", "12 x 48 texels", "40 texels"});
  EXPECT_NO_THROW(check_device_limits(plan(Placement::buffer), device_));
}

TEST_F(DeviceLimits, NamesThePoolWhoseImageIsTooLarge) {
  device_.image_width_limit = 8;
  expect_refused(plan(Placement::image2d), {"image too large for the device", "pool0", "12 x 5"});
}

TEST_F(DeviceLimits, RefusesImagesWhereThereAreNone) {
  device_.images = false;
  expect_refused(plan(Placement::image2d), {"has no images"});
}

TEST_F(DeviceLimits, NamesTheAllocationThatIsTooLarge) {
  device_.allocation_limit = Bytes(8000);
  expect_refused(plan(Placement::buffer), {"weight w0", "9216 bytes", "8000 bytes"});
}

TEST_F(DeviceLimits, NamesTheMisalignedTensor) {
  device_.sub_buffer_alignment = Bytes(4096);
  expect_refused(plan(Placement::buffer), {"tensor h0", "4096 bytes"});
}

TEST_F(DeviceLimits, NamesTheLaunchWhoseWorkGroupIsTooLarge) {
  device_.work_group_limit = 1;
  expect_refused(plan(Placement::buffer), {"launch L0", "matmul", "allows 1"});
}

TEST_F(DeviceLimits, HalfAccumulationNeedsTheExtension) {
  Plan half = plan(Placement::buffer);
  half.accumulate = DataType::f16;
  device_.extensions = "cl_khr_fp64 cl_khr_fp16_like";
  expect_refused(half, {"cl_khr_fp16", "--accumulate"});
  device_.extensions += " cl_khr_fp16";
  EXPECT_NO_THROW(check_device_limits(half, device_));
}

}  // namespace
}  // namespace fm
