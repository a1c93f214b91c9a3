// What users do to fmsim beside what it is for: status 2 or 3, a message, and no file harmed.

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/sim/fmsim_process.hpp"

namespace fm {
namespace {

using test::contents_of;
using test::Outcome;
using testing::HasSubstr;
using testing::StartsWith;

class Misuse : public test::FmsimProcess {};

TEST_F(Misuse, NumbersTakeNoSignAndNoWord) {
  for (const char* number : {"-1", "+1", "1e3", "0x10", "2x", "99999999999999999999999", "1.5"}) {
    for (const std::string option : {"--jobs", "--repeat"}) {
      expect_refused(replay() + " " + option + " " + number, {option, number, "whole number"});
    }
    expect_refused("reuse " + replay() + " --line " + number, {"--line", number});
    expect_refused(std::string("dram --bytes ") + number, {"--bytes", number});
    expect_refused(std::string("dram --requests ") + number, {"--requests", number});
  }
  expect_refused("dram --window 1.5", {"--window 1.5", "whole number"});
  expect_refused("reuse " + replay() + " --line 131072", {"--line 131072", "65536"});
}

TEST_F(Misuse, AnEmptyValueIsNoValue) {
  for (const char* option :
       {"--config", "--trace", "--jobs", "--set", "--sample", "--summary", "--launches",
        "--interval", "--perfect", "--dump-requests", "--chrome-trace"}) {
    expect_refused(replay() + " " + option + " ''", {option, "needs a value"});
  }
  for (const char* option : {"--launch", "--port", "--line", "-o"}) {
    EXPECT_THAT(run("reuse " + replay() + " " + option + " ''").err, HasSubstr("needs a value"));
  }
  for (const char* option : {"--preset", "--mapping", "--stream", "--window", "--write-share"}) {
    expect_refused(std::string("dram ") + option + " ''", {option, "needs a value"});
  }
  for (const char* option : {"--only", "--at", "--traces"}) {
    expect_refused(std::string("microbench --config mali-g715 ") + option + " ''",
                   {option, "needs a value"});
  }
}

TEST_F(Misuse, NoOptionIsIgnored) {
  for (const char* option :
       {"--json", "--launches 0:1", "--perfect l2", "--sample auto", "--repeat 2", "--summary wide",
        "--chrome-trace x", "--interval 1us", "--warm", "--jobs 2", "--trace x"}) {
    const Outcome outcome = run(std::string("--config mali-g715 --explain ") + option);
    EXPECT_EQ(outcome.status, 2) << option;
    EXPECT_THAT(outcome.err, HasSubstr("--explain simulates nothing")) << option;
    EXPECT_EQ(outcome.out, "") << option;
  }
  expect_refused(replay() + " --sample auto --dump-requests l2-slc=" + path("d.csv"),
                 {"--dump-requests", "--sample full"});
  expect_refused("dram --preset ddr4-2400 --set dram.preset=ddr4-3200",
                 {"--preset", "one of them"});
  expect_refused("dram --mapping RoBaRaCoCh --set 'dram.mapping=row bank group column'",
                 {"--mapping", "one of them"});
}

TEST_F(Misuse, TwoOutputsDoNotShareAFile) {
  std::filesystem::create_directory(path("sub"));
  for (const std::string& other : {path("one"), path("sub/../one"), folder() + "//one"}) {
    for (const std::string option : {"--chrome-trace ", "--dump-requests l2-slc="}) {
      const Outcome outcome = run(replay() + " -o " + path("one") + " " + option + other);
      EXPECT_EQ(outcome.status, 2) << option << other;
      EXPECT_THAT(outcome.err, HasSubstr("two outputs go to this file"));
      EXPECT_FALSE(std::filesystem::exists(path("one")));
    }
  }
  const Outcome outcome = run(replay() + " --chrome-trace -");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(run(replay() + " -o /dev/null --chrome-trace /dev/null").status, 0);
}

TEST_F(Misuse, AnInputIsNotOverwritten) {
  const std::string whole = contents_of(trace());
  std::ofstream(path("my.yaml")) << "schema: 1\nname: mine\ndescription: mine\nbase: mali-g715\n";
  const std::string config = contents_of(path("my.yaml"));
  const std::string mine = "--config " + path("my.yaml") + " --trace " + trace();
  std::filesystem::create_symlink(trace(), path("link"));
  for (const std::string& input : {trace(), path("my.yaml"), path("link")}) {
    for (const std::string& arguments :
         {mine + " -o " + input, mine + " --chrome-trace " + input,
          mine + " --dump-requests l2-slc=" + input, "reuse " + mine + " -o " + input}) {
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.status, 2) << arguments;
      EXPECT_THAT(outcome.err, HasSubstr("would be replaced")) << arguments;
    }
  }
  EXPECT_EQ(run("dram --requests 10 --config " + path("my.yaml") + " -o " + path("my.yaml")).status,
            2);
  EXPECT_EQ(contents_of(trace()), whole);
  EXPECT_EQ(contents_of(path("my.yaml")), config);
}

TEST_F(Misuse, APipeIsNoTrace) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refused("--config mali-g715 --trace " + path("pipe"), {"pipe", "must be a file"});
  expect_refused("--config mali-g715 --trace /dev/zero", {"/dev/zero", "must be a file"});
  expect_refused("--config /dev/zero --trace " + trace(), {"/dev/zero", "too large"});
}

TEST_F(Misuse, NamesMayBeAnyBytes) {
  for (const std::string name : {"b\xff.trace", "sp ace \xc3\xbc.trace", "q\"u.trace"}) {
    std::filesystem::copy(trace(), path(name));
    const std::string given = " --config mali-g715 --trace '" + path(name) + "' --json";
    for (const std::string command : {"", "reuse"}) {
      const Outcome outcome = run(command + given);
      ASSERT_EQ(outcome.status, 0) << name << outcome.err;
      EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << name;
    }
  }
}

TEST_F(Misuse, TextsOfAConfigStayTexts) {
  for (const std::string text : {"5", "true", "null", "a\nb", "- x", "#c", "a: b"}) {
    const std::string quoted = nlohmann::json(text).dump();
    std::ofstream(path("my.yaml")) << "schema: 1\nname: " << quoted << "\ndescription: " << quoted
                                   << "\nbase: mali-g715\nl2:\n  size: {value: 2 MiB, source: "
                                   << "assumed, cite: " << quoted << "}\n";
    const Outcome outcome = run("--config " + path("my.yaml") + " --trace " + trace() + " --json");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto config = nlohmann::json::parse(outcome.out)["config"];
    EXPECT_EQ(config["name"], text);
    EXPECT_EQ(config["description"], text);
    EXPECT_EQ(config["l2"]["size"]["cite"], text);
  }
}

TEST_F(Misuse, ARunThatFailedIsSaidOnStandardError) {
  const Outcome outcome = run(replay() + " --config no-such-phone");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("fmsim: error: no-such-phone.a: no device config"));
  const Outcome nowhere = run(replay() + " --config adreno-750");
  EXPECT_EQ(nowhere.status, 0) << nowhere.err;
  ::setenv("TMPDIR", path("none").c_str(), 1);
  const Outcome lost = run(replay() + " --config adreno-750");
  ::unsetenv("TMPDIR");
  EXPECT_EQ(lost.status, 2);
  EXPECT_THAT(lost.err, HasSubstr("TMPDIR"));
}

TEST_F(Misuse, MicrobenchmarksThatSelectNothing) {
  const std::string some = "microbench --config mali-g715 --only launch_latency";
  expect_refused(some + " --at queued=77", {"--at queued=77"});
  expect_refused(some + " --at nothing=1", {"--at nothing=1"});
  expect_refused("microbench", {"--config is missing"});
  std::filesystem::create_directory(path("empty"));
  expect_refused("microbench --config mali-g715 --traces " + path("empty"), {"no traces"});
  expect_refused("microbench --config mali-g715 --traces " + folder(), {"microbenchmark"});
  EXPECT_EQ(run(some + " --only launch_latency").out, run(some).out);
  for (const char* command : {"replay", "reuse", "dram", "microbench"}) {
    EXPECT_THAT(run(std::string(command) + " --version").out, StartsWith("fmsim ")) << command;
  }
}

TEST_F(Misuse, TextsThatOnlyLookLikeConfigs) {
  const std::string head = "schema: 1\nname: mine\ndescription: mine\nbase: mali-g715\n";
  const std::string size = "{value: 2 MiB, source: assumed, cite: x}\n";
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    std::ofstream(path("my.yaml"), std::ios::binary) << text;
    expect_refused("--config " + path("my.yaml") + " --trace " + trace(), words);
  };
  refused(head + "l2:\n\tsize: " + size, {"my.yaml:6:", "tab"});
  refused(std::string(100000, '['), {"my.yaml:1:", "deep"});
  std::string maps;
  for (int i = 0; i < 100000; ++i) maps += "{a: ";
  refused(maps, {"my.yaml:1:", "deep"});
  refused(std::string(1000, '\0'), {"my.yaml", "not valid YAML"});
  refused(head + "l2: &a {size: *a}\n", {"my.yaml:5:5"});
  refused(head + "l2s:\n  size: " + size, {"my.yaml:5:1", "'l2'"});
  refused("schema: 1\nname: \"\"\ndescription: mine\nbase: mali-g715\n", {"'name' has no text"});
  refused(head + "l2:\n  size: " + size + "  size: " + size, {"my.yaml:7:3", "given twice"});
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int copy = 0; copy < 9; ++copy) bomb += (copy == 0 ? "" : ",") + last;
    bomb += "]\n";
  }
  refused(bomb + head, {"my.yaml:1:1", "unknown key"});
  expect_refused(replay() + " --set l2.size=", {"--set l2.size=", "a value is missing"});
}

}  // namespace
}  // namespace fm
