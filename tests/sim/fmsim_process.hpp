#pragma once
// fmsim as its users run it: a child process, with a small trace to replay.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "paths.hpp"
#include "tests/sim/trace_builder.hpp"

namespace fm::test {

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  int status = 0;
  std::string out, err;
};

class FmsimProcess : public testing::Test {
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
  const std::string& folder() const { return folder_; }
  /// Names of all files, of folders within too.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
      if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
    }
    return names;
  }
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
    EXPECT_THAT(outcome.err, testing::HasSubstr("fmsim: error: "));
    for (const std::string& word : words)
      EXPECT_THAT(outcome.err, testing::HasSubstr(word)) << arguments;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(result)) << arguments;
  }

  void replace_trace(const std::string& bytes) const {
    std::ofstream(path("bad.trace"), std::ios::binary) << bytes;
  }

 private:
  std::string folder_;
};

}  // namespace fm::test
