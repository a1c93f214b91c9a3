#include "core/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/program_options/errors.hpp>
#include <filesystem>
#include <new>

namespace fm {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int status;
  std::string message;
};

Outcome outcome_of(const std::function<ExitStatus()>& body) {
  testing::internal::CaptureStderr();
  const int status = run_main("fmtool", body);
  return {status, testing::internal::GetCapturedStderr()};
}

TEST(Diagnostics, PlacesReadLikeACompilers) {
  EXPECT_EQ((SourceLocation{"a.yaml", 3, 7}).to_string(), "a.yaml:3:7");
  EXPECT_EQ((SourceLocation{"a.yaml", 3, 0}).to_string(), "a.yaml:3");
  EXPECT_EQ((SourceLocation{"a.yaml"}).to_string(), "a.yaml");
  EXPECT_EQ(SourceLocation{}.to_string(), "");
  EXPECT_STREQ(UserError(SourceLocation{"a", 1, 2}, "wrong").what(), "a:1:2: wrong");
  EXPECT_STREQ(UserError(SourceLocation{}, "wrong").what(), "wrong");
}

TEST(Diagnostics, EveryKindOfErrorHasItsExitStatus) {
  EXPECT_EQ(outcome_of([] { return ExitStatus::done; }).status, 0);
  EXPECT_EQ(outcome_of([]() -> ExitStatus { throw UserError("x"); }).status, 2);
  EXPECT_EQ(outcome_of([]() -> ExitStatus { throw DeviceError("x"); }).status, 3);
  EXPECT_EQ(outcome_of([]() -> ExitStatus { throw VerificationError("x"); }).status, 4);
  EXPECT_EQ(outcome_of([]() -> ExitStatus { throw std::logic_error("x"); }).status, 1);
  EXPECT_EQ(outcome_of([]() -> ExitStatus { throw 5; }).status, 1);
  EXPECT_EQ(outcome_of([]() -> ExitStatus { throw std::bad_alloc(); }).status, 3);
  EXPECT_EQ(outcome_of([]() -> ExitStatus {
              throw boost::program_options::error("unrecognised option");
            }).status,
            2);
}

TEST(Diagnostics, AClosedPipeAndAFileSystemAreFailuresOfTheMachine) {
  EXPECT_EQ(outcome_of([]() -> ExitStatus {
              int ends[2];
              if (::pipe(ends) != 0) return ExitStatus::done;
              ::close(ends[0]);
              const bool written = ::write(ends[1], "x", 1) == 1;
              ::close(ends[1]);
              if (!written) throw DeviceError("write failed");
              return ExitStatus::done;
            }).message,
            "fmtool: error: write failed\n");
  EXPECT_THAT(outcome_of([]() -> ExitStatus {
                std::filesystem::directory_iterator("/none/such");
                return ExitStatus::done;
              }).message,
              HasSubstr("/none/such"));
}

TEST(Diagnostics, MessagesNameTheToolOnStderr) {
  EXPECT_EQ(outcome_of([]() -> ExitStatus {
              throw UserError({"f", 1, 2}, "bad");
            }).message,
            "fmtool: error: f:1:2: bad\n");
}

std::string said(const std::string& message) {
  return outcome_of([&]() -> ExitStatus { throw UserError(message); }).message;
}

TEST(Diagnostics, TextAndLineBreaksReachTheTerminal) {
  for (const std::string text : {"node `a` (Add)\n  second line", "µs, 图, 😀"}) {
    EXPECT_EQ(said(text), "fmtool: error: " + text + "\n");
  }
}

TEST(Diagnostics, ControlCharactersAndBrokenUtf8AreShownAsNumbers) {
  EXPECT_EQ(said("\x1b[31mred\x7f\t"), "fmtool: error: \\x1b[31mred\\x7f\\x09\n");
  EXPECT_EQ(said("a\xe8"), "fmtool: error: a\\xe8\n");
  EXPECT_EQ(said("\xe5\x9b)"), "fmtool: error: \\xe5\\x9b)\n");
  EXPECT_EQ(said("\xc0\x80\xff"), "fmtool: error: \\xc0\\x80\\xff\n");
}

TEST(Diagnostics, ShortListsArePrintedWholeWithTheNearestWord) {
  const std::vector<std::string> words{"buffer", "image2d", "constant"};
  EXPECT_EQ(accepted_words("bufer", words),
            "did you mean 'buffer'? (accepted: buffer, image2d, constant)");
  EXPECT_EQ(accepted_words("Image2D", words),
            "did you mean 'image2d'? (accepted: buffer, image2d, constant)");
  EXPECT_EQ(accepted_words("zzz", words), "(accepted: buffer, image2d, constant)");
}

TEST(Diagnostics, NeighboursSwappedCountAsOneMistake) {
  EXPECT_THAT(accepted_words("ab", {"ba", "xy"}), HasSubstr("did you mean 'ba'?"));
}

TEST(Diagnostics, LongListsShowTheNearestOnly) {
  std::vector<std::string> words;
  for (int i = 0; i < 40; ++i) words.push_back("dram.parameter" + std::to_string(i));
  words.push_back("l2.size");
  const std::string text = accepted_words("l2.sise", words);
  EXPECT_THAT(text, HasSubstr("did you mean 'l2.size'?"));
  EXPECT_THAT(text, HasSubstr("nearest of 41"));
  EXPECT_THAT(text, Not(HasSubstr("parameter39")));
}

}  // namespace
}  // namespace fm
