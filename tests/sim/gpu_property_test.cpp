// Random programs on random valid configs: everything drains, every law holds, nothing depends on
// how far a block runs ahead.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/result.hpp"
#include "tests/sim/gpu_machine.hpp"
#include "tests/sim/random_config.hpp"
#include "tests/sim/random_program.hpp"

namespace fm {
namespace {

using test::Draw;
using test::GpuMachine;
using test::part_arguments;
using test::random_config;
using testing::IsEmpty;

std::vector<ArgumentBinding> bind(const trace::AccessProgram& program) {
  std::vector<ArgumentBinding> arguments;
  for (const auto& site : program.sites()) {
    if (site.space() == trace::LOCAL) continue;
    const bool is_image = site.space() == trace::IMAGE;
    const std::uint64_t address = (1 + std::uint64_t{site.argument()}) << 30;
    arguments.push_back(is_image ? test::image(site.argument(), address, 61, 47, 8)
                                 : test::buffer(site.argument(), address));
  }
  return arguments;
}

/// Everything a run shows, as text.
std::string everything(const GpuMachine& machine) {
  std::string text;
  for (const auto& [name, entry] : machine.registry().entries()) {
    text += name + "=" + std::to_string(machine.counter(name)) + "\n";
  }
  for (const GpuLaunchReport& report : machine.reports()) {
    text += std::to_string(report.start.count()) + ".." + std::to_string(report.end.count()) + " " +
            report.bound + "\n";
    for (const auto& [cause, share] : report.stalls)
      text += cause + "=" + std::to_string(share) + "\n";
  }
  return text;
}

class RandomGpu : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomGpu, DrainsKeepsTheLawsAndDoesNotDependOnTheWindow) {
  Draw draw(GetParam());
  const DeviceConfig config = random_config(draw);
  std::vector<test::RandomProgram> programs;
  for (std::uint32_t i = 0; i < 3; ++i) {
    programs.push_back(test::RandomProgramMaker(GetParam() * 10 + i).make());
    part_arguments(&programs.back().program);
  }
  MemoryParameters parameters = memory_parameters(config);
  std::string first;
  const Ticks lookahead = parameters.clock.lookahead;
  for (const Ticks window : {lookahead, lookahead / 3 + 1, Ticks{997}}) {
    parameters.clock.lookahead = std::min(window, lookahead);
    GpuMachine machine(config, parameters);
    for (const test::RandomProgram& made : programs) {
      machine.add(made.program, bind(made.program), 32, false, made.index);
    }
    bool copied = false, loaded = false;
    machine.memory().port(MemoryClient::copy_engine).submit({Address(123), Bytes(7000), true}, [&] {
      copied = true;
    });
    machine.memory().port(MemoryClient::storage).submit({Address(1 << 30), Bytes(9999), true}, [&] {
      loaded = true;
    });
    machine.run();
    EXPECT_THAT(machine.faults(), IsEmpty()) << config.to_yaml();
    EXPECT_EQ(machine.reports().size(), programs.size());
    EXPECT_TRUE(copied && loaded);
    if (first.empty()) {
      first = everything(machine);
    } else {
      EXPECT_EQ(everything(machine), first) << "window " << window;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGpu, testing::Range(0u, 60u));

}  // namespace
}  // namespace fm
