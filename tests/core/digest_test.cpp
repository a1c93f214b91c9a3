#include "core/digest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/error_message.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

TEST(Digest, MatchesThePublishedValuesOfNothing) {
  EXPECT_EQ(digest_of(""), "xxh3:99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(checksum_of("", 0), 0x2d06800538d394c2ULL);
}

TEST(Digest, OfAFileIsThatOfItsContents) {
  const TemporaryFolder folder;
  std::string contents(3 * 1048576 + 17, 'a');
  for (std::size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<char>(i * 131 >> 3);
  write_file(folder.file("big"), contents);
  EXPECT_EQ(digest_of_file(folder.file("big")), digest_of(contents));
}

TEST(Digest, ChangesWithEveryBit) {
  std::string text = "weights";
  const std::string before = digest_of(text);
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(digest_of(changed), before);
  }
}

TEST(Digest, NamesAFileThatCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(user_error_of([&] { digest_of_file(folder.file("none")); }),
              HasSubstr("none: cannot"));
  EXPECT_THAT(user_error_of([&] { digest_of_file(folder.path()); }), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace fm
