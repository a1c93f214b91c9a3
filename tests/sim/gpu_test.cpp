// One launch at a time on a whole GPU: what each kind of step costs and which counters it moves.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/gpu_machine.hpp"

namespace fm {
namespace {

using test::buffer, test::expression, test::GpuMachine, test::image;
using testing::IsEmpty;
using trace::GROUP_X, trace::LOCAL_X, trace::LOOP;

constexpr std::uint64_t mebi = 1 << 20;

DeviceConfig config_with(const std::vector<std::pair<std::string, std::string>>& settings = {},
                         const char* device = "mali-g715") {
  DeviceConfig config = DeviceConfig::load(device);
  for (const auto& [path, value] : settings) config.set(path, value);
  config.check();
  return config;
}

trace::AccessProgram one_wave() { return test::empty_program({16, 1, 1}, {1, 1, 1}); }

/// GPU cycles from the end of the launch overhead to the end of the launch.
std::uint64_t cycles(const DeviceConfig& config, const GpuLaunchReport& report) {
  const std::uint64_t overhead = config.time("host.launch_overhead").count();
  const auto period = static_cast<std::uint64_t>(1e12 / config.hertz("gpu.clock") + 0.5);
  return (report.end.count() - report.start.count() - overhead) / period;
}

std::uint64_t run_cycles(const DeviceConfig& config, const trace::AccessProgram& program,
                         const std::vector<ArgumentBinding>& arguments = {}) {
  GpuMachine machine(config);
  machine.add(program, arguments);
  machine.run();
  EXPECT_THAT(machine.faults(), IsEmpty());
  return cycles(config, machine.reports().at(0));
}

TEST(Gpu, ArithmeticTakesItsRate) {
  const DeviceConfig config = config_with();
  trace::AccessProgram empty = one_wave(), fma = one_wave(), special = one_wave();
  test::add_arithmetic(empty.mutable_body(), trace::FMA, 1);
  test::add_arithmetic(fma.mutable_body(), trace::FMA, 101);
  test::add_arithmetic(special.mutable_body(), trace::SPECIAL, 101);
  const std::uint64_t base = run_cycles(config, empty);
  // 128 FMA a clock over 8 engines: a wave of 16 one a cycle. Special functions: 16 over 8 engines,
  // 2 lanes a cycle.
  EXPECT_EQ(run_cycles(config, fma) - base, 100u);
  EXPECT_EQ(run_cycles(config, special) - base, 101u * 8 - 1);
}

TEST(Gpu, HalfArithmeticTakesHalfTheTime) {
  const DeviceConfig config = config_with();
  trace::AccessProgram program = one_wave();
  test::add_arithmetic(program.mutable_body(), trace::FMA, 1000);
  std::uint64_t times[2];
  for (const bool half : {false, true}) {
    GpuMachine machine(config);
    machine.add(program, {}, 32, half);
    machine.run();
    times[half] = cycles(config, machine.reports()[0]);
  }
  EXPECT_EQ(times[0] - times[1], 500u);
}

TEST(Gpu, AHitCostsTheUnitsLatency) {
  const DeviceConfig config = config_with();
  trace::AccessProgram once = one_wave(), twice = one_wave();
  for (trace::AccessProgram* program : {&once, &twice}) {
    test::add_access(program, program->mutable_body(), trace::GLOBAL, false, 4, 0,
                     expression(0, {{4, LOCAL_X}}));
    test::add_arithmetic(program->mutable_body(), trace::FMA, 1);
  }
  test::add_access(&twice, twice.mutable_body(), trace::GLOBAL, false, 4, 0,
                   expression(0, {{4, LOCAL_X}}));
  test::add_arithmetic(twice.mutable_body(), trace::FMA, 1);
  const std::uint64_t extra =
      run_cycles(config, twice, {buffer(0, mebi)}) - run_cycles(config, once, {buffer(0, mebi)});
  // Issue, a cycle into the pipe, load_store.latency, arithmetic with its latency.
  EXPECT_EQ(extra, 1 + config.cycles("load_store.latency").count() +
                       config.cycles("gpu.arithmetic_latency").count());
}

TEST(Gpu, LoadsOverlapUpToTheScoreboardsLimit) {
  // Beyond the first load, which also waits for its page's walk.
  const auto time = [&](const char* limit) {
    const DeviceConfig config =
        config_with({{"gpu.max_outstanding_loads", limit}, {"mmu.page_size", "2 MiB"}});
    std::uint64_t cycles[2];
    for (const bool many : {false, true}) {
      trace::AccessProgram program = one_wave();
      test::Body* loop =
          test::add_loop(program.mutable_body(), 0, expression(0), expression(many ? 33 : 1));
      test::add_access(&program, loop, trace::GLOBAL, false, 4, 0,
                       expression(0, {{4096, LOOP, 0}}));
      cycles[many] = run_cycles(config, program, {buffer(0, 2 * mebi)});
    }
    return cycles[1] - cycles[0];
  };
  const std::uint64_t one = time("1"), four = time("4"), sixteen = time("16");
  EXPECT_GT(one, 3 * four);
  EXPECT_GT(four, 2 * sixteen);
}

TEST(Gpu, ABarrierHoldsEveryWaveUntilTheLastArrives) {
  const DeviceConfig config = config_with();
  // Work-items of wave 0 compute long before the barrier, those of wave 1 after it.
  const auto program = [&](bool barrier) {
    trace::AccessProgram built = test::empty_program({32, 1, 1}, {1, 1, 1});
    auto* slow = test::add_guard(built.mutable_body(), expression(0, {{1, LOCAL_X}}), trace::LT,
                                 expression(16));
    test::add_arithmetic(slow->mutable_body(), trace::FMA, 1000);
    if (barrier) built.mutable_body()->Add()->mutable_barrier();
    auto* late = test::add_guard(built.mutable_body(), expression(0, {{1, LOCAL_X}}), trace::GE,
                                 expression(16));
    test::add_arithmetic(late->mutable_body(), trace::FMA, 1000);
    return built;
  };
  const std::uint64_t apart = run_cycles(config, program(false));
  const std::uint64_t together = run_cycles(config, program(true));
  EXPECT_GE(together, apart + 950);
  GpuMachine machine(config);
  machine.add(program(true), {});
  machine.run();
  EXPECT_EQ(machine.counter("core.barriers"), 1u);
  EXPECT_GT(machine.counter("core.stall.barrier"), 900u);
}

TEST(Gpu, CountersMoveOnlyWhereARequestPasses) {
  const auto counters = [](const trace::AccessProgram& program,
                           const std::vector<ArgumentBinding>& arguments, const char* device) {
    GpuMachine machine(config_with({}, device));
    machine.add(program, arguments);
    machine.run();
    EXPECT_THAT(machine.faults(), IsEmpty());
    return machine.reports()[0].counters;
  };
  const auto expect_untouched = [](const std::map<std::string, double>& moved,
                                   const std::vector<std::string>& prefixes) {
    for (const auto& [name, value] : moved) {
      for (const std::string& prefix : prefixes)
        EXPECT_NE(name.rfind(prefix, 0), 0u) << name << " " << value;
    }
  };
  for (const char* device : {"mali-g715", "adreno-750"}) {
    trace::AccessProgram compute = one_wave();
    test::add_arithmetic(compute.mutable_body(), trace::FMA, 5);
    expect_untouched(counters(compute, {}, device),
                     {"texture.", "load_store.", "l2.", "slc.", "mmu.", "noc.", "dram.row",
                      "dram.read", "local."});
    trace::AccessProgram texels = one_wave();
    test::add_access(&texels, texels.mutable_body(), trace::IMAGE, false, 8, 0,
                     expression(0, {{1, LOCAL_X}}), expression(0));
    const auto texture = counters(texels, {image(0, mebi, 64, 64, 8)}, device);
    expect_untouched(texture, {"load_store.", "local.", "l2.write", "dram.write", "l2.load_store"});
    EXPECT_EQ(texture.at("texture.read_lookups"), texture.at("texture.read_misses"));
    trace::AccessProgram store = one_wave();
    test::add_access(&store, store.mutable_body(), trace::GLOBAL, true, 4, 0,
                     expression(0, {{4, LOCAL_X}}));
    const auto stored = counters(store, {buffer(0, mebi)}, device);
    expect_untouched(
        stored, {"texture.", "load_store.read", "l2.texture", "dram.load_store_read", "local."});
    // Reads there are of page tables only.
    const auto moved = [&](const char* name) {
      const auto counter = stored.find(name);
      return counter == stored.end() ? 0.0 : counter->second;
    };
    EXPECT_EQ(moved("l2.read_lookups"), moved("l2.mmu_lookups"));
    EXPECT_GE(stored.at("l2.write_lookups"), 1);
    trace::AccessProgram local = one_wave();
    local.add_local_arrays()->set_bytes(1024);
    test::add_access(&local, local.mutable_body(), trace::LOCAL, true, 4, 0,
                     expression(0, {{4, LOCAL_X}}));
    const bool banked = std::string(device) == "adreno-750";
    const auto shared = counters(local, {}, device);
    expect_untouched(
        shared, {"texture.", "dram.load_store_read", banked ? "load_store." : "local.accesses"});
    EXPECT_EQ(shared.at(banked ? "local.accesses" : "local.cached_accesses"), 1);
  }
}

/// The same texels of a 256 x 256 image, row by row or column by column over the loop.
trace::AccessProgram walk(bool rows) {
  trace::AccessProgram program = test::empty_program({16, 1, 1}, {16, 1, 1});
  test::Body* outer = test::add_loop(program.mutable_body(), 0, expression(0), expression(16));
  test::Body* inner = test::add_loop(outer, 1, expression(0), expression(16));
  const std::uint32_t along = rows ? 1 : 0, across = rows ? 0 : 1;
  test::add_access(&program, inner, trace::IMAGE, false, 8, 0,
                   expression(0, {{16, LOOP, along}, {1, LOCAL_X}}),
                   expression(0, {{16, LOOP, across}, {1, GROUP_X}}));
  return program;
}

TEST(Gpu, TheSameAccessesInAnotherOrderGiveOtherHitsAndCycles) {
  const DeviceConfig config = config_with({{"texture.cache_size", "1 KiB"}});
  std::uint64_t lookups[2], hits[2], time[2];
  for (const bool rows : {false, true}) {
    GpuMachine machine(config);
    machine.add(walk(rows), {image(0, mebi, 256, 256, 8)});
    machine.run();
    EXPECT_THAT(machine.faults(), IsEmpty());
    lookups[rows] = machine.counter("texture.read_lookups");
    hits[rows] = machine.counter("l2.read_hits");
    time[rows] = machine.reports()[0].end.count();
  }
  EXPECT_EQ(lookups[0], lookups[1]);
  EXPECT_NE(hits[0], hits[1]);
  EXPECT_NE(time[0], time[1]);
}

TEST(Gpu, CachesOfCoresForgetBetweenLaunchesTheL2DoesNot) {
  trace::AccessProgram program = one_wave();
  test::add_access(&program, program.mutable_body(), trace::IMAGE, false, 8, 0,
                   expression(0, {{1, LOCAL_X}}), expression(0));
  GpuMachine machine(config_with());
  machine.add(program, {image(0, mebi, 64, 64, 8)});
  machine.add(program, {image(0, mebi, 64, 64, 8)});
  machine.run();
  ASSERT_EQ(machine.reports().size(), 2u);
  EXPECT_EQ(machine.reports()[0].counters.at("texture.read_misses"), 4);
  EXPECT_EQ(machine.reports()[1].counters.at("texture.read_misses"), 4);
  EXPECT_EQ(machine.reports()[1].counters.count("l2.fetches"), 0u);
  EXPECT_LE(machine.reports()[0].end, machine.reports()[1].start);
}

TEST(Gpu, MaintenanceDropsWhatTheL2HoldsAndEndsAtTheSystemLevelCache) {
  trace::AccessProgram program = one_wave();
  test::add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4, 0,
                   expression(0, {{4, LOCAL_X}}));
  GpuMachine machine(config_with());
  machine.add(program, {buffer(0, mebi)});
  machine.run();
  machine.memory().invalidate(Address(mebi), Bytes(64));
  machine.run();
  EXPECT_EQ(machine.counter("l2.flushed"), 1u);
  EXPECT_EQ(machine.counter("slc.flushed"), 0u);
  machine.add(program, {buffer(0, mebi)});
  machine.run();
  EXPECT_EQ(machine.counter("l2.load_store_lookups"), 2u);
  EXPECT_EQ(machine.counter("l2.load_store_hits"), 0u);
  EXPECT_EQ(machine.counter("slc.load_store_lookups"), 2u);
  EXPECT_EQ(machine.counter("slc.load_store_hits"), 1u);
  EXPECT_THAT(machine.faults(), IsEmpty());
}

TEST(Gpu, AnAtomicIsDoneAtTheL2) {
  trace::AccessProgram program = one_wave();
  const std::uint32_t site =
      test::add_access(&program, program.mutable_body(), trace::GLOBAL, true, 4, 0, expression(0));
  program.mutable_sites(static_cast<int>(site))->set_atomic(true);
  GpuMachine machine(config_with());
  machine.add(program, {buffer(0, mebi)});
  machine.run();
  EXPECT_EQ(machine.counter("load_store.atomics"), 1u);
  EXPECT_EQ(machine.counter("l2.atomic_lookups"), 1u);
  EXPECT_THAT(machine.faults(), IsEmpty());
}

TEST(Gpu, AWaveWithoutACacheFetchesEveryLineItReads) {
  trace::AccessProgram program = one_wave();
  test::Body* loop = test::add_loop(program.mutable_body(), 0, expression(0), expression(10));
  test::add_access(&program, loop, trace::GLOBAL, false, 4, 0, expression(0, {{4, LOCAL_X}}));
  GpuMachine machine(config_with({{"load_store.cache_size", "0 B"}}, "adreno-750"));
  machine.add(program, {buffer(0, mebi)});
  machine.run();
  EXPECT_EQ(machine.counter("load_store.read_bypasses"), 20u) << "64 bytes are two lines";
  EXPECT_EQ(machine.counter("load_store.fetches"), 20u);
  EXPECT_EQ(machine.counter("load_store.read_hits"), 0u);
  EXPECT_THAT(machine.faults(), IsEmpty());
  EXPECT_THROW(config_with({{"load_store.cache_size", "0 B"}}), UserError)
      << "local memory of a Mali lies behind it";
}

TEST(Gpu, IdleLanesArePaidFor) {
  const DeviceConfig config = config_with();
  const auto program = [](std::int64_t lanes) {
    trace::AccessProgram built = one_wave();
    auto* some = test::add_guard(built.mutable_body(), expression(0, {{1, LOCAL_X}}), trace::LT,
                                 expression(lanes));
    test::add_arithmetic(some->mutable_body(), trace::FMA, 100);
    return built;
  };
  EXPECT_EQ(run_cycles(config, program(16)), run_cycles(config, program(1)));
  GpuMachine machine(config);
  machine.add(program(3), {});
  machine.run();
  EXPECT_EQ(machine.counter("core.issued"), 1u);
  EXPECT_EQ(machine.counter("core.lanes_active"), 3u);
  EXPECT_EQ(machine.counter("core.lanes_idle"), 13u);
  EXPECT_EQ(machine.counter("core.operations.fma"), 300u);
}

TEST(Gpu, BothSidesOfADivergentBranchTakeTheirTime) {
  const DeviceConfig config = config_with();
  const auto program = [](std::int64_t lanes) {
    trace::AccessProgram built = one_wave();
    auto* guard = test::add_guard(built.mutable_body(), expression(0, {{1, LOCAL_X}}), trace::LT,
                                  expression(lanes));
    test::add_arithmetic(guard->mutable_body(), trace::FMA, 1000);
    test::add_arithmetic(guard->mutable_otherwise(), trace::FMA, 1000);
    return built;
  };
  const std::uint64_t together = run_cycles(config, program(16));
  EXPECT_EQ(run_cycles(config, program(8)) - together,
            1000 - 1 + config.cycles("gpu.arithmetic_latency").count());
}

TEST(Gpu, AccessesAreFullOrShort) {
  trace::AccessProgram program = one_wave();
  const std::initializer_list<std::pair<std::uint32_t, std::int64_t>> shapes = {
      {4, 4}, {16, 16}, {4, 8}};
  for (const auto& [bytes, stride] : shapes) {
    test::add_access(&program, program.mutable_body(), trace::GLOBAL, false, bytes, 0,
                     expression(0, {{stride, LOCAL_X}}));
  }
  test::add_access(&program, program.mutable_body(), trace::GLOBAL, true, 4, 0,
                   expression(0, {{4, LOCAL_X}}));
  GpuMachine machine(config_with());
  machine.add(program, {buffer(0, mebi)});
  machine.run();
  EXPECT_EQ(machine.counter("load_store.full_read_cycles"), 1u + 4u);
  EXPECT_EQ(machine.counter("load_store.short_read_cycles"), 2u);
  EXPECT_EQ(machine.counter("load_store.full_write_cycles"), 1u);
  EXPECT_THAT(machine.faults(), IsEmpty());
}

TEST(Gpu, WideTexelsFillTheirPartOfTheCache) {
  // Two lines of one set in turn: with half of two ways for wide texels they evict each other.
  trace::AccessProgram program = one_wave();
  test::Body* loop = test::add_loop(program.mutable_body(), 0, expression(0), expression(10));
  test::Body* lines = test::add_loop(loop, 1, expression(0), expression(2));
  test::add_access(&program, lines, trace::IMAGE, false, 16, 0, expression(0, {{32, LOOP, 1}}),
                   expression(0));
  test::add_arithmetic(lines, trace::FMA, 1);
  const auto misses = [&](const char* part) {
    GpuMachine machine(config_with(
        {{"texture.cache_size", "256 B"}, {"texture.ways", "2"}, {"texture.wide_capacity", part}}));
    machine.add(program, {image(0, mebi, 64, 64, 16)});
    machine.run();
    EXPECT_THAT(machine.faults(), IsEmpty());
    return machine.counter("texture.read_misses");
  };
  EXPECT_EQ(misses("1"), 2u);
  EXPECT_EQ(misses("0.5"), 20u);
}

TEST(Gpu, ALaunchSaysWhatBoundsItsOccupancy) {
  const auto limit = [](std::uint32_t groups, std::uint32_t registers, std::uint64_t local) {
    trace::AccessProgram program = test::empty_program({64, 1, 1}, {groups, 1, 1});
    if (local != 0) program.add_local_arrays()->set_bytes(local);
    test::add_arithmetic(program.mutable_body(), trace::FMA, 1);
    GpuMachine machine(config_with());
    machine.add(program, {}, registers);
    machine.run();
    return std::to_string(machine.reports()[0].resident_waves) + " " +
           machine.reports()[0].occupancy_limit;
  };
  EXPECT_EQ(limit(1000, 32, 0), "128 wave_slots");
  EXPECT_EQ(limit(1000, 33, 0), "64 registers");
  EXPECT_EQ(limit(1000, 32, 8192), "16 local_memory");
  EXPECT_EQ(limit(14, 32, 0), "8 launch") << "two of the 14 work-groups on each of 7 cores";
}

TEST(Gpu, AWorkGroupThatFitsNoCoreIsTheUsersError) {
  trace::AccessProgram program = test::empty_program({1024, 2, 1}, {1, 1, 1});
  test::add_arithmetic(program.mutable_body(), trace::FMA, 1);
  GpuMachine machine(config_with());
  EXPECT_THROW(machine.add(program, {}, 64), UserError);
}

TEST(Gpu, BoundsFollowWhatIsBusy) {
  GpuMachine machine(config_with({{"load_store.mshrs", "256"}, {"slc.bandwidth", "150 GB/s"}}));
  machine.add(test::gemm_program(192, 768, 768),
              {image(0, 16 * mebi, 192, 192, 8), image(1, 32 * mebi, 192, 768, 8),
               image(2, 48 * mebi, 192, 192, 8)});
  trace::AccessProgram arithmetic = test::empty_program({256, 1, 1}, {70, 1, 1});
  test::add_arithmetic(arithmetic.mutable_body(), trace::FMA, 10000);
  machine.add(arithmetic, {});
  trace::AccessProgram stream = test::empty_program({256, 1, 1}, {512, 1, 1});
  test::Body* loop = test::add_loop(stream.mutable_body(), 0, expression(0), expression(8));
  test::add_access(&stream, loop, trace::GLOBAL, false, 16, 0,
                   expression(0, {{32768, GROUP_X}, {4096, LOOP, 0}, {16, LOCAL_X}}));
  machine.add(stream, {buffer(0, 64 * mebi)});
  trace::AccessProgram tiny = one_wave();
  test::add_arithmetic(tiny.mutable_body(), trace::FMA, 1);
  machine.add(tiny, {});
  machine.run();
  std::vector<std::string> bounds;
  for (const GpuLaunchReport& report : machine.reports()) bounds.push_back(report.bound);
  EXPECT_EQ(bounds, (std::vector<std::string>{"texture", "alu", "dram", "launch"}));
}

}  // namespace
}  // namespace fm
