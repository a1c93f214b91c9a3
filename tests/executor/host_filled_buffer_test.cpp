#include "executor/host_filled_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace fm {
namespace {

constexpr const char* doubling = R"(
__kernel void doubling(__global const float* x, __global float* y, int n) {
  const int i = (int)get_global_id(0);
  if (i < n) y[i] = x[i] * 2.0f;
}
)";
constexpr std::size_t count = 5000;
constexpr Bytes bytes{count * sizeof(float)};

class HostFilled : public ::testing::Test {
 protected:
  /// As a reader does: without a mapping where the buffer has pages, else through one.
  void fill(HostFilledBuffer& buffer, const std::vector<float>& values) {
    if (buffer.in_pages()) {
      std::uint8_t* const data = buffer.take();
      EXPECT_FALSE(buffer.memory());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 4096, 0u);  // for direct reads
      std::memcpy(data, values.data(), bytes.count());
      buffer.hand_back();
    } else {
      const MappedRange range(queue_, buffer.memory(), Bytes(0), bytes,
                              CL_MAP_WRITE_INVALIDATE_REGION);
      std::memcpy(range.data(), values.data(), bytes.count());
    }
  }
  void expect_doubled(const HostFilledBuffer& buffer, const std::vector<float>& values) {
    const OpenClMemory y = create_buffer(context_, bytes, CL_MEM_READ_WRITE, "y");
    run_kernel(context_, queue_, "doubling", doubling, "",
               {buffer.memory().get(), y.get(), static_cast<std::int32_t>(count)}, {5024, 1, 1},
               {32, 1, 1});
    std::vector<float> doubled(count);
    read_buffer(queue_, y, Bytes(0), doubled.data(), bytes);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(doubled[i], 2.0f * values[i]) << i;
  }
  static std::vector<float> counting_from(float first) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i);
    return values;
  }
  OpenClContext context_{select_device("")};
  OpenClQueue queue_ = create_queue(context_, "test");
};

TEST_F(HostFilled, LiesInPagesWhereTheDevicesMemoryIsTheHosts) {
  const HostFilledBuffer buffer(context_, bytes, "x");
  EXPECT_EQ(buffer.in_pages(), context_.device().computes_in_host_memory());
  EXPECT_TRUE(buffer.memory());
}

TEST_F(HostFilled, KernelsSeeWhatWasWrittenLast) {
  HostFilledBuffer buffer(context_, bytes, "x");
  for (const float first : {1.0f, 7000.0f, -3.0f}) {
    const std::vector<float> values = counting_from(first);
    fill(buffer, values);
    expect_doubled(buffer, values);
  }
}

TEST_F(HostFilled, OutlivesWhatItWasMovedFrom) {
  HostFilledBuffer moved;
  EXPECT_FALSE(moved);
  const std::vector<float> values = counting_from(5.0f);
  {
    HostFilledBuffer buffer(context_, bytes, "x");
    fill(buffer, values);
    moved = std::move(buffer);
  }
  expect_doubled(moved, values);
}

TEST_F(HostFilled, CommandsThatWereEnqueuedKeepItsBytes) {
  const std::vector<float> values = counting_from(11.0f);
  const OpenClMemory copy = create_buffer(context_, bytes, CL_MEM_READ_WRITE, "copy");
  const OpenClProgram program = build_program(context_, "doubling", doubling, "");
  const OpenClKernel kernel = create_kernel(program, "doubling");
  OpenClEvent event;
  {
    HostFilledBuffer buffer(context_, bytes, "x");
    fill(buffer, values);
    set_arguments(kernel, {buffer.memory().get(), copy.get(), static_cast<std::int32_t>(count)});
    event = enqueue_kernel(queue_, kernel, {5024, 1, 1}, {32, 1, 1}, "doubling");
  }
  wait_for(event, "doubling");
  std::vector<float> doubled(count);
  read_buffer(queue_, copy, Bytes(0), doubled.data(), bytes);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(doubled[i], 2.0f * values[i]) << i;
}

}  // namespace
}  // namespace fm
