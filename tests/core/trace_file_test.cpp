#include "core/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "core/byte_order.hpp"
#include "core/digest.hpp"
#include "tests/core/error_message.hpp"
#include "tests/core/small_trace.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

template <class Messages>
void expect_same(const Messages& a, const Messages& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].SerializeAsString(), b[i].SerializeAsString()) << i;
  }
}

std::string frame_of(const std::string& raw, std::uint32_t announced) {
  std::string compressed(ZSTD_compressBound(raw.size()), '\0');
  compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), raw.data(), raw.size(), 3));
  std::string out;
  append_little_endian(out, static_cast<std::uint32_t>(compressed.size()));
  append_little_endian(out, announced);
  append_little_endian(out, checksum_of(compressed.data(), compressed.size()));
  return out + compressed;
}
std::string frame_of(const trace::Frame& frame) {
  const std::string raw = frame.SerializeAsString();
  return frame_of(raw, static_cast<std::uint32_t>(raw.size()));
}
std::string file_start(std::uint32_t version) {
  std::string out = "FMTRACE\n";
  append_little_endian(out, version);
  return out;
}
trace::Frame header_frame() {
  trace::Frame frame;
  frame.mutable_header()->set_version(trace_version);
  return frame;
}

class TraceFile : public testing::Test {
 protected:
  std::string error_reading(const std::string& contents) {
    write_file(path_, contents);
    return user_error_of([&] { read_trace(path_); });
  }
  std::string small_file() {
    write_trace(path_, small_trace());
    return contents_of(path_);
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("t.trace");
};

TEST_F(TraceFile, ATraceComesBack) {
  const Trace trace = small_trace();
  write_trace(path_, trace);
  const Trace back = read_trace(path_);
  EXPECT_EQ(back.header.plan_yaml(), "plan: 1");
  EXPECT_EQ(back.header.device().at("name"), "PoCL");
  expect_same(back.programs, trace.programs);
  expect_same(back.index_contents, trace.index_contents);
  expect_same(back.operations, trace.operations);
  EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(TraceFile, AppearsOnlyWhenFinished) {
  {
    TraceWriter writer(path_, small_trace().header);
    writer.add(small_program(1));
  }
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(TraceFile, OperationsTravelInFramesOfThousands) {
  constexpr std::uint64_t count = 10000;
  {
    TraceWriter writer(path_, small_trace().header);
    trace::HostOperation operation;
    for (std::uint64_t id = 1; id <= count; ++id) {
      operation.set_id(id);
      operation.mutable_think()->set_nanoseconds(id);
      writer.add(operation);
    }
    writer.finish();
  }
  TraceReader reader(path_);
  trace::Frame frame;
  std::uint64_t next = 1, frames = 0;
  while (reader.next(&frame)) {
    ++frames;
    ASSERT_TRUE(frame.has_operations());
    EXPECT_LE(frame.operations().operations_size(), 5000);
    for (const auto& operation : frame.operations().operations()) {
      EXPECT_EQ(operation.id(), next);
      EXPECT_EQ(operation.think().nanoseconds(), next++);
    }
  }
  EXPECT_EQ(next, count + 1);
  EXPECT_LE(frames, 5U);
  EXPECT_FALSE(reader.next(&frame));
}

TEST_F(TraceFile, FramesKeepTheOrderOfWriting) {
  {
    TraceWriter writer(path_, small_trace().header);
    writer.add(small_trace().operations[0]);
    writer.add(small_program(1));
    writer.add(small_trace().operations[1]);
    writer.finish();
  }
  TraceReader reader(path_);
  trace::Frame frame;
  ASSERT_TRUE(reader.next(&frame));
  EXPECT_TRUE(frame.has_operations());
  ASSERT_TRUE(reader.next(&frame));
  EXPECT_TRUE(frame.has_program());
  ASSERT_TRUE(reader.next(&frame));
  EXPECT_TRUE(frame.has_operations());
  EXPECT_FALSE(reader.next(&frame));
}

TEST_F(TraceFile, EveryFlippedBitIsNoticed) {
  const std::string good = small_file();
  ASSERT_EQ(error_reading(good), "");
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(error_reading(bad), "") << "bit " << bit;
  }
}

TEST_F(TraceFile, EveryTruncationIsNoticed) {
  const std::string good = small_file();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(error_reading(good.substr(0, size)), "") << size;
  }
  EXPECT_THAT(error_reading(good.substr(0, good.size() - 1)), HasSubstr("is truncated"));
  EXPECT_THAT(error_reading(good + "x"), HasSubstr("goes on after its trailer"));
}

TEST_F(TraceFile, AMissingFrameIsNoticed) {
  const std::string good = small_file();
  std::vector<std::size_t> starts;
  std::size_t at = 12;
  while (at < good.size()) {
    starts.push_back(at);
    at += 16 + little_endian_at<std::uint32_t>(good.data() + at);
  }
  ASSERT_EQ(starts.size(), 5U);  // header, program, contents, operations, trailer
  starts.push_back(good.size());
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    std::string bad = good;
    bad.erase(starts[i], starts[i + 1] - starts[i]);
    EXPECT_NE(error_reading(bad), "") << i;
    std::string twice = good;
    twice.insert(starts[i], good.substr(starts[i], starts[i + 1] - starts[i]));
    EXPECT_NE(error_reading(twice), "") << i;
  }
}

TEST_F(TraceFile, OtherVersionsAreRefusedByName) {
  std::string file = small_file();
  EXPECT_THAT(error_reading(file_start(3) + file.substr(12)), HasSubstr("version 3 is newer"));
  EXPECT_THAT(error_reading(file_start(0) + file.substr(12)), HasSubstr("version 0 is older"));
  trace::Frame header = header_frame();
  header.mutable_header()->set_version(7);
  EXPECT_THAT(error_reading(file_start(1) + frame_of(header)), HasSubstr("version 7 is newer"));
}

TEST_F(TraceFile, SaysWhatAFileIsInstead) {
  EXPECT_THAT(error_reading(""), HasSubstr("is not a trace"));
  EXPECT_THAT(error_reading("plan: 1\n"), HasSubstr("is not a trace"));
  EXPECT_THAT(user_error_of([&] { read_trace(folder_.file("no")); }),
              HasSubstr("cannot be opened"));
  EXPECT_THAT(user_error_of([&] { read_trace(folder_.path()); }), HasSubstr("is a folder"));
  trace::Frame trailer;
  trailer.mutable_trailer();
  EXPECT_THAT(error_reading(file_start(1) + frame_of(trailer)),
              HasSubstr("first frame is not a header"));
}

TEST_F(TraceFile, ClaimsOfHugeFramesTakeNoMemory) {
  const std::string start = file_start(1) + frame_of(header_frame());
  EXPECT_THAT(error_reading(start + frame_of(std::string(10, 'x'), 0xffffffff)),
              HasSubstr("more than the largest"));
  std::string huge;
  append_little_endian(huge, std::uint32_t{0x1fffffff});
  append_little_endian(huge, std::uint32_t{10});
  append_little_endian(huge, std::uint64_t{0});
  EXPECT_THAT(error_reading(start + huge), HasSubstr("is truncated"));
  // A few bytes that would unpack to 64 MiB, announced as ten.
  EXPECT_THAT(error_reading(start + frame_of(std::string(std::size_t{64} << 20, 'x'), 10)),
              HasSubstr("not the one announced"));
}

TEST_F(TraceFile, FramesThatDecodeToNothingKnownAreRefused) {
  const std::string start = file_start(1) + frame_of(header_frame());
  EXPECT_THAT(error_reading(start + frame_of("\x07garbage", 8)), HasSubstr("cannot be decoded"));
  EXPECT_THAT(error_reading(start + frame_of(trace::Frame())),
              HasSubstr("of a kind this tool does not know"));
}

}  // namespace
}  // namespace fm
