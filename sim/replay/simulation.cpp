#include "sim/replay/simulation.hpp"

#include <cmath>
#include <stdexcept>

#include "core/diagnostics.hpp"
#include "core/version.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/memory/memory_parameters.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/power/energy_ledger.hpp"
#include "sim/replay/host_threads.hpp"
#include "sim/replay/kernel_context.hpp"
#include "sim/replay/result_assembly.hpp"
#include "sim/stats/interval_recorder.hpp"
#include "sim/stats/unit_peaks.hpp"

namespace fm {
namespace {

/// More activations of blocks than any legal wait has: a livelock.
constexpr std::uint64_t activations_without_work = std::uint64_t{1} << 22;

std::optional<Plan> embedded_plan(const Trace& trace) {
  if (trace.header.plan_yaml().empty()) return std::nullopt;
  return parse_plan(trace.header.plan_yaml(), "the plan inside the trace");
}

/// The whole machine of one run. Member order is the order of construction: SystemC modules need
/// the context.
class Machine {
 public:
  Machine(const DeviceConfig& config, const Trace& trace, const SimulationOptions& options)
      : config_(with_perfect(config, options.perfect)),
        trace_(trace),
        options_(options),
        plan_(embedded_plan(trace)),
        half_arithmetic_(plan_ && plan_->accumulate == DataType::f16),
        memory_(with_perfect(memory_parameters(config_), options.perfect), registry_),
        gpu_(config_, memory_, registry_, options.perfect.count(PerfectPart::texture) != 0),
        agenda_("agenda"),
        storage_(config_, memory_.port(MemoryClient::storage), agenda_, registry_),
        copies_(config_, memory_.port(MemoryClient::copy_engine), agenda_, registry_),
        heap_(config_),
        cpu_(config_, memory_, agenda_, registry_),
        energy_model_(config_, registry_, half_arithmetic_),
        energy_(energy_model_),
        binder_(config_, trace, gpu_.wave_width(), half_arithmetic_, heap_, plan_),
        queues_(config_, gpu_, copies_, binder_, heap_, energy_, board_, log_),
        releases_(config_, heap_, agenda_, queues_),
        world_{config_, agenda_, heap_, memory_, storage_, queues_, cpu_, releases_, board_, log_},
        threads_(host_threads(world_, trace.operations)) {}

  Result run() {
    report_progress();
    if (options_.tap != nullptr) memory_.watch(options_.tap_port, options_.tap);
    if (options_.on_launch) queues_.on_launch(options_.on_launch);
    watch_progress();
    watch_returns(world_, trace_.operations);
    for (HostThread& thread : threads_) {
      HostThread* start = &thread;
      agenda_.after(Picoseconds(0), [start] { start->start(); });
    }
    run_to_the_end();
    check_drained();
    energy_.finish(log_.end);
    return result();
  }

 private:
  void report_progress() {
    if (!options_.on_progress) return;
    std::size_t commands = 0;
    for (const auto& operation : trace_.operations)
      commands += operation.has_launch() || operation.has_copy();
    queues_.on_command_end([this, commands](std::size_t ended) {
      options_.on_progress(static_cast<double>(ended) / static_cast<double>(commands));
    });
  }

  void run_to_the_end() {
    if (options_.interval.count() == 0) return context_.run();
    context_.run(options_.interval, [this](Picoseconds end) { intervals_.record(end); });
  }

  void check_drained() const {
    const std::vector<Wait> waits = all_waits();
    const bool idle =
        queues_.idle() && storage_.idle() && copies_.idle() && gpu_.idle() && memory_.idle();
    if (waits.empty() && idle) return;
    throw DeadlockError("the simulation deadlocked at " + std::to_string(now_ps()) + " ps" +
                        wait_report(waits));
  }

  std::vector<Wait> all_waits() const {
    std::vector<Wait> waits;
    for (const HostThread& thread : threads_) {
      if (!thread.ended()) waits.push_back(thread.wait());
    }
    queues_.append_waits(&waits);
    copies_.append_waits(&waits);
    storage_.append_waits(&waits);
    for (const auto& part : {gpu_.waits(), memory_.waits()}) {
      waits.insert(waits.end(), part.begin(), part.end());
    }
    name_executors(trace_.operations, &waits);
    return waits;
  }

  void watch_progress() {
    context_.watch([this] { return registry_.work_done() + board_.finished(); },
                   [this](std::uint64_t since) {
                     throw DeadlockError("the simulation gets nowhere: no work done since " +
                                         std::to_string(since) + " ps, now at " +
                                         std::to_string(now_ps()) + " ps" +
                                         wait_report(all_waits()));
                   },
                   activations_without_work);
  }

  Result result() const {
    Result result;
    result.tool = std::string("fmsim ") + version;
    result.config_yaml = config_.to_yaml();
    result.trace_file = options_.trace_file;
    result.trace_digest = options_.trace_digest;
    result.latency = assemble_latency(log_);
    result.floor.disk = to_nanoseconds(storage_.floor());
    result.floor.compute = to_nanoseconds(gpu_.compute_floor());
    result.floor.dram = Nanoseconds(static_cast<std::uint64_t>(std::ceil(
        static_cast<double>(memory_.dram_bytes()) / memory_.peak_dram_bytes_per_second() * 1e9)));
    result.memory = heap_.resident().summary(log_.end);
    result.memory.fragmentation = heap_.fragmentation_at_peak();
    result.timeline = assemble_timeline(log_);
    result.counters = registry_.results();
    result.latency_histograms = memory_.latency_histograms();
    for (const PerfectPart part : options_.perfect) result.perfect.push_back(to_string(part));
    if (options_.interval.count() > 0) {
      result.intervals = intervals_.intervals(options_.interval, Picoseconds(now_ps()));
      result.checks.push_back(interval_check(result));
    }
    const UnitPeaks peaks(config_, half_arithmetic_);
    std::map<std::string, double> counted;
    for (const auto& [name, counter] : result.counters) counted[name] = counter.value;
    result.peaks = peaks.of({counted, log_.end, peaks.gpu_hertz()});
    result.roofline = peaks.roofline({counted, log_.end, peaks.gpu_hertz()});
    result.launches = assemble_launches(trace_, plan_, log_, peaks, energy_);
    result.energy = energy_.result(log_.end);
    append_host_checks(trace_, plan_, log_, heap_, storage_, &result.checks);
    energy_.append_checks(&result.checks);
    storage_.append_checks(&result.checks);
    gpu_.append_checks(&result.checks);
    memory_.append_checks(&result.checks);
    return result;
  }

  const DeviceConfig config_;
  const Trace& trace_;
  const SimulationOptions& options_;
  std::optional<Plan> plan_;
  const bool half_arithmetic_;
  KernelContext context_;
  CounterRegistry registry_;
  MemorySystem memory_;
  Gpu gpu_;
  Agenda agenda_;
  FlashStorage storage_;
  CopyEngine copies_;
  DeviceHeap heap_;
  HostCpu cpu_;
  EnergyModel energy_model_;
  EnergyLedger energy_;
  LaunchBinder binder_;
  CompletionBoard board_;
  RunLog log_;
  CommandQueues queues_;
  DeferredRelease releases_;
  IntervalRecorder intervals_{registry_};
  HostWorld world_;
  std::vector<HostThread> threads_;
};

}  // namespace

Result simulate(const DeviceConfig& config, const Trace& trace, const SimulationOptions& options) {
  config.check();
  return Machine(config, trace, options).run();
}

}  // namespace fm
