// fmsim as its users run it: a child process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/capacity_law.hpp"
#include "core/device_config.hpp"
#include "tests/sim/fmsim_process.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using testing::Not;

using test::contents_of;
using test::Outcome;

class Fmsim : public test::FmsimProcess {};

/// The first line that does not fit a terminal of 80 columns; "" when all do.
std::string too_wide_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 80) return line;
  }
  return "";
}

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
  EXPECT_THAT(outcome.out, Not(HasSubstr("Lanes over time")));
  EXPECT_EQ(too_wide_line(outcome.out), "");
}

TEST_F(Fmsim, WideSummariesFitATerminalOnEveryDevice) {
  const std::string traces = FM_TRACES "/microbench/";
  for (const std::string& trace : {trace(), traces + "disk_read.trace",
                                   traces + "launch_latency.trace", traces + "wave_width.trace"}) {
    for (const char* config : {"mali-g52", "mali-g610", "mali-g715", "adreno-540", "adreno-740",
                               "adreno-750", "pocl-host"}) {
      const Outcome outcome =
          run(std::string("--summary wide --sample auto --config ") + config + " --trace " + trace);
      ASSERT_EQ(outcome.status, 0) << config << " " << trace << "\n" << outcome.err;
      EXPECT_EQ(too_wide_line(outcome.out), "") << config << " " << trace;
      EXPECT_THAT(outcome.out, HasSubstr("\nLanes over time")) << config << " " << trace;
    }
  }
}

TEST_F(Fmsim, TheWideSummaryGoesOnWhereTheBriefOneEnds) {
  // But for how long the simulation took here.
  const auto without_seconds = [](const std::string& text) {
    const std::string before = "simulated in ";
    const std::size_t begin = text.find(before) + before.size();
    return text.substr(0, begin) + text.substr(text.find(" s\n", begin));
  };
  const std::string brief = without_seconds(run(replay() + " --summary brief").out);
  EXPECT_EQ(without_seconds(run(replay()).out), brief);
  const std::string wide = without_seconds(run(replay() + " --summary wide").out);
  EXPECT_EQ(wide.substr(0, brief.size()), brief);
  for (const char* title :
       {"\nLanes over time", "\nKernels\n", "\nMemory hierarchy", "\nIssue slots"}) {
    EXPECT_THAT(wide.substr(brief.size()), HasSubstr(title));
  }
  const Outcome beside = run(replay() + " --json -o " + path("r.json") + " --summary wide");
  EXPECT_EQ(without_seconds(beside.out), wide);
  EXPECT_EQ(run(replay() + " --json -o " + path("r.json")).out, "");
  ASSERT_EQ(run(replay() + " --config adreno-750 --summary wide -o " + path("texts")).status, 0);
  EXPECT_EQ(without_seconds(contents_of(path("texts/mali-g715.a.txt"))), wide);
}

TEST_F(Fmsim, SummariesThatCannotBePrintedAreRefused) {
  expect_refused(replay() + " --summary wid", {"--summary wid", "did you mean", "wide"});
  expect_refused(replay() + " --summary all", {"--summary all", "brief", "wide"});
  EXPECT_THAT(run(replay() + " --json --summary brief").err, HasSubstr("--summary beside --json"));
  const std::string both = replay() + " --config adreno-750 --summary wide";
  for (const std::string& arguments : {both, both + " --json -o " + path("results")}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("--summary of several simulations goes into files"));
  }
}

TEST_F(Fmsim, JsonHasTheDesignsKeysAndIsTheSameTwice) {
  ASSERT_EQ(run(replay() + " --json -o " + path("1.json")).status, 0);
  ASSERT_EQ(run(replay() + " --json -o " + path("2.json") + " --summary brief").status, 0);
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

TEST_F(Fmsim, IntervalsChangeNothingAndSumToTheTotals) {
  ASSERT_EQ(run(replay() + " --json -o " + path("whole.json")).status, 0);
  const auto whole = nlohmann::json::parse(contents_of(path("whole.json")));
  for (const char* length : {"1us", "10us", "1s"}) {
    const Outcome outcome = run(replay() + " --interval " + length + " --json -o " +
                                path("parts.json") + " --chrome-trace " + path("chrome.json"));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    auto parts = nlohmann::json::parse(contents_of(path("parts.json")));
    const auto intervals = parts["intervals"];
    parts.erase("intervals");
    EXPECT_EQ(parts["checks"].size(), whole["checks"].size() + 1);
    parts["checks"] = whole["checks"];
    EXPECT_EQ(parts, whole) << length;
    for (const auto& [name, counter] : whole["counters"].items()) {
      double sum = 0;
      if (intervals["counters"].contains(name)) {
        EXPECT_EQ(intervals["counters"][name].size(), intervals["end_ns"].size());
        for (const double movement : intervals["counters"][name]) sum += movement;
      }
      EXPECT_EQ(sum, counter["value"].get<double>()) << name << " over " << length;
    }
    EXPECT_GE(intervals["end_ns"].back(), whole["latency"]["integrated_ns"]);
    EXPECT_THAT(contents_of(path("chrome.json")), HasSubstr("storage.read_bytes"));
  }
  // Of the last repetition alone, whose check compares the sums; a broken law exits with 1.
  EXPECT_EQ(run(replay() + " --repeat 2 --interval 10us --json -o " + path("warm.json")).status, 0);
  expect_refused(replay() + " --interval 10", {"--interval 10", "has no unit"});
  expect_refused(replay() + " --interval 10MB", {"not one of a time"});
  expect_refused(replay() + " --interval 0us", {"needs 1 ns"});
  expect_refused(replay() + " --interval 1ns", {"more than 50000 intervals"});
  EXPECT_EQ(run(replay() + " --interval 1us").status, 2);
}

TEST_F(Fmsim, SeveralSimulationsGiveWhatEachGivesAlone) {
  std::filesystem::copy(trace(), path("b.trace"));
  const std::string both =
      "--config mali-g715 --config adreno-750 --trace " + trace() + " --trace " + path("b.trace");
  const std::string folder = path("results");
  const Outcome outcome = run(both + " --set l2.merges=4 --jobs 3 --json -o " + folder);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  ASSERT_EQ(run("--config adreno-750 --trace " + path("b.trace") + " --set l2.merges=4 --json -o " +
                path("alone.json"))
                .status,
            0);
  EXPECT_EQ(contents_of(folder + "/adreno-750.b.json"), contents_of(path("alone.json")));
  for (const char* name : {"mali-g715.a", "mali-g715.b", "adreno-750.a", "adreno-750.b"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n") + name + " "));
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name + ".json"));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 4);
  // One at a time, the summaries kept, or nothing but the table.
  ASSERT_EQ(run(both + " --set l2.merges=4 -o " + folder + "/texts").status, 0);
  EXPECT_THAT(contents_of(folder + "/texts/mali-g715.a.txt"), HasSubstr("integrated"));
  EXPECT_EQ(run(both + " --set l2.merges=4").out, outcome.out);
}

TEST_F(Fmsim, AFailureAmongSeveralIsKeptApart) {
  replace_trace("nothing");
  const std::string folder = path("results");
  const Outcome outcome =
      run(replay() + " --trace " + path("bad.trace") + " --jobs 2 --json -o " + folder);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, HasSubstr("mali-g715.bad"));
  EXPECT_THAT(outcome.out, HasSubstr("failed (2): error: " + path("bad.trace")));
  EXPECT_TRUE(std::filesystem::exists(folder + "/mali-g715.a.json"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/mali-g715.bad.json"));
  EXPECT_THAT(contents_of(folder + "/mali-g715.bad.error"), HasSubstr("bad.trace"));
}

TEST_F(Fmsim, SeveralSimulationsRefuseWhatIsForOne) {
  const std::string both = replay() + " --config adreno-750";
  expect_refused(both + " --jobs 0", {"--jobs 0"});
  expect_refused(both + " --jobs many", {"--jobs"});
  expect_refused(both + " --chrome-trace x", {"--chrome-trace"});
  expect_refused(both + " --dump-requests l2-slc=x", {"--dump-requests"});
  EXPECT_EQ(run(both + " --json").status, 2);
  EXPECT_THAT(run(both + " -o " + trace()).err, HasSubstr("need -o FOLDER"));
  EXPECT_THAT(run("--config adreno-750 --config mali-g715 --explain").err,
              HasSubstr("--explain explains one"));
}

TEST_F(Fmsim, ExplainNamesEverySource) {
  const Outcome outcome = run("--config mali-g715 --explain");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const ParameterSchema& parameter : device_config_schema()) {
    EXPECT_THAT(outcome.out, HasSubstr("\n" + parameter.path + " = "));
  }
}

TEST_F(Fmsim, ExplainMarksTheCapacities) {
  const std::string text = run("--config adreno-750 --explain").out;
  const auto entry = [&](const std::string& path) {
    const std::size_t begin = text.find("\n" + path + " = ");
    return text.substr(begin, text.find("\n\n", begin) - begin);
  };
  EXPECT_THAT(entry("l2.size"), HasSubstr("\n    a capacity: --capacities scaled moves l2.latency, "
                                          "energy.l2_read, energy.l2_write"));
  for (const ParameterSchema& parameter : device_config_schema()) {
    const auto& costs = capacity_costs();
    const bool is_one = std::any_of(costs.begin(), costs.end(), [&](const CapacityCosts& one) {
      return one.capacity == parameter.path;
    });
    EXPECT_EQ(entry(parameter.path).find("a capacity:") != std::string::npos, is_one)
        << parameter.path;
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

TEST_F(Fmsim, RefusesOddValues) {
  expect_refused("--config '' --trace " + trace(), {"--config needs a value"});
  expect_refused("--config mali-g715 --trace ''", {"--trace needs a value"});
  expect_refused(replay() + " --set", {"--set"});
  expect_refused(replay() + " --set =4MiB", {"--set : unknown key"});
  expect_refused(replay() + " --set l2.size=", {"l2.size"});
  expect_refused(replay() + " --set l2.size=-1MiB", {"outside its range", "4 KiB to 256 MiB"});
  expect_refused(replay() + " --set l2.size=1e400MiB", {"not a size"});
  expect_refused(replay() + " --set 'l2.size=[1 MiB'", {"not valid YAML"});
  expect_refused(replay() + " --set gpu.cores=3.5", {"not a whole number"});
  expect_refused(replay() + " --set gpu.scheduler=oldest_firts", {"did you mean 'oldest_first'?"});
  expect_refused(replay() + " --json=yes", {"--json"});
  expect_refused(replay() + " -o", {"output"});
  expect_refused(replay() + " --config", {"config"});
  const Outcome twice = run(replay() + " -o " + path("1") + " -o " + path("2"));
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("output"));
}

TEST_F(Fmsim, RefusesFoldersWhereFilesBelongAndTheOtherWay) {
  std::filesystem::create_directory(path("folder"));
  expect_refused("--config " + path("folder") + " --trace " + trace(), {"is a folder, not a file"});
  expect_refused("--config mali-g715 --trace " + path("folder"), {path("folder")});
  const Outcome outcome = run(replay() + " --json -o " + path("folder"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("is a folder, not a file"));
  EXPECT_TRUE(std::filesystem::is_empty(path("folder")));
  expect_refused(replay() + " --chrome-trace " + path("folder"), {"is a folder, not a file"});
  // Readable by no one; root may all the same.
  std::filesystem::permissions(path("folder"), std::filesystem::perms::none);
  if (geteuid() != 0) {
    EXPECT_EQ(run(replay() + " --json -o " + path("folder/r.json")).status, 2);
    EXPECT_EQ(run(replay() + " --config adreno-750 -o " + path("folder/sub")).status, 2);
  }
  EXPECT_EQ(run(replay() + " --config adreno-750 -o /proc/nowhere").status, 2);
}

TEST_F(Fmsim, RefusesConfigsThatExtendThemselvesOrNothing) {
  const auto write = [&](const std::string& name, const std::string& base) {
    std::ofstream(path(name)) << "schema: 1\nname: mine\ndescription: mine\nbase: " << base << "\n";
  };
  write("a.yaml", "b.yaml");
  write("b.yaml", "a.yaml");
  const std::string mine = "--trace " + trace() + " --config " + path("a.yaml");
  expect_refused(mine, {path("b.yaml") + ":4:7", "base: a cycle: a.yaml -> b.yaml -> a.yaml"});
  write("a.yaml", "mali-g751");
  expect_refused(mine, {path("a.yaml") + ":4:7", "did you mean 'mali-g715'?"});
  write("a.yaml", "mobile");
  expect_refused(mine, {"missing: gpu.isa"});
  write("a.yaml", "adreno-750");
  EXPECT_EQ(run(mine).status, 0);
  expect_refused(mine + " --set dram.preset=ddr9", {"no DRAM preset 'ddr9'"});
  expect_refused(mine + " --set slc.gpu_share=0.001", {"slc.gpu_share", "outside its range"});
  expect_refused(mine + " --set dram.tRFCab=4us",
                 {"dram.tRFCab", "dram.tREFI", "dram/lpddr5x-9600.yaml:"});
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
