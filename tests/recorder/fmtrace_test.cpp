// fmtrace as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "paths.hpp"
#include "tests/core/small_trace.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Finished {
  int status = 0;
  std::string out, err;
};

class FmtraceTest : public testing::Test {
 protected:
  FmtraceTest() {
    Trace trace = small_trace();
    trace.header.clear_plan_yaml();
    // The index load reads within its contents.
    write_trace(folder_.file("t.trace"), trace);
  }

  Finished run(const std::string& arguments) const {
    const TemporaryFolder output;
    const std::string command = "cd " + folder_.path() + " && " FM_FMTRACE " " + arguments + " >" +
                                output.file("out") + " 2>" + output.file("err");
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), contents_of(output.file("out")), contents_of(output.file("err"))};
  }
  void expect_refused(const std::string& arguments, const std::string& words) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 2) << arguments << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("fmtrace: error: "));
    EXPECT_THAT(finished.err, HasSubstr(words));
    EXPECT_EQ(finished.out, "");
  }

  TemporaryFolder folder_;
};

TEST_F(FmtraceTest, InfoCountsWhatIsThere) {
  const Finished text = run("info t.trace");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("1 disk_read"));
  EXPECT_THAT(text.out, HasSubstr("4096 bytes read from disk, 1024 copied"));
  const Finished json = run("info t.trace --json");
  EXPECT_EQ(json.status, 0);
  EXPECT_THAT(json.out, HasSubstr("\"bytes_read\": 4096"));
  EXPECT_THAT(json.out, HasSubstr("\"groups_total\": 8"));
}

TEST_F(FmtraceTest, DumpPrintsOperationsAccessesAndPrograms) {
  EXPECT_THAT(run("dump t.trace").out, HasSubstr("launch L0"));
  const Finished accesses = run("dump t.trace --launch L0 --group 1,1,0 --width 4 --wave 1");
  EXPECT_EQ(accesses.status, 0) << accesses.err;
  EXPECT_THAT(accesses.out, HasSubstr("wave 1 site 0 global read argument 0, 8 bytes, epoch 0: "
                                      "0=32 1=40 2=48 3=56\n"));
  EXPECT_THAT(run("dump t.trace --program 1").out, HasSubstr("at 8 * local.x"));
  EXPECT_EQ(run("dump t.trace --limit 2").out.find("\n3 "), std::string::npos);
}

TEST_F(FmtraceTest, CheckAcceptsASoundTrace) {
  const Finished finished = run("check t.trace");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("sound"));
}

TEST_F(FmtraceTest, CheckExitsWithFourWhenAccessesLeaveTheirObject) {
  Trace trace = small_trace();
  trace.header.clear_plan_yaml();
  trace.programs[0].mutable_sites(0)->set_index_load(false);
  trace.programs[0].mutable_sites(0)->mutable_x()->set_constant(5000);
  trace.index_contents.clear();
  write_trace(folder_.file("far.trace"), trace);
  const Finished finished = run("check far.trace");
  EXPECT_EQ(finished.status, 4);
  EXPECT_THAT(finished.err, HasSubstr("launch L0: argument 0 of 4096 bytes is accessed"));
}

TEST_F(FmtraceTest, DamageIsAUsersError) {
  std::string bytes = contents_of(folder_.file("t.trace"));
  write_file(folder_.file("short.trace"), bytes.substr(0, bytes.size() - 5));
  expect_refused("info short.trace", "truncated");
  bytes[bytes.size() / 2] ^= 16;
  write_file(folder_.file("flipped.trace"), bytes);
  expect_refused("check flipped.trace", "flipped.trace: is damaged at byte");
  write_file(folder_.file("other.trace"), "no trace at all");
  expect_refused("dump other.trace", "not a trace");
  expect_refused("info missing.trace", "missing.trace");
}

TEST_F(FmtraceTest, WrongUsageSaysWhatIsRight) {
  expect_refused("", "a command is missing");
  expect_refused("inof t.trace", "info");
  expect_refused("info", "takes one trace");
  expect_refused("dump t.trace --launch L9", "no launch 'L9'");
  expect_refused("dump t.trace --launch L0 --group 4,0,0", "4x2x1 work-groups");
  expect_refused("dump t.trace --launch L0 --group four", "three numbers");
  expect_refused("dump t.trace --wave 1", "need --launch");
  expect_refused("dump t.trace --program 7", "no access program 7");
  expect_refused("compose --plan p.yaml", "--traces");
  expect_refused("info t.trace --jsno", "unrecognised option");
}

TEST_F(FmtraceTest, NoOptionIsIgnoredAndNoNumberWrapsAround) {
  for (const char* number : {"-1", "+1", "2x", "1e3", "1.5", "99999999999", "''"}) {
    for (const char* option : {"--wave ", "--width ", "--limit ", "--program "}) {
      expect_refused(std::string("dump t.trace --launch L0 ") + option + number, "invalid");
    }
    expect_refused(std::string("check t.trace --groups ") + number, "invalid");
  }
  expect_refused("info t.trace --launch L0", "fmtrace info takes no --launch");
  expect_refused("dump t.trace --json", "fmtrace dump takes no --json");
  expect_refused("check t.trace --width 4", "fmtrace check takes no --width");
  expect_refused("compose t.trace --plan p.yaml --traces t.trace -o x", "by --traces");
}

TEST_F(FmtraceTest, ItsInputIsNotOverwritten) {
  const std::string whole = contents_of(folder_.file("t.trace"));
  expect_refused("info t.trace -o ./t.trace", "would be replaced");
  expect_refused("dump t.trace -o t.trace", "would be replaced");
  expect_refused("check t.trace -o t.trace", "would be replaced");
  expect_refused("compose --plan p.yaml --traces t.trace -o t.trace", "would be replaced");
  EXPECT_EQ(contents_of(folder_.file("t.trace")), whole);
}

TEST_F(FmtraceTest, ANameOfAnyBytesGivesJson) {
  std::filesystem::copy(folder_.file("t.trace"), folder_.file("b\xff.trace"));
  const Finished finished = run("info 'b\xff.trace' --json");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\xef\xbf\xbd.trace"));
}

TEST_F(FmtraceTest, ComposeWritesNothingWhenItFails) {
  expect_refused("compose --plan missing.yaml --traces t.trace -o made.trace", "missing.yaml");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("made.trace")));
}

TEST_F(FmtraceTest, HelpAndVersion) {
  EXPECT_THAT(run("--help").out, HasSubstr("Example: fmtrace dump"));
  EXPECT_THAT(run("--version").out, HasSubstr("fmtrace "));
}

}  // namespace
}  // namespace fm
