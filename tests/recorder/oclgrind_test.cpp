// An independent witness: Oclgrind (J. Price, S. McIntosh-Smith, IWOCL 2015), a simulator of OpenCL
// devices, runs the plain kernels and counts every load and store. Traces must expand to the same
// numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "core/access_expander.hpp"
#include "executor/recorder/program_recorder.hpp"
#include "paths.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/executor/small_network.hpp"
#include "tests/recorder/recorded_device.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::SmallNetwork;

constexpr const char* oclgrind_library = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

/// Work-items' loads and stores by instruction, as Oclgrind names them.
using Counts = std::map<std::string, std::uint64_t>;

const std::vector<std::string>& counted_instructions() {
  static const std::vector<std::string> names = {"read_imagef",  "write_imagef", "vload_half4",
                                                 "vstore_half4", "vload4",       "vstore4"};
  return names;
}

/// One entry a kernel launch, from the output of OCLGRIND_INST_COUNTS=1.
std::vector<Counts> oclgrind_counts(const std::string& output) {
  std::vector<Counts> launches;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("Instructions executed for kernel", 0) == 0) launches.emplace_back();
    const std::size_t dash = line.find(" - call _Z");
    if (dash == std::string::npos || launches.empty()) continue;
    std::string number = line.substr(0, dash);
    number.erase(std::remove(number.begin(), number.end(), ','), number.end());
    for (const std::string& name : counted_instructions()) {
      // Mangled names: _Z, the length of the name, the name.
      const std::string mangled = "_Z" + std::to_string(name.size()) + name;
      if (line.compare(dash + 8, mangled.size(), mangled) == 0) {
        launches.back()[name] += std::stoull(number);
      }
    }
  }
  return launches;
}

std::string instruction_of(const trace::Site& site) {
  if (site.space() == trace::IMAGE) return site.write() ? "write_imagef" : "read_imagef";
  if (site.bytes() == 8) return site.write() ? "vstore_half4" : "vload_half4";
  return site.write() ? "vstore4" : "vload4";
}

Counts expanded_counts(const trace::AccessProgram& program) {
  const IndexValues none;
  const AccessExpander expander(program, none);
  Counts counts;
  for (std::uint64_t group = 0; group < group_total(program); ++group) {
    expander.wave(
        group_at(program, group), 0, items_per_group(program),
        [&](const WaveAccess& access) {
          const trace::Site& site = program.sites(static_cast<int>(access.site));
          counts[instruction_of(site)] += access.lanes.size();
        },
        nullptr);
  }
  return counts;
}

class OclgrindTest : public testing::TestWithParam<std::pair<Placement, DataType>> {};

TEST_P(OclgrindTest, CountsTheSameLoadsAndStores) {
  if (!std::filesystem::exists(oclgrind_library)) {
    GTEST_SKIP() << "Oclgrind is missing: install the package oclgrind";
  }
  NetworkOptions options;
  options.weights = options.activations = GetParam().first;
  options.storage = GetParam().second;
  options.layers = 2;
  const SmallNetwork network(options);
  const TemporaryFolder folder;
  write_file(folder.file("plan.yaml"), to_yaml(network.plan()));
  network.write_weights(folder.file("w.fmw"));
  const std::string command = "cd " + folder.path() + " && env XDG_CACHE_HOME=" + folder.path() +
                              " OCL_ICD_VENDORS=" + oclgrind_library +
                              " OCLGRIND_INST_COUNTS=1 " FM_FMEXEC
                              " --plan plan.yaml --weights w.fmw >out 2>err";
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0) << contents_of(folder.file("err"));
  const std::vector<Counts> seen = oclgrind_counts(contents_of(folder.file("out")));

  RecordedDevice& device = RecordedDevice::get();
  ProgramRecorder programs(device.context, device.cache);
  std::vector<Counts> expanded;
  for (const PlanLaunch& launch : network.plan().launches) {
    const std::uint32_t id = programs.record(network.plan(), launch, nullptr);
    expanded.push_back(expanded_counts(programs.program(id)));
  }
  EXPECT_EQ(seen, expanded);
}

INSTANTIATE_TEST_SUITE_P(Storage, OclgrindTest,
                         testing::Values(std::pair{Placement::buffer, DataType::f16},
                                         std::pair{Placement::buffer, DataType::f32},
                                         std::pair{Placement::image2d, DataType::f16}));

}  // namespace
}  // namespace fm
