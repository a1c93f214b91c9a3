// fmsim as its users run it: a child process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/device_config.hpp"
#include "paths.hpp"
#include "tests/sim/trace_builder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  int status = 0;
  std::string out, err;
};

class Fmsim : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "fmsim." + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    test::TraceBuilder builder;
    const auto program = builder.add_copy_program(64, 64);
    const auto weight = builder.buffer(1, 65536, trace::PRELOADED);
    builder.buffer(2, 65536);
    const auto read = builder.read(1, 65536, {weight});
    builder.wait({builder.launch("L0", program, {1, 2}, {read}, 1000)});
    write_trace(trace(), builder.trace());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string trace() const { return path("a.trace"); }
  std::string replay() const { return "--config mali-g715 --trace " + trace(); }

  Outcome run(const std::string& arguments) const {
    const std::string command = std::string(FM_FMSIM) + " " + arguments + " >" + path("out") +
                                " 2>" + path("err") + " </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents_of(path("out")),
            contents_of(path("err"))};
  }

  /// Status 2, a message with all of `words`, and no result.
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) const {
    const std::string result = path("result.json");
    const Outcome outcome = run(arguments + " --json -o " + result);
    EXPECT_EQ(outcome.status, 2) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("fmsim: error: "));
    for (const std::string& word : words) EXPECT_THAT(outcome.err, HasSubstr(word)) << arguments;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(result)) << arguments;
  }

  void replace_trace(const std::string& bytes) const {
    std::ofstream(path("bad.trace"), std::ios::binary) << bytes;
  }

 private:
  std::string folder_;
};

TEST_F(Fmsim, PerfectPartsAndRequestDumps) {
  const std::string dump = path("requests.csv");
  const Outcome plain = run(replay() + " --json --dump-requests l2-slc=" + dump);
  ASSERT_EQ(plain.status, 0) << plain.err;
  const auto result = nlohmann::json::parse(plain.out);
  const std::string rows = contents_of(dump);
  EXPECT_EQ(rows.rfind("time_ps,client,kind,address,bytes\n", 0), 0u);
  const auto crossed = static_cast<std::uint64_t>(result["counters"]["l2.fetches"]["value"]) +
                       static_cast<std::uint64_t>(result["counters"]["l2.writes_below"]["value"]);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 1 + static_cast<std::int64_t>(crossed));
  EXPECT_FALSE(result["latency_histograms"].empty());
  EXPECT_TRUE(result["perfect"].empty());
  const Outcome perfect = run(replay() + " --json --perfect l2 --perfect disk --perfect launch" +
                              " --perfect dram --perfect texture");
  ASSERT_EQ(perfect.status, 0) << perfect.err;
  const auto faster = nlohmann::json::parse(perfect.out);
  EXPECT_EQ(faster["perfect"].size(), 5u);
  EXPECT_LT(static_cast<double>(faster["latency"]["integrated_ns"]),
            static_cast<double>(result["latency"]["integrated_ns"]));
  EXPECT_EQ(faster["counters"]["l2.fetches"]["value"], 0);
  expect_refused(replay() + " --perfect gpu", {"--perfect gpu", "dram"});
  expect_refused(replay() + " --dump-requests l2", {"PORT=FILE"});
  expect_refused(replay() + " --dump-requests l3=" + dump, {"l2-slc"});
  expect_refused(replay() + " --dump-requests core-cluster=" + dump, {"cluster.size"});
}

TEST_F(Fmsim, ReuseCurvesRiseToTheShareOfRepeatedLines) {
  const Outcome all = run("reuse " + replay() + " --json --launch L0");
  ASSERT_EQ(all.status, 0) << all.err;
  const auto json = nlohmann::json::parse(all.out);
  EXPECT_EQ(json["launch"], "L0");
  const auto accesses = static_cast<std::uint64_t>(json["accesses"]);
  const auto lines = static_cast<std::uint64_t>(json["lines"]);
  EXPECT_GT(lines, 64u);
  EXPECT_EQ(static_cast<std::uint64_t>(json["curve"].back()["hits"]), accesses - lines);
  EXPECT_EQ(run("reuse " + replay() + " --launch L9").status, 2);
  EXPECT_EQ(run("reuse " + replay() + " --line 60").status, 2);
  EXPECT_EQ(run("reuse " + replay() + " --port slc").status, 2);
  EXPECT_THAT(run("reuse " + replay()).out, HasSubstr("capacity"));
}

TEST_F(Fmsim, SummaryFitsATerminal) {
  const Outcome outcome = run(replay());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* word : {"mali-g715", "integrated", "floor", "preloaded", "L0", "bounded",
                           "Hit rates", "conservation laws hold"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(Fmsim, JsonHasTheDesignsKeysAndIsTheSameTwice) {
  ASSERT_EQ(run(replay() + " --json -o " + path("1.json")).status, 0);
  ASSERT_EQ(run(replay() + " --json -o " + path("2.json") + " --summary").status, 0);
  const std::string text = contents_of(path("1.json"));
  EXPECT_EQ(text, contents_of(path("2.json")));
  const auto json = nlohmann::json::parse(text);
  for (const char* key :
       {"schema_version", "config", "trace", "sampling", "latency", "floor", "memory", "timeline",
        "peaks", "energy", "launches", "counters", "checks"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["sampling"]["mode"], "full");
  EXPECT_EQ(json["launches"].size(), 1u);
  EXPECT_EQ(json["launches"][0]["macs"], 1000);
  EXPECT_EQ(json["trace"]["file"], trace());
}

TEST_F(Fmsim, SetChangesTheEffectiveConfigAndTheResult) {
  ASSERT_EQ(run(replay() + " --json -o " + path("1.json")).status, 0);
  ASSERT_EQ(run(replay() + " --set storage.command_latency=9ms --set l2.size=1MiB --json -o " +
                path("2.json"))
                .status,
            0);
  const auto before = nlohmann::json::parse(contents_of(path("1.json")));
  const auto after = nlohmann::json::parse(contents_of(path("2.json")));
  EXPECT_GT(after["latency"]["integrated_ns"], before["latency"]["integrated_ns"]);
  EXPECT_THAT(after["config"].dump(), HasSubstr("command line"));
}

TEST_F(Fmsim, ChromeTraceIsWritten) {
  ASSERT_EQ(run(replay() + " --chrome-trace " + path("chrome.json")).status, 0);
  EXPECT_THAT(contents_of(path("chrome.json")), HasSubstr("L0"));
}

TEST_F(Fmsim, ExplainNamesEverySource) {
  const Outcome outcome = run("--config mali-g715 --explain");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const ParameterSchema& parameter : device_config_schema()) {
    EXPECT_THAT(outcome.out, HasSubstr("\n" + parameter.path + " = "));
  }
}

TEST_F(Fmsim, HelpAndVersion) {
  EXPECT_THAT(run("--help").out, HasSubstr("Example"));
  EXPECT_THAT(run("--help").out, HasSubstr("Commands"));
  EXPECT_THAT(run("replay --help").out, HasSubstr("usage: fmsim"));
  EXPECT_THAT(run("--version").out, HasSubstr("fmsim 0.1.0"));
}

TEST_F(Fmsim, RefusesWrongUsage) {
  expect_refused("--trace " + trace(), {"--config"});
  expect_refused("--config mali-g715", {"--trace"});
  expect_refused(replay() + " --sample some", {"--sample some"});
  expect_refused(replay() + " --chrome-trase x",
                 {"--chrome-trase", "did you mean '--chrome-trace'"});
  expect_refused("repley " + replay(), {"repley", "did you mean 'replay'"});
  expect_refused(replay() + " stray", {"belongs to no option"});
  expect_refused(replay() + " --set l2.size", {"path=value"});
}

TEST_F(Fmsim, RefusesUnknownConfigsKeysAndUnits) {
  expect_refused("--config no-such-phone --trace " + trace(), {"no-such-phone"});
  expect_refused(replay() + " --set l2.sise=1MiB", {"l2.sise", "l2.size"});
  expect_refused(replay() + " --set l2.size=1GHz", {"l2.size"});
  expect_refused(replay() + " --set l2.line=48B", {"l2.line"});
}

TEST_F(Fmsim, RefusesTracesThatAreMissingTruncatedOrDamaged) {
  expect_refused("--config mali-g715 --trace " + path("none.trace"), {"none.trace"});
  const std::string bad = "--config mali-g715 --trace " + path("bad.trace");
  const std::string whole = contents_of(trace());
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 1 + whole.size() / 23) {
    replace_trace(whole.substr(0, bytes));
    expect_refused(bad, {"bad.trace"});
  }
  for (std::size_t byte = 0; byte < whole.size(); byte += 1 + whole.size() / 23) {
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 4);
    replace_trace(flipped);
    expect_refused(bad, {"bad.trace"});
  }
}

TEST_F(Fmsim, RefusesOlderAndNewerTraces) {
  const std::string bad = "--config mali-g715 --trace " + path("bad.trace");
  std::string other = contents_of(trace());
  other[8] = 0;  // the version follows eight bytes of magic
  replace_trace(other);
  expect_refused(bad, {"bad.trace", "older"});
  other[8] = 99;
  replace_trace(other);
  expect_refused(bad, {"bad.trace", "newer"});
}

TEST_F(Fmsim, OutOfMemoryIsAnAnswerNotACrash) {
  expect_refused(
      replay() +
          " --set limits.max_allocation=1MiB --set limits.app_memory=1MiB --set mmu.page_size=1MiB",
      {"out of memory", "preloaded"});
}

TEST_F(Fmsim, RefusesToWriteWhereItCannot) {
  const Outcome outcome = run(replay() + " --json -o " + path("no/such/folder/r.json"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace fm
