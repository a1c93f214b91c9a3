#include "executor/program_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

namespace fs = std::filesystem;

constexpr const char* source = R"(
__kernel void constant_fill(__global int* y) { y[get_global_id(0)] = VALUE; }
)";

class ProgramCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("fm_program_cache_" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  int value_from(ProgramCache& cache, const std::string& options) {
    const OpenClMemory y = create_buffer(context_, Bytes(16), CL_MEM_READ_WRITE, "y");
    const OpenClKernel& kernel = cache.kernel("constant_fill", source, options);
    set_arguments(kernel, {y.get()});
    wait_for(enqueue_kernel(queue_, kernel, {4, 1, 1}, {4, 1, 1}, "constant_fill"), "kernel");
    int value = 0;
    read_buffer(queue_, y, Bytes(12), &value, Bytes(4));
    return value;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

  OpenClContext context_{select_device("")};
  OpenClQueue queue_ = create_queue(context_, "test");
  fs::path folder_;
};

TEST_F(ProgramCacheTest, SecondProcessLoadsTheBinary) {
  ProgramCache first(context_, folder_);
  EXPECT_EQ(value_from(first, "-DVALUE=7"), 7);
  EXPECT_EQ(value_from(first, "-DVALUE=7"), 7);
  EXPECT_EQ(first.built_from_source(), 1u);
  ASSERT_EQ(files().size(), 1u);

  ProgramCache second(context_, folder_);
  EXPECT_EQ(value_from(second, "-DVALUE=7"), 7);
  EXPECT_EQ(second.built_from_source(), 0u);
  EXPECT_EQ(second.loaded_from_disk(), 1u);
}

TEST_F(ProgramCacheTest, OptionsMakeAnotherProgram) {
  ProgramCache cache(context_, folder_);
  EXPECT_EQ(value_from(cache, "-DVALUE=7"), 7);
  EXPECT_EQ(value_from(cache, "-DVALUE=8"), 8);
  EXPECT_EQ(cache.built_from_source(), 2u);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(ProgramCacheTest, DamagedOrTruncatedFilesAreRebuilt) {
  {
    ProgramCache cache(context_, folder_);
    value_from(cache, "-DVALUE=7");
  }
  const fs::path file = files().at(0);
  const auto size = fs::file_size(file);
  {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(static_cast<std::streamoff>(size / 2));
    damaged.write("damage", 6);
  }
  {
    ProgramCache cache(context_, folder_);
    EXPECT_EQ(value_from(cache, "-DVALUE=7"), 7);
    EXPECT_EQ(cache.built_from_source(), 1u);
  }
  fs::resize_file(file, size / 3);
  ProgramCache cache(context_, folder_);
  EXPECT_EQ(value_from(cache, "-DVALUE=7"), 7);
  EXPECT_EQ(cache.built_from_source(), 1u);
  EXPECT_EQ(fs::file_size(file), size);
}

TEST_F(ProgramCacheTest, OptionsThatTheCompilerRefusesAreLeftOut) {
  {
    ProgramCache cache(context_, folder_);
    EXPECT_EQ(value_from(cache, "-cl-warp-drive -DVALUE=7"), 7);
    ASSERT_EQ(cache.fallbacks().size(), 1u);
    EXPECT_EQ(cache.fallbacks()[0].kernel, "constant_fill");
    EXPECT_EQ(cache.fallbacks()[0].options, "-DVALUE=7");
    EXPECT_THAT(cache.fallbacks()[0].refused, testing::HasSubstr("-cl-warp-drive"));
  }
  ProgramCache cache(context_, folder_);  // the binary is known, but it is still told
  EXPECT_EQ(value_from(cache, "-cl-warp-drive -DVALUE=7"), 7);
  EXPECT_EQ(cache.built_from_source(), 0u);
  EXPECT_EQ(cache.fallbacks().size(), 1u);
}

TEST_F(ProgramCacheTest, AWrongSourceShowsTheLogAndHasNoFallback) {
  ProgramCache cache(context_, folder_);
  EXPECT_THAT(
      [&] { cache.kernel("broken", "__kernel void broken() { nowhere(); }", "-cl-mad-enable"); },
      testing::ThrowsMessage<DeviceError>(
          testing::AllOf(testing::HasSubstr("building kernel broken"),
                         testing::HasSubstr("nowhere"), testing::HasSubstr("-cl-mad-enable"))));
  EXPECT_TRUE(cache.fallbacks().empty());
}

TEST_F(ProgramCacheTest, WorksInMemoryWhenTheFolderCannotBeMade) {
  std::ofstream(folder_) << "a file where the folder should be";
  ProgramCache cache(context_, folder_ / "cache");
  EXPECT_EQ(value_from(cache, "-DVALUE=5"), 5);
}

}  // namespace
}  // namespace fm
