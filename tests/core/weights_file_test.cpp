#include "core/weights_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/byte_order.hpp"
#include "core/digest.hpp"
#include "tests/core/error_message.hpp"
#include "tests/core/random_plan.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

std::vector<std::uint8_t> random_bytes(std::size_t size, std::mt19937& random) {
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

/// A random plan bound to its index, its slices moved behind the index.
Plan bound_plan(std::uint32_t seed) {
  Plan plan = RandomPlan(seed).make();
  Bytes next = first_slice_offset(expected_index(plan).entries);
  for (WeightSlice& slice : plan.weights) {
    slice.file_offset = next;
    next = round_up(next + slice.bytes, slice_alignment);
  }
  plan.weights_index_digest = index_digest(expected_index(plan));
  return plan;
}

std::vector<std::vector<std::uint8_t>> write_weights(const Plan& plan, const std::string& path) {
  std::mt19937 random(9);
  std::vector<std::vector<std::uint8_t>> slices;
  std::filesystem::remove(path);
  WeightsWriter writer(path, expected_index(plan));
  for (const WeightSlice& slice : plan.weights) {
    slices.push_back(random_bytes(slice.bytes.count(), random));
    writer.append(slices.back());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.finish();
  return slices;
}

TEST(WeightsFile, SlicesAndIndexComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Plan plan = bound_plan(seed);
    const auto slices = write_weights(plan, path);
    const WeightsIndex index = open_weights_for(plan, path);
    ASSERT_EQ(index.entries.size(), slices.size());
    const std::string contents = contents_of(path);
    EXPECT_EQ(contents.size() % slice_alignment.count(), 0U);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const WeightsIndexEntry& entry = index.entries[i];
      EXPECT_EQ(entry.offset % slice_alignment, Bytes(0));
      ASSERT_LE((entry.offset + entry.bytes).count(), contents.size());
      const char* stored = contents.data() + entry.offset.count();
      EXPECT_TRUE(std::equal(slices[i].begin(), slices[i].end(),
                             reinterpret_cast<const std::uint8_t*>(stored)));
      EXPECT_EQ(entry.checksum, checksum_of(stored, entry.bytes.count()));
      EXPECT_EQ(entry.name, plan.tensor(entry.tensor).name);
      EXPECT_EQ(entry.shape, plan.tensor(entry.tensor).shape);
    }
    EXPECT_EQ(index_digest(index), plan.weights_index_digest);
  }
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WeightsFile, EveryFlippedBitOfHeaderAndIndexIsNoticed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  const Plan plan = bound_plan(4);
  write_weights(plan, path);
  const std::string good = contents_of(path);
  const auto index_bytes = little_endian_at<std::uint64_t>(good.data() + 16);
  for (std::size_t byte = 0; byte < 4096 + index_bytes; byte += byte < 120 ? 1 : 41) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << byte % 8));
    write_file(path, bad);
    EXPECT_NE(user_error_of([&] { read_weights_index(path); }), "") << byte;
  }
}

TEST(WeightsFile, EveryTruncationIsNoticed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  const Plan plan = bound_plan(4);
  write_weights(plan, path);
  const std::string good = contents_of(path);
  const WeightSlice& last = plan.weights.back();
  const std::uint64_t end = (last.file_offset + last.bytes).count();
  for (std::uint64_t size = 0; size < end; size += 1 + size / 20) {
    write_file(path, good.substr(0, size));
    EXPECT_NE(user_error_of([&] { read_weights_index(path); }), "") << size;
  }
  write_file(path, good.substr(0, end - 1));
  EXPECT_THAT(user_error_of([&] { read_weights_index(path); }), HasSubstr("is truncated: slice"));
  write_file(path, good.substr(0, 4100));
  EXPECT_THAT(user_error_of([&] { read_weights_index(path); }), HasSubstr("inside its index"));
}

TEST(WeightsFile, SaysWhatAFileIsInstead) {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  write_file(path, "FMTRACE\n and more");
  EXPECT_THAT(user_error_of([&] { read_weights_index(path); }), HasSubstr("not a weights file"));
  EXPECT_THAT(user_error_of([&] { read_weights_index(folder.file("no")); }),
              HasSubstr("cannot be opened"));
  EXPECT_THAT(user_error_of([&] { read_weights_index(folder.path()); }), HasSubstr("is a folder"));
  write_weights(bound_plan(1), path);
  std::string contents = contents_of(path);
  contents[8] = 2;
  write_file(path, contents);
  EXPECT_THAT(user_error_of([&] { read_weights_index(path); }), HasSubstr("version 2 is newer"));
  contents[8] = 0;
  write_file(path, contents);
  EXPECT_THAT(user_error_of([&] { read_weights_index(path); }), HasSubstr("version 0 is older"));
}

TEST(WeightsFile, OtherPlansAreRefusedWithTheFirstDifference) {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  const Plan plan = bound_plan(2);
  write_weights(plan, path);
  const auto error_after = [&](const std::function<void(Plan&)>& change) {
    Plan other = plan;
    change(other);
    return user_error_of([&] { open_weights_for(other, path); });
  };
  const std::string first = plan.weights[0].tensor;
  const std::size_t at = std::stoul(first.substr(1));
  EXPECT_THAT(error_after([](Plan& p) { p.models[0].digest = "xxh3:beef"; }),
              HasSubstr("another model (xxh3:00ff)"));
  EXPECT_THAT(error_after([&](Plan& p) { p.tensors[at].layout = Layout::conv_filter; }),
              HasSubstr("slice 0 is '" + first));
  EXPECT_THAT(error_after([](Plan& p) { p.weights.pop_back(); }),
              HasSubstr("slices, the plan has"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights_index_digest = "xxh3:1"; }),
              HasSubstr("was edited"));
}

TEST(WeightsFile, DigestDependsOnEverythingButChecksums) {
  const WeightsIndex index = expected_index(bound_plan(6));
  const std::string digest = index_digest(index);
  const auto changed = [&](const std::function<void(WeightsIndex&)>& change) {
    WeightsIndex other = index;
    change(other);
    return index_digest(other) != digest;
  };
  EXPECT_FALSE(changed([](WeightsIndex& i) { i.entries[0].checksum = 5; }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.model_digest += "x"; }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries[0].tensor += "x"; }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries[0].name += "x"; }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries[0].layout = Layout::channels; }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries[0].dtype = DataType::u8; }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries[0].shape[0] += 1; }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries[0].offset += Bytes(4096); }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries[0].bytes += Bytes(1); }));
  EXPECT_TRUE(changed([](WeightsIndex& i) { i.entries.pop_back(); }));
}

TEST(WeightsFile, EqualContentsAreStoredOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  WeightsIndex index = expected_index(bound_plan(2));
  ASSERT_GE(index.entries.size(), 2U);
  const std::size_t count = index.entries.size();
  WeightsIndexEntry again = index.entries[1];
  again.tensor = "again";
  index.entries.push_back(again);
  // A longer index may move the slices.
  Bytes next = first_slice_offset(index.entries);
  for (std::size_t i = 0; i < count; ++i) {
    index.entries[i].offset = next;
    next = round_up(next + index.entries[i].bytes, slice_alignment);
  }
  index.entries.back().offset = index.entries[1].offset;
  EXPECT_EQ(stored_entries(index.entries).back(), 1U);
  std::mt19937 random(3);
  WeightsWriter writer(path, index);
  for (std::size_t i = 0; i < count; ++i) {
    writer.append(random_bytes(index.entries[i].bytes.count(), random));
  }
  EXPECT_THROW(writer.append({}), std::logic_error);
  writer.finish();
  const WeightsIndex read = read_weights_index(path);
  ASSERT_EQ(read.entries.size(), count + 1);
  EXPECT_EQ(read.entries.back().offset, read.entries[1].offset);
  EXPECT_EQ(read.entries.back().checksum, read.entries[1].checksum);
  EXPECT_EQ(Bytes(contents_of(path).size()), next);
}

TEST(WeightsFile, WriterRefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  const Plan plan = bound_plan(2);
  WeightsIndex overlapping = expected_index(plan);
  overlapping.entries[0].offset = Bytes(4096) * 0;
  EXPECT_THAT(user_error_of([&] { WeightsWriter(path, overlapping); }),
              HasSubstr("overlaps the index"));
  EXPECT_THAT(user_error_of([&] { WeightsWriter("-", expected_index(plan)); }),
              HasSubstr("standard output"));
  {
    WeightsWriter writer(path, expected_index(plan));
    EXPECT_THROW(writer.append({1, 2, 3}), std::logic_error);
    EXPECT_THROW(writer.finish(), std::logic_error);
  }
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace fm
