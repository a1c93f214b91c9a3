#include "executor/held_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

std::uint64_t create(HostRecorder& recorder, trace::MemoryClass memory_class, Bytes bytes) {
  return recorder.create(
      create_buffer_operation(recorder.new_object(), memory_class, bytes, "a buffer"), [] {});
}

[[noreturn]] void fail(cl_int code) {
  check_opencl(code, "clCreateBuffer", "creating a buffer");
  std::abort();
}

TEST(HeldMemory, WhatCouldNotBeMadeIsNotHeld) {
  HostRecorder recorder;
  create(recorder, trace::PRELOADED, Bytes(1 << 20));
  const auto refused =
      create_buffer_operation(recorder.new_object(), trace::PRELOADED, Bytes(3 << 20), "too large");
  EXPECT_THROW(recorder.create(refused, [] { fail(CL_OUT_OF_RESOURCES); }), OpenClError);
  EXPECT_EQ(recorder.held().preloaded, Bytes(1 << 20));
  EXPECT_EQ(recorder.held().total(), Bytes(1 << 20));
}

TEST(HeldMemory, AFailureTellsTheClassesThatHaveSome) {
  HostRecorder recorder;
  create(recorder, trace::PRELOADED, Bytes(5 << 20));
  create(recorder, trace::STAGING, Bytes(1));
  EXPECT_THAT(
      [&] { telling_held_memory(recorder, [] { fail(CL_MEM_OBJECT_ALLOCATION_FAILURE); }); },
      ThrowsMessage<DeviceError>(AllOf(HasSubstr("creating a buffer: clCreateBuffer failed with "
                                                 "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"),
                                       HasSubstr("now freed: preloaded 5.00 MiB, staging 0.01 MiB"),
                                       HasSubstr("--budget"), Not(HasSubstr("activations")),
                                       Not(HasSubstr("lost")))));
}

TEST(HeldMemory, ALostDeviceIsNoLackOfMemory) {
  HostRecorder recorder;
  EXPECT_THAT(
      [&] { telling_held_memory(recorder, [] { fail(CL_DEVICE_NOT_AVAILABLE); }); },
      ThrowsMessage<DeviceError>(AllOf(HasSubstr("the device was lost"), Not(HasSubstr("freed")),
                                       Not(HasSubstr("--budget")))));
}

TEST(HeldMemory, OtherFailuresAndResultsPassThrough) {
  HostRecorder recorder;
  EXPECT_EQ(telling_held_memory(recorder, [] { return 7; }), 7);
  EXPECT_THROW(telling_held_memory(recorder, [] { throw UserError("x"); }), UserError);
}

}  // namespace
}  // namespace fm
