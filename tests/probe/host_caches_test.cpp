// Caches as Linux lists them.
#include "executor/probe/host_caches.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

class HostCaches : public testing::Test {
 protected:
  void add(int index, const std::map<std::string, std::string>& files) {
    const auto folder = std::filesystem::path(folder_.path()) / ("index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    for (const auto& [name, content] : files) std::ofstream(folder / name) << content << "\n";
  }
  std::map<std::string, std::string> facts() const { return host_cache_facts(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(HostCaches, DataAndUnifiedCachesCount) {
  add(0, {{"level", "1"}, {"type", "Data"}, {"size", "48K"}, {"ways_of_associativity", "12"}});
  add(1, {{"level", "1"}, {"type", "Instruction"}, {"size", "32K"}});
  add(2, {{"level", "2"}, {"type", "Unified"}, {"size", "1M"}, {"coherency_line_size", "64"}});
  const std::map<std::string, std::string> expected = {
      {"l1_bytes", "49152"}, {"l1_ways", "12"}, {"l2_bytes", "1048576"}, {"l2_line", "64"}};
  EXPECT_EQ(facts(), expected);
}

TEST_F(HostCaches, WhatIsNotUnderstoodIsLeftOut) {
  EXPECT_TRUE(facts().empty());
  add(0, {{"level", "1"}, {"type", "Data"}, {"size", "unknown"}});
  add(1, {{"level", "2"}, {"type", "Unified"}, {"size", "12X"}, {"ways_of_associativity", "0"}});
  add(3, {{"type", "Unified"}, {"size", "12K"}});
  EXPECT_TRUE(facts().empty());
}

}  // namespace
}  // namespace fm
