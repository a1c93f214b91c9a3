// Energy by event and launch; achieved over peak and roofline, against sums made by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sim/power/energy_ledger.hpp"
#include "sim/stats/unit_peaks.hpp"
#include "tests/sim/replay_bench.hpp"

namespace fm {
namespace {

using test::config_with;
using test::counter;
using test::launch;
using test::run;
using test::Settings;
using test::TraceBuilder;

constexpr std::uint64_t kib = 1024, mib = 1024 * 1024;

/// Every energy zero but those given.
DeviceConfig only(const Settings& energies, const Settings& others = {}) {
  DeviceConfig config = config_with(others);
  for (const ParameterSchema& parameter : device_config_schema()) {
    if (parameter.path.rfind("energy.", 0) != 0) continue;
    config.set(parameter.path, parameter.kind == QuantityKind::power ? "0 mW" : "0 pJ");
  }
  for (const auto& [path, value] : energies) config.set(path, value);
  return config;
}

/// Two launches, a copy and a read.
TraceBuilder mixed() {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64, 16, 4);
  trace.think(trace::Think::CONTEXT, 1);
  const auto weights = trace.buffer(1, mib, trace::UM_IN_FLIGHT);
  trace.image(2, 256, 512);
  trace.buffer(3, 64 * kib);
  const auto read = trace.read(1, mib, {weights});
  trace.launch("L0", program, {1, 3}, {read});
  trace.copy(1, 2, 0, 512, mib, 1, "C0", {read});
  trace.wait({trace.launch("L1", program, {1, 3})});
  return trace;
}

TEST(Energy, ALaunchsEnergyIsTheSumOfItsEvents) {
  const auto fmas = [](const Result& result) {
    return launch(result, "L0").counters.at("core.operations.fma");
  };
  const Result fma = run(mixed(), only({{"energy.fma", "2 pJ"}}));
  EXPECT_EQ(fmas(fma), 64 * 64 * 4);
  EXPECT_DOUBLE_EQ(launch(fma, "L0").energy.total_nj, 64 * 64 * 4 * 2e-3);
  EXPECT_DOUBLE_EQ(fma.energy.total_nj, 2 * 64 * 64 * 4 * 2e-3);
  EXPECT_DOUBLE_EQ(fma.energy.by_component.at("alu_fma"), fma.energy.total_nj);
  EXPECT_EQ(launch(fma, "C0").energy.total_nj, 0);
  EXPECT_EQ(fma.energy.outside_launches_nj, 0);

  const Result storage = run(mixed(), only({{"energy.storage_byte", "3 pJ"}}));
  EXPECT_DOUBLE_EQ(storage.energy.total_nj, mib * 3e-3);
  EXPECT_DOUBLE_EQ(storage.energy.outside_launches_nj, mib * 3e-3) << "read before the launches";

  const Result fixed = run(mixed(), only({{"energy.static_gpu", "250 mW"}}));
  const auto time = [](const ResultLaunch& of) {
    return static_cast<double>((of.end - of.start).count());
  };
  EXPECT_NEAR(launch(fixed, "L0").energy.total_nj, time(launch(fixed, "L0")) * 0.25, 1);
  EXPECT_NEAR(launch(fixed, "C0").energy.average_power_mw, 250, 0.1);
  EXPECT_NEAR(fixed.energy.average_power_mw, 250, 0.1);
}

/// The law of the whole: each component is its counters times the config's energies, and launches,
/// copies and the rest add up to it.
TEST(Energy, ComponentsAreCountersTimesTheConfig) {
  const DeviceConfig config = config_with({{"queue.copy_overlaps_compute", "true"}});
  const Result result = run(mixed(), config);
  const auto& energy = result.energy.by_component;
  const auto expect = [&](const char* component, double picojoules) {
    EXPECT_NEAR(energy.at(component), picojoules * 1e-3, 1e-3 + picojoules * 1e-12) << component;
  };
  const auto pj = [&](const char* key) { return config.picojoules(key); };
  const auto count = [&](const char* name) { return counter(result, name); };
  const double bits = static_cast<double>(config.count("dram.channel_width_bits") *
                                          config.count("dram.burst_length"));
  expect("alu_fma", count("core.operations.fma") * pj("energy.fma"));
  expect("load_store_read", count("load_store.read_lookups") * pj("energy.load_store_read"));
  expect("load_store_write", (count("load_store.write_lookups") + count("load_store.fetches")) *
                                 pj("energy.load_store_write"));
  expect("noc", (count("noc.bytes_in") + count("noc.bytes_out")) * pj("energy.noc_byte"));
  expect("l2_write", (count("l2.write_lookups") + count("l2.fetches")) * pj("energy.l2_write"));
  expect("slc_read", count("slc.read_lookups") * pj("energy.slc_read"));
  expect("dram_activate", count("dram.activations") * pj("energy.dram_activate"));
  expect("dram_read", count("dram.read_bursts") * bits * pj("energy.dram_read_bit"));
  expect("dram_write", count("dram.write_bursts") * bits * pj("energy.dram_write_bit"));
  expect("storage", count("storage.read_bytes") * pj("energy.storage_byte"));
  expect("cpu", count("host.busy_time") * config.milliwatts("energy.cpu_active") * 1e-3);
  const double ns = static_cast<double>(result.latency.integrated.count());
  for (const char* part : {"gpu", "memory", "cpu", "storage"}) {
    const std::string name = std::string("static_") + part;
    EXPECT_NEAR(energy.at(name), ns * config.milliwatts("energy." + name) * 1e-3, 1) << name;
  }
  double components = 0, launches = result.energy.outside_launches_nj;
  for (const auto& [name, value] : energy) components += value;
  for (const ResultLaunch& one : result.launches) launches += one.energy.total_nj;
  EXPECT_NEAR(components, result.energy.total_nj, 1e-6 * components);
  EXPECT_NEAR(launches, result.energy.total_nj, 1e-6 * components);
  EXPECT_GT(launch(result, "C0").energy.total_nj, 0);
}

/// A registry of one counter that a test moves.
struct OneCounter {
  OneCounter() {
    for (const char* name : {"core.operations.fma",
                             "core.operations.add",
                             "core.operations.special",
                             "core.operations.convert",
                             "core.operations.integer",
                             "load_store.read_lookups",
                             "load_store.atomics",
                             "load_store.write_lookups",
                             "load_store.fetches",
                             "local.accesses",
                             "texture.read_lookups",
                             "texture.fetches",
                             "noc.bytes_in",
                             "noc.bytes_out",
                             "l2.read_lookups",
                             "l2.atomic_lookups",
                             "l2.write_lookups",
                             "l2.fetches",
                             "slc.read_lookups",
                             "slc.atomic_lookups",
                             "slc.write_lookups",
                             "slc.fetches",
                             "dram.activations",
                             "dram.read_bursts",
                             "dram.write_bursts",
                             "dram.refreshes",
                             "dram.bank_refreshes",

                             "storage.read_bytes",
                             "host.active_time"}) {
      registry.add(name, "events", "a test's",
                   std::string(name) == "storage.read_bytes" ? &moved : &still);
    }
  }
  std::uint64_t moved = 0, still = 0;
  CounterRegistry registry;
};

TEST(EnergyLedger, EveryPieceOfTimeBelongsToOneLaunchOrNone) {
  OneCounter events;
  const DeviceConfig config =
      only({{"energy.storage_byte", "1 pJ"}, {"energy.static_gpu", "1 mW"}});
  const EnergyModel model(config, events.registry, false);
  EnergyLedger ledger(model);
  const auto sum = [](const EnergyByComponent& energy) {
    Femtojoules all = 0;
    for (const Femtojoules part : energy) all += part;
    return all;
  };
  events.moved = 1;  // 0-100: nobody, 1 event
  ledger.copy_started(7, Picoseconds(100));
  events.moved = 3;  // 100-200: the copy, 2 events
  ledger.kernel_started(Picoseconds(200));
  events.moved = 10;  // 200-400: the kernel, 7 events
  ledger.copy_started(8, Picoseconds(300));
  EXPECT_EQ(sum(ledger.kernel_ended({{"storage.read_bytes", 7}}, Picoseconds(400))), 200u + 7'000u);
  events.moved = 14;  // 400-450: the first copy, 4 events
  EXPECT_EQ(sum(ledger.copy_ended(7, Picoseconds(450))), 100u + 50u + 6'000u);
  events.moved = 15;  // 450-460: the second, 1 event
  EXPECT_EQ(sum(ledger.copy_ended(8, Picoseconds(460))), 10u + 1'000u);
  ledger.finish(Picoseconds(1000));  // 540: nobody
  EXPECT_EQ(sum(ledger.total()), 1000u + 15'000u);
  EXPECT_DOUBLE_EQ(ledger.result(Picoseconds(1000)).outside_launches_nj, (640 + 1'000) * 1e-6);
  std::vector<ResultCheck> checks;
  ledger.append_checks(&checks);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_TRUE(checks[0].holds());
  EXPECT_EQ(checks[0].left, 16'000);
}

TEST(EnergyLedger, VoltageSquaresEventsAndScalesStaticPower) {
  OneCounter events;
  const DeviceConfig config = only({{"energy.storage_byte", "1 pJ"},
                                    {"energy.dram_activate", "1 pJ"},
                                    {"energy.static_memory", "1 mW"}});
  const EnergyModel model(config, events.registry, false);
  const std::map<std::string, double> moved{{"storage.read_bytes", 10}, {"dram.activations", 10}};
  const EnergyByComponent energy =
      model.energy(model.counts(moved), Picoseconds(1000), {1, 0.5, 1});
  const auto of = [&](const std::string& name) {
    for (std::size_t i = 0; i < energy.size(); ++i) {
      if (model.components()[i] == name) return energy[i];
    }
    throw std::out_of_range(name);
  };
  EXPECT_EQ(of("storage"), 10'000u);
  EXPECT_EQ(of("dram_activate"), 2'500u);
  EXPECT_EQ(of("static_memory"), 500u);
}

TEST(EnergyModel, HalfOperandsCostHalfOperandsEnergy) {
  OneCounter events;
  const DeviceConfig config = only({{"energy.fma", "4 pJ"}, {"energy.fma_half", "1 pJ"}});
  const auto femtojoules = [&](bool half) {
    const EnergyModel model(config, events.registry, half);
    return model.energy(model.counts({{"core.operations.fma", 3}}), Picoseconds(0),
                        nominal_voltages)[0];
  };
  EXPECT_EQ(femtojoules(false), 12'000u);
  EXPECT_EQ(femtojoules(true), 3'000u);
}

TEST(EnergyModel, AMissingCounterIsOurFault) {
  const CounterRegistry empty;
  EXPECT_THROW(EnergyModel(config_with(), empty, false), std::logic_error);
}

DeviceConfig round_device() {
  return config_with({{"gpu.clock", "1 GHz"},
                      {"gpu.cores", "2"},
                      {"gpu.issue_per_clock", "4"},
                      {"gpu.fma_per_clock", "64"},
                      {"noc.bytes_per_clock", "64 B"},
                      {"l2.slices", "2"},
                      {"l2.bytes_per_clock", "64 B"},
                      {"texture.bytes_per_clock", "32 B"},
                      {"dram.channels", "4"},
                      {"dram.channel_width_bits", "16"},
                      {"dram.burst_length", "16"},
                      {"dram.data_rate", "5 GT/s"},
                      {"storage.read_bandwidth", "[[4 KiB, 1 GB/s]]"},
                      {"host.copy_bandwidth", "10 GB/s"}});
}

TEST(UnitPeaks, AreCountsOverWhatTheTimeAllows) {
  const UnitPeaks peaks(round_device(), false);
  const std::map<std::string, double> counters{{"core.arithmetic_cycles.fma", 4000},
                                               {"core.arithmetic_cycles.special", 800},
                                               {"load_store.busy", 500},
                                               {"texture.busy", 2000},
                                               {"noc.bytes_in", 32000},
                                               {"noc.bytes_out", 64000},
                                               {"l2.data_busy", 200'000},
                                               {"slc.data_busy", 400'000},
                                               {"dram.read_bursts", 500},
                                               {"dram.write_bursts", 125},
                                               {"storage.read_bytes", 100},
                                               {"copy.written_bytes", 1000}};
  // 1 us: 1000 cycles of 2 cores of 4 engines.
  const auto of = peaks.of({counters, Picoseconds(1'000'000), 1e9});
  EXPECT_DOUBLE_EQ(of.at("alu_fma"), 0.5);
  EXPECT_DOUBLE_EQ(of.at("alu_special"), 0.1);
  EXPECT_DOUBLE_EQ(of.at("alu"), 0.6);
  EXPECT_DOUBLE_EQ(of.at("load_store"), 0.25);
  EXPECT_DOUBLE_EQ(of.at("texture"), 1);
  EXPECT_DOUBLE_EQ(of.at("noc"), 0.5);
  EXPECT_DOUBLE_EQ(of.at("l2"), 0.1);
  EXPECT_DOUBLE_EQ(of.at("slc"), 0.1);
  EXPECT_DOUBLE_EQ(of.at("dram"), 0.5);  // 20 kB of 40
  EXPECT_DOUBLE_EQ(of.at("disk"), 0.1);
  EXPECT_DOUBLE_EQ(of.at("copy"), 0.1);
  EXPECT_DOUBLE_EQ(of.at("alu_add"), 0);
  EXPECT_TRUE(peaks.of({counters, Picoseconds(0), 1e9}).empty());
}

TEST(UnitPeaks, TheLowestRoofBounds) {
  const UnitPeaks peaks(round_device(), false);
  const auto roofline = [&](double fma, double dram_bursts, double texture_busy) {
    const std::map<std::string, double> counters{{"core.operations.fma", fma},
                                                 {"dram.texture_read_bursts", dram_bursts},
                                                 {"dram.storage_write_bursts", 1e9},
                                                 {"texture.busy", texture_busy}};
    return peaks.roofline({counters, Picoseconds(1'000'000), 1e9});
  };
  const ResultRoofline compute = roofline(64'000, 10, 0);
  EXPECT_EQ(compute.bound, "alu");
  EXPECT_DOUBLE_EQ(compute.achieved_gflops, 128);
  EXPECT_DOUBLE_EQ(compute.attainable_gflops, 2 * 64 * 2);
  EXPECT_DOUBLE_EQ(compute.intensity.at("dram"), 128'000 / 320.0) << "the GPU's bytes only";
  EXPECT_EQ(compute.intensity.count("l2"), 0u);

  const ResultRoofline memory = roofline(64'000, 1000, 0);  // 4 FLOP a byte x 40 GB/s
  EXPECT_EQ(memory.bound, "dram");
  EXPECT_DOUBLE_EQ(memory.attainable_gflops, 160);

  const ResultRoofline texture = roofline(64'000, 10, 2000);  // the unit was never idle
  EXPECT_EQ(texture.bound, "texture");
  EXPECT_DOUBLE_EQ(texture.attainable_gflops, texture.achieved_gflops);
  EXPECT_EQ(roofline(0, 10, 10).bound, "");
}

TEST(UnitPeaks, OfARealLaunchStayUnderTheirRoofs) {
  const Result result = run(mixed());
  for (const ResultLaunch& one : result.launches) {
    for (const auto& [unit, share] : one.peaks) EXPECT_LE(share, 1) << one.id << " " << unit;
    if (one.kernel == "copy") continue;
    EXPECT_GT(one.peaks.at("load_store"), 0);
    EXPECT_GT(one.roofline.achieved_gflops, 0);
    EXPECT_LE(one.roofline.achieved_gflops, one.roofline.attainable_gflops);
  }
  EXPECT_GT(result.peaks.at("disk"), 0);
  EXPECT_GT(result.peaks.at("copy"), 0);
}

}  // namespace
}  // namespace fm
