#include "executor/npz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/diagnostics.hpp"
#include "paths.hpp"
#include "tests/executor/small_network.hpp"

namespace fm {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// numpy.savez of a = float32 [[1.5, -2]], "input:/b" = int64 [3, -4], c = float64 0.25, d = float16
// [0.5], f = Fortran order: made by the command in tests/data/npz/README.md.
const std::string sample = std::string(FM_TEST_DATA) + "/npz/sample.npz";

TEST(Npz, ReadsWhatNumpyWrites) {
  for (const char* name : {"sample.npz", "compressed.npz"}) {
    const NpzReader file(std::string(FM_TEST_DATA) + "/npz/" + name);
    EXPECT_TRUE(file.has("input:/b"));
    EXPECT_FALSE(file.has("input"));
    EXPECT_EQ(file.read("a").shape, (Shape{1, 2}));
    EXPECT_THAT(file.read("a").values, ElementsAre(1.5f, -2.0f));
    EXPECT_EQ(file.read("input:/b").shape, (Shape{2}));
    EXPECT_THAT(file.read("input:/b").values, ElementsAre(3.0f, -4.0f));
    EXPECT_EQ(file.read("c").shape, Shape{});
    EXPECT_THAT(file.read("c").values, ElementsAre(0.25f));
    EXPECT_THAT(file.read("d").values, ElementsAre(0.5f));
  }
}

TEST(Npz, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.npz");
  std::map<std::string, NpyArray> arrays;
  arrays["output:/y/Add_0"] = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  arrays["scalar"] = {{}, {-7}};
  arrays["vector"] = {{4}, {0, -1, 1e-8f, 3e38f}};
  write_npz(path, arrays);
  const NpzReader file(path);
  EXPECT_EQ(file.names().size(), 3u);
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(file.read(name).shape, array.shape);
    EXPECT_EQ(file.read(name).values, array.values);
  }
}

TEST(Npz, NamesFileAndArrayOfEveryFault) {
  const NpzReader file(sample);
  EXPECT_THAT([&] { file.read("nothing"); }, ThrowsMessage<UserError>(testing::AllOf(
                                                 HasSubstr("sample.npz"), HasSubstr("'nothing'"))));
  EXPECT_THAT([&] { file.read("f"); }, ThrowsMessage<UserError>(HasSubstr("Fortran")));
  EXPECT_THAT([&] { file.read("text"); }, ThrowsMessage<UserError>(HasSubstr("type")));
  EXPECT_THROW(NpzReader("/nowhere/x.npz"), UserError);
}

TEST(Npz, DamagedArchivesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("damaged.npz");
  std::filesystem::copy_file(sample, path);
  {
    // The first array's data begin after the zip header and the 128-byte .npy header.
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    std::string all{std::istreambuf_iterator<char>(bytes), {}};
    const std::size_t data = all.find("NUMPY") - 1 + 128;
    bytes.clear();
    bytes.seekp(static_cast<std::streamoff>(data));
    bytes.put(static_cast<char>(all[data] ^ 0x40));
  }
  EXPECT_THAT([&] { NpzReader(path).read("a"); }, ThrowsMessage<UserError>(HasSubstr("damaged")));
  std::filesystem::resize_file(path, 100);
  EXPECT_THROW(NpzReader file(path), UserError);
}

}  // namespace
}  // namespace fm
