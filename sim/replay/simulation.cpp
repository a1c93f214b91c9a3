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
#include "sim/replay/repetition.hpp"
#include "sim/replay/result_assembly.hpp"
#include "sim/sampling/launch_sampler.hpp"
#include "sim/sampling/launch_selection.hpp"
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

void count_from(Picoseconds start, RunLog* log) {
  for (LoggedCommand& command : log->commands) {
    command.start = command.start - start;
    command.end = command.end - start;
  }
  for (LoggedInterval& interval : log->intervals) {
    interval.start = interval.start - start;
    interval.end = interval.end - start;
  }
  log->end = log->end - start;
}

/// The whole machine of one run. Member order is the order of construction: SystemC modules need
/// the context.
class Machine {
 public:
  Machine(const DeviceConfig& config, const Trace& trace, const SimulationOptions& options)
      : config_(with_perfect(config, options.perfect)),
        whole_trace_(trace),
        trace_(options.launches.empty() ? trace : launches_only(trace)),
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
        power_(config_, energy_model_, energy_, registry_, periodic_, power_hooks()),
        binder_(config_, whole_trace_, gpu_.wave_width(), half_arithmetic_, heap_, plan_),
        queues_(config_, gpu_, copies_, binder_, heap_, energy_, power_, board_, log_),
        releases_(config_, heap_, agenda_, queues_),
        world_{config_, agenda_, heap_, memory_, storage_, queues_, cpu_, releases_, board_, log_} {
    if (!options.launches.empty()) {
      selection_.emplace(selected_launches(options.launches, trace), memory_, options.warm);
      gpu_.follow(*selection_);
    }
    if (options.sampling == Sampling::full) return;
    transfer_sampler_.emplace(memory_, registry_, agenda_, trace, memory_.cache_bytes());
    sampler_.emplace(memory_, registry_, *transfer_sampler_);
    gpu_.follow(*sampler_);
    for (const MemoryClient client : {MemoryClient::storage, MemoryClient::copy_engine}) {
      memory_.port(client).follow(*transfer_sampler_);
    }
  }

  Result run() {
    run_once();
    std::vector<ResultLatency> latencies{assemble_latency(log_)};
    if (options_.repetitions > 1) trace_ = warm_repetition(trace_);
    while (latencies.size() < options_.repetitions) {
      begin_repetition(latencies.size());
      run_once();
      latencies.push_back(assemble_latency(log_));
    }
    Result last = result();
    if (latencies.size() > 1) last.repetitions = std::move(latencies);
    return last;
  }

 private:
  /// What had happened before the last repetition began: its results do not count it.
  struct Before {
    Picoseconds time, disk_floor, compute_floor;
    std::uint64_t dram_bytes = 0;
    Bytes bytes_read;
  };

  /// The host program, until all has drained. Times in the log are since it began.
  void run_once() {
    threads_ = host_threads(world_, trace_.operations);
    report_progress();
    if (options_.tap != nullptr) memory_.watch(options_.tap_port, options_.tap);
    if (options_.on_launch) queues_.on_launch(options_.on_launch);
    watch_progress();
    periodic_.run_while([this] { return goes_on(); });
    watch_returns(world_, trace_.operations);
    for (HostThread& thread : threads_) {
      HostThread* start = &thread;
      agenda_.after(Picoseconds(0), [start] { start->start(); });
    }
    run_to_the_end();
    check_drained();
    if (transfer_sampler_) transfer_sampler_->stop();
    end_ = log_.end;
    energy_.finish(end_);
    count_from(before_.time, &log_);
  }

  void begin_repetition(std::size_t number) {
    done_ = number;
    before_ = {Agenda::now(), storage_.floor(), gpu_.compute_floor(), memory_.dram_bytes(),
               storage_.bytes_read()};
    log_ = RunLog{};
    log_.end = before_.time;
    board_ = CompletionBoard();
    registry_.count_from_here();
    heap_.restart(before_.time);
    energy_.restart(before_.time);
    power_.restart(before_.time);
    periodic_.resume();
    if (sampler_) sampler_->count_from_here();
    intervals_.restart(before_.time);
  }

  DynamicPower::Hooks power_hooks() {
    const Ticks fastest = memory_.clock().period;
    return {[this] { return cpu_.take_busy(); },
            [this](double speed, double voltage) { cpu_.set_speed(speed, voltage); },
            [this](double speed) { memory_.set_dram_speed(speed); },
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
      const double share = static_cast<double>(ended) / static_cast<double>(commands);
      options_.on_progress((static_cast<double>(done_) + share) /
                           static_cast<double>(options_.repetitions));
    });
  }

  void run_to_the_end() {
    if (options_.interval.count() == 0) return context_.run();
    context_.run(options_.interval, [this](Picoseconds end) { intervals_.record(end); });
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
    describe_sampling(&result);
    result.floor.disk = to_nanoseconds(storage_.floor() - before_.disk_floor);
    result.floor.compute = to_nanoseconds(gpu_.compute_floor() - before_.compute_floor);
    result.floor.dram = Nanoseconds(static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(memory_.dram_bytes() - before_.dram_bytes) /
                  memory_.peak_dram_bytes_per_second() * 1e9)));
    result.memory = heap_.resident().summary(end_);
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
    result.models = models_of(result);
    result.energy = energy_.result(log_.end);
    const Nanoseconds start = to_nanoseconds(before_.time);
    for (PowerSample sample : power_.samples()) {
      if (sample.time < start || sample.time - start > result.latency.integrated) continue;
      sample.time -= start;
      result.power_over_time.push_back(sample);
    }
    // Only a whole first run reads all weights of the plan.
    const bool reads_all = done_ == 0 && !selection_;
    result.checks.push_back(measured_check(result));
    append_host_checks(trace_, reads_all ? plan_ : std::nullopt, log_, heap_, bytes_read(),
                       &result.checks);
    energy_.append_checks(&result.checks);
    storage_.append_checks(&result.checks);
    gpu_.append_checks(&result.checks);
    memory_.append_checks(&result.checks);
    return result;
  }

  /// Launches that are not simulated are those the trace does not describe, and took its times.
  ResultCheck measured_check(const Result& result) const {
    Picoseconds recorded;
    for (const LoggedCommand& command : log_.commands) {
      const trace::Launch& launch = command.operation->launch();
      if (!command.operation->has_launch() || launch.program() != 0 || command.report.skipped) {
        continue;
      }
      recorded += measured_time(launch, config_);
    }
    return {"gpu: time of measured launches = their times in the trace",
            result.counters.at("gpu.measured_time").value, static_cast<double>(recorded.count())};
  }

  Bytes bytes_read() const { return storage_.bytes_read() - before_.bytes_read; }

  void describe_sampling(Result* result) const {
    if (selection_) result->sampling_mode = "launches " + options_.launches;
    if (!sampler_) return;
    result->sampling_mode = "auto";
    const auto picoseconds = [](Nanoseconds time) {
      return 1e3 * static_cast<double>(time.count());
    };
    const auto launches = static_cast<double>(sampler_->time_bound());
    const auto transfers = static_cast<double>(transfer_sampler_->time_bound());
    double& bound = result->sampling_error_bound;
    if (result->latency.exec.count() > 0) bound = launches / picoseconds(result->latency.exec);
    if (result->latency.integrated.count() > 0) {
      bound = std::max(bound, (launches + transfers) / picoseconds(result->latency.integrated));
    }
  }

  const DeviceConfig config_;
  const Trace& whole_trace_;
  Trace trace_;  ///< of which the host program runs: whole, reduced or a repetition's
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
  IntervalRecorder intervals_{registry_};
  HostWorld world_;
  std::vector<HostThread> threads_;
  std::size_t done_ = 0;  ///< repetitions
  Before before_;
  Picoseconds end_;  ///< since the start of the first repetition
  std::optional<SelectedLaunches> selection_;
  std::optional<TransferSampler> transfer_sampler_;
  std::optional<LaunchSampler> sampler_;
};

}  // namespace

Result simulate(const DeviceConfig& config, const Trace& trace, const SimulationOptions& options) {
  config.check();
  return Machine(config, trace, options).run();
}

}  // namespace fm
