#include "sim/replay/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/diagnostics.hpp"
#include "core/version.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/memory/memory_parameters.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/power/dynamic_power.hpp"
#include "sim/replay/background_traffic.hpp"
#include "sim/replay/host_threads.hpp"
#include "sim/replay/kernel_context.hpp"
#include "sim/replay/result_assembly.hpp"
#include "sim/stats/unit_peaks.hpp"

namespace fm {
namespace {

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
        periodic_("periodic"),
        traffic_(config_, memory_, periodic_, registry_),
        storage_(config_, memory_.port(MemoryClient::storage), agenda_, registry_),
        copies_(config_, memory_.port(MemoryClient::copy_engine), agenda_, registry_),
        heap_(config_),
        cpu_(config_, memory_, agenda_, registry_),
        energy_model_(config_, registry_, half_arithmetic_),
        energy_(energy_model_),
        power_(config_, energy_model_, energy_, periodic_, power_hooks()),
        binder_(config_, trace, gpu_.wave_width(), half_arithmetic_, heap_, plan_),
        queues_(config_, gpu_, copies_, binder_, heap_, energy_, power_, board_, log_),
        releases_(config_, heap_, agenda_, queues_),
        world_{config_, agenda_, heap_, memory_, storage_, queues_, cpu_, releases_, board_, log_},
        threads_(host_threads(world_, trace.operations)) {}

  Result run() {
    report_progress();
    if (options_.tap != nullptr) memory_.watch(options_.tap_port, options_.tap);
    if (options_.on_launch) queues_.on_launch(options_.on_launch);
    periodic_.run_while([this] { return goes_on(); });
    watch_returns(world_, trace_.operations);
    for (HostThread& thread : threads_) {
      HostThread* start = &thread;
      agenda_.after(Picoseconds(0), [start] { start->start(); });
    }
    context_.run();
    check_drained();
    energy_.finish(log_.end);
    return result();
  }

 private:
  DynamicPower::Hooks power_hooks() {
    const Ticks fastest = memory_.clock().period;
    return {[this] { return cpu_.take_busy(); },
            [this](double speed, double voltage) { cpu_.set_speed(speed, voltage); },
            [this, fastest](double speed) {
              memory_.change_gpu_period(
                  static_cast<Ticks>(std::llround(static_cast<double>(fastest) / speed)));
            }};
  }

  void report_progress() {
    if (!options_.on_progress) return;
    std::size_t commands = 0;
    for (const auto& operation : trace_.operations)
      commands += operation.has_launch() || operation.has_copy();
    queues_.on_command_end([this, commands](std::size_t ended) {
      options_.on_progress(static_cast<double>(ended) / static_cast<double>(commands));
    });
  }

  /// Something is left to do, and something is under way that may do it.
  bool goes_on() {
    const bool done = queues_.idle() && std::all_of(threads_.begin(), threads_.end(),
                                                    [](const HostThread& t) { return t.ended(); });
    const bool stuck = agenda_.idle() && gpu_.idle() && storage_.idle() && copies_.idle() &&
                       memory_.port(MemoryClient::host).idle();
    return !done && !stuck;
  }

  void check_drained() const {
    std::vector<std::string> waiting;
    for (const HostThread& thread : threads_) {
      if (!thread.ended()) waiting.push_back(thread.waiting());
    }
    for (const auto& part :
         {queues_.waiting(), storage_.waiting(), gpu_.waiting(), memory_.waiting()}) {
      waiting.insert(waiting.end(), part.begin(), part.end());
    }
    const bool idle =
        queues_.idle() && storage_.idle() && copies_.idle() && gpu_.idle() && memory_.idle();
    if (waiting.empty() && idle) return;
    std::string message =
        "the simulation deadlocked at " + std::to_string(log_.end.count()) + " ps";
    for (const std::string& line : waiting) message += "\n  " + line;
    throw std::logic_error(message);
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
    const UnitPeaks peaks(config_, half_arithmetic_);
    std::map<std::string, double> counted;
    for (const auto& [name, counter] : result.counters) counted[name] = counter.value;
    result.peaks = peaks.of({counted, log_.end, peaks.gpu_hertz()});
    result.roofline = peaks.roofline({counted, log_.end, peaks.gpu_hertz()});
    result.launches = assemble_launches(trace_, plan_, log_, peaks, energy_);
    result.energy = energy_.result(log_.end);
    for (const PowerSample& sample : power_.samples()) {
      if (sample.time <= result.latency.integrated) result.power_over_time.push_back(sample);
    }
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
  PeriodicWork periodic_;
  BackgroundTraffic traffic_;
  FlashStorage storage_;
  CopyEngine copies_;
  DeviceHeap heap_;
  HostCpu cpu_;
  EnergyModel energy_model_;
  EnergyLedger energy_;
  DynamicPower power_;
  LaunchBinder binder_;
  CompletionBoard board_;
  RunLog log_;
  CommandQueues queues_;
  DeferredRelease releases_;
  HostWorld world_;
  std::vector<HostThread> threads_;
};

}  // namespace

Result simulate(const DeviceConfig& config, const Trace& trace, const SimulationOptions& options) {
  config.check();
  return Machine(config, trace, options).run();
}

}  // namespace fm
