#include "core/atomic_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core/error_message.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

TEST(AtomicFile, AppearsOnCommitOnly) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out");
  {
    AtomicFile file(path);
    file.stream() << "text";
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(file.temporary_path(), path + ".partial-" + std::to_string(::getpid()));
    file.commit();
  }
  EXPECT_EQ(contents_of(path), "text");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, LeavesTheOldFileWhenAbandoned) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out");
  write_file(path, "old");
  {
    AtomicFile file(path);
    file.stream() << "new";
  }
  EXPECT_EQ(contents_of(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, SaysWhyAPathCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THAT(user_error_of([&] { AtomicFile file(folder.file("none/out")); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(user_error_of([&] { AtomicFile file(folder.path()); }), HasSubstr("is a folder"));
  EXPECT_THAT(user_error_of([&] { AtomicFile file(""); }), HasSubstr("name is empty"));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(AtomicFile, AFullDiskIsADeviceError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  AtomicFile file("/dev/full");
  file.stream() << "text";
  EXPECT_THROW(file.commit(), DeviceError);
}

TEST(AtomicFile, DevicesAreWrittenInPlace) {
  AtomicFile file("/dev/null");
  file.stream() << "text";
  file.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, DashIsStandardOutput) {
  testing::internal::CaptureStdout();
  AtomicFile file("-");
  EXPECT_EQ(file.temporary_path(), "");
  file.stream() << "text";
  file.commit();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text");
}

TEST(AtomicFile, TwoAtOnceDoNotShareAPlace) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out");
  {
    AtomicFile file(path);
    EXPECT_THAT(user_error_of([&] { AtomicFile other(path); }), HasSubstr("two outputs"));
    EXPECT_THAT(user_error_of([&] { AtomicFile other(folder.path() + "/./out"); }),
                HasSubstr("two outputs"));
    EXPECT_EQ(folder.entries(), 1U);
    AtomicFile beside(path + "2");
    AtomicFile first("-");
    EXPECT_THAT(user_error_of([&] { AtomicFile second("-"); }), HasSubstr("standard output"));
    AtomicFile null("/dev/null"), null_again("/dev/null");
  }
  // One after the other, even after a failure to open.
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(user_error_of([&] { AtomicFile file(folder.file("none/out")); }),
                HasSubstr("No such file"));
    AtomicFile(path).commit();
    AtomicFile("-").commit();
  }
}

TEST(AtomicFile, RefusesToReplaceAnInput) {
  const TemporaryFolder folder;
  const std::string input = folder.file("in");
  write_file(input, "text");
  EXPECT_THAT(user_error_of([&] { AtomicFile::refuse_input(folder.path() + "/./in", {input}); }),
              HasSubstr("would be replaced"));
  AtomicFile::refuse_input(folder.file("out"), {input, "", folder.file("none")});
  AtomicFile::refuse_input("-", {input});
  AtomicFile::refuse_input("/dev/null", {"/dev/null"});
}

class Interrupted : public testing::TestWithParam<int> {};

TEST_P(Interrupted, LeavesNoPartOfAFile) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit none{0, 0};  // no core dumps
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(GetParam(), SIG_DFL);
    const AtomicFile first(folder.file("a"));
    const AtomicFile second(folder.file("b"));
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(folder.entries(), 2U);
  ::kill(child, GetParam());
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), GetParam());
  EXPECT_EQ(folder.entries(), 0U);
  ::close(ready[0]);
  ::close(ready[1]);
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupted,
                         testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU));

}  // namespace
}  // namespace fm
