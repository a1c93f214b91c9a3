// fmsim when its surroundings fail it: closed streams, limits, signals. No half file stays.

#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/sim/fmsim_process.hpp"

namespace fm {
namespace {

using test::contents_of;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Interrupt : public test::FmsimProcess {
 protected:
  /// A trace that takes long: the same launch many times.
  std::string long_trace() const {
    test::TraceBuilder builder;
    const auto program = builder.add_copy_program(64, 4096);
    const auto weight = builder.buffer(1, 1 << 22, trace::PRELOADED);
    builder.buffer(2, 1 << 22);
    const auto read = builder.read(1, 1 << 22, {weight});
    std::vector<std::uint64_t> launches;
    for (int i = 0; i < 2000; ++i) {
      launches.push_back(builder.launch("L" + std::to_string(i), program, {1, 2}, {read}, 1000));
    }
    builder.wait(launches);
    write_trace(path("long.trace"), builder.trace());
    return path("long.trace");
  }
  /// fmsim, ended by a signal a moment after `begun` names a file of the folder. Its wait status.
  int interrupted(std::vector<std::string> arguments, int signal_number,
                  const std::string& begun) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const int null = ::open("/dev/null", O_RDWR);
      for (const int descriptor : {0, 1, 2}) ::dup2(null, descriptor);
      // Whatever this test was started under, and without core dumps.
      for (const int ending : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(ending, SIG_DFL);
      const rlimit none{0, 0};
      ::setrlimit(RLIMIT_CORE, &none);
      arguments.insert(arguments.begin(), FM_FMSIM);
      std::vector<char*> argv;
      for (std::string& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      ::execv(FM_FMSIM, argv.data());
      ::_exit(127);
    }
    const auto has_begun = [&] {
      for (const std::string& name : files()) {
        if (name.find(begun) != std::string::npos) return true;
      }
      return false;
    };
    int status = 0;
    while (!has_begun()) {
      if (::waitpid(child, &status, WNOHANG) == child) return status;  // too early
      ::usleep(1000);
    }
    ::kill(child, signal_number);
    ::waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(Interrupt, AReaderThatGoesAwayIsAFailedWrite) {
  // The status of fmsim, not of the reader.
  const std::string command = "(" FM_FMSIM " " + replay() + " --json --chrome-trace " +
                              path("c.json") + " 2>" + path("err") + "; echo $? >" +
                              path("status") + ") | sleep 0";
  ASSERT_EQ(std::system(("bash -c '" + command + "'").c_str()), 0);
  EXPECT_EQ(contents_of(path("status")), "3\n");
  EXPECT_EQ(contents_of(path("err")), "fmsim: error: standard output: write failed\n");
  for (const std::string& name : files()) EXPECT_THAT(name, Not(HasSubstr("partial")));
}

TEST_F(Interrupt, AClosedStreamIsAFailedWriteAndNoFilesOwn) {
  const auto status_of = [&](const std::string& arguments, const std::string& closed) {
    const std::string command = FM_FMSIM " " + arguments + " " + closed;
    return WEXITSTATUS(std::system(("bash -c '" + command + "' >" + path("out")).c_str()));
  };
  for (const std::string closed : {"<&-", "2>&-", ">&-", "<&- >&- 2>&-"}) {
    const int expected = closed == "<&-" || closed == "2>&-" ? 0 : 3;
    std::filesystem::remove(path("r.json"));
    EXPECT_EQ(status_of(replay() + " --json --summary wide -o " + path("r.json") +
                            " --chrome-trace " + path("c.json"),
                        closed),
              expected)
        << closed;
    EXPECT_TRUE(nlohmann::json::accept(contents_of(path("r.json")))) << closed;
    std::filesystem::remove_all(path("results"));
    EXPECT_EQ(status_of(replay() + " --config adreno-750 -o " + path("results"), closed), expected)
        << closed;
    EXPECT_THAT(contents_of(path("results/mali-g715.a.txt")), HasSubstr("integrated")) << closed;
  }
}

TEST_F(Interrupt, AFileSizeLimitIsAFailedWrite) {
  const std::string command = "ulimit -f 4; " FM_FMSIM " " + replay() + " --json -o " +
                              path("r.json") + " 2>" + path("err");
  const int status = std::system(("bash -c '" + command + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_THAT(contents_of(path("err")), HasSubstr("r.json: write failed"));
  for (const std::string& name : files()) EXPECT_THAT(name, Not(StartsWith("r.json")));
}

TEST_F(Interrupt, ASignalLeavesNoPartOfAFile) {
  const std::string slow = long_trace();
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const int status = interrupted(
        {"--config", "mali-g715", "--trace", slow, "--json", "-o", path("r.json"), "--chrome-trace",
         path("c.json"), "--dump-requests", "l2-slc=" + path("d.csv")},
        signal_number, "d.csv.partial");
    ASSERT_TRUE(WIFSIGNALED(status)) << signal_number;
    EXPECT_EQ(WTERMSIG(status), signal_number);
    EXPECT_EQ(files().size(), 2u) << signal_number;  // the traces
  }
}

TEST_F(Interrupt, ASignalEndsABatchAndAllItsRuns) {
  const std::string slow = long_trace();
  const std::size_t before = files().size();
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = interrupted({"--config", "mali-g715", "--config", "adreno-750", "--trace",
                                    slow, "--jobs", "2", "--json", "-o", path("results")},
                                   signal_number, "adreno-750.long.json.partial");
    ASSERT_TRUE(WIFSIGNALED(status)) << signal_number;
    EXPECT_EQ(WTERMSIG(status), signal_number);
    EXPECT_EQ(files().size(), before) << signal_number;
    EXPECT_TRUE(std::filesystem::is_empty(path("results"))) << signal_number;
  }
}

}  // namespace
}  // namespace fm
