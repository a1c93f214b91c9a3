#include "executor/opencl_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* doubling = R"(
__kernel void doubling(__global const float* x, __global float* y, int n, float factor) {
  const int i = (int)get_global_id(0);
  if (i < n) y[i] = x[i] * factor;
}
)";

TEST(OpenClObjects, RunsAKernelOnBuffers) {
  const OpenClContext context(select_device(""));
  const OpenClQueue queue = create_queue(context, "test");
  std::vector<float> x(100), y(100, -1.0f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Bytes bytes(x.size() * sizeof(float));
  const OpenClMemory a = create_buffer(context, bytes, CL_MEM_READ_WRITE, "a");
  const OpenClMemory b = create_buffer(context, bytes, CL_MEM_READ_WRITE, "b");
  write_buffer(queue, a, Bytes(0), x.data(), bytes);
  write_buffer(queue, b, Bytes(0), y.data(), bytes);
  run_kernel(context, queue, "doubling", doubling, "", {a.get(), b.get(), std::int32_t{99}, 3.0f},
             {128, 1, 1}, {32, 1, 1});
  read_buffer(queue, b, Bytes(0), y.data(), bytes);
  for (std::size_t i = 0; i < 99; ++i) EXPECT_EQ(y[i], 3.0f * x[i]);
  EXPECT_EQ(y[99], -1.0f);
}

TEST(OpenClObjects, ImagesKeepTheirTexels) {
  const OpenClContext context(select_device(""));
  const OpenClQueue queue = create_queue(context, "test");
  const GridExtent extent{5, 3};
  std::vector<float> texels(5 * 3 * 4), back(texels.size());
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = 0.5f * static_cast<float>(i);
  const OpenClMemory image = create_image(context, extent, DataType::f32, "w");
  write_image(queue, image, extent, texels.data());
  read_image(queue, image, extent, back.data());
  EXPECT_EQ(back, texels);
  fill_image(queue, image, extent, {1, 2, 3, 4});
  read_image(queue, image, extent, back.data());
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], static_cast<float>(i % 4 + 1));
}

TEST(OpenClObjects, BuildFailureNamesTheKernelAndShowsTheLog) {
  const OpenClContext context(select_device(""));
  EXPECT_THAT(
      [&] { build_program(context, "broken", "__kernel void broken() { nowhere(); }", "-DX=1"); },
      ThrowsMessage<DeviceError>(
          testing::AllOf(HasSubstr("broken"), HasSubstr("nowhere"), HasSubstr("-DX=1"))));
}

TEST(OpenClObjects, ErrorsNameTheAttemptAndTheCode) {
  const OpenClContext context(select_device(""));
  EXPECT_THAT([&] { create_buffer(context, Bytes(0), CL_MEM_READ_WRITE, "nothing"); },
              ThrowsMessage<DeviceError>(
                  testing::AllOf(HasSubstr("nothing"), HasSubstr("CL_INVALID_BUFFER_SIZE"))));
}

TEST(OpenClObjects, TooLargeImageNamesTensorAndLimits) {
  OpenClDevice device = select_device("");
  device.image_width_limit = 8192;
  device.image_height_limit = 4096;
  EXPECT_NO_THROW(check_image_limits(device, {8192, 4096}, "w"));
  EXPECT_THAT(
      [&] {
        check_image_limits(device, {9216, 16}, "classifier.weight");
      },
      ThrowsMessage<UserError>(testing::AllOf(HasSubstr("image too large for the device"),
                                              HasSubstr("classifier.weight"),
                                              HasSubstr("9216 x 16"), HasSubstr("8192 x 4096"))));
  EXPECT_THROW(check_image_limits(device, {1, 4097}, "w"), UserError);
}

TEST(OpenClDevice, IsSelectedByIndexOrNamePart) {
  const std::vector<OpenClDevice> devices = list_devices().devices;
  EXPECT_EQ(select_device("0").id, devices[0].id);
  const std::string part = devices.back().name.substr(1, 5);
  EXPECT_THAT(select_device(part).name, HasSubstr(part));
  EXPECT_THAT([&] { select_device("99"); }, ThrowsMessage<UserError>(HasSubstr(devices[0].name)));
  EXPECT_THAT([&] { select_device("no such device"); },
              ThrowsMessage<UserError>(HasSubstr(devices[0].name)));
}

}  // namespace
}  // namespace fm
