#include "sim/replay/result_assembly.hpp"

#include <algorithm>
#include <set>

namespace fm {
namespace {

std::vector<const LoggedCommand*> by_start(const RunLog& log) {
  std::vector<const LoggedCommand*> commands;
  for (const LoggedCommand& command : log.commands) commands.push_back(&command);
  std::sort(commands.begin(), commands.end(), [](const LoggedCommand* a, const LoggedCommand* b) {
    return a->start != b->start ? a->start < b->start : a->operation->id() < b->operation->id();
  });
  return commands;
}

/// How long the disk was reading inside [from, to).
class DiskTime {
 public:
  explicit DiskTime(const RunLog& log) {
    for (const LoggedInterval& interval : log.intervals) {
      if (interval.lane == "disk")
        reads_.emplace_back(interval.start.count(), interval.end.count());
    }
    std::sort(reads_.begin(), reads_.end());
  }
  /// Calls must come with ascending `from`.
  Picoseconds inside(Picoseconds from, Picoseconds to) {
    std::uint64_t covered = from.count(), total = 0;
    while (first_ < reads_.size() && reads_[first_].second <= from.count()) ++first_;
    for (std::size_t i = first_; i < reads_.size() && reads_[i].first < to.count(); ++i) {
      const std::uint64_t begin = std::max(covered, reads_[i].first),
                          end = std::min(to.count(), reads_[i].second);
      if (end <= begin) continue;
      total += end - begin;
      covered = end;
    }
    return Picoseconds(total);
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> reads_;
  std::size_t first_ = 0;
};

/// Gives each weight to the first launch that uses it.
class FirstUses {
 public:
  FirstUses(const Trace& trace, const std::optional<Plan>& plan)
      : weights_(weight_bytes(trace, plan)) {}
  Bytes of(const trace::Launch& launch) {
    Bytes bytes;
    for (const auto& argument : launch.arguments()) {
      const auto weight = weights_.find(argument.tensor());
      if (weight != weights_.end() && used_.insert(weight->first).second) bytes += weight->second;
    }
    return bytes;
  }

 private:
  std::map<std::string, Bytes> weights_;
  std::set<std::string> used_;
};

ResultLaunch launch_of(const LoggedCommand& command,
                       const std::map<std::uint32_t, std::string>& kernels) {
  ResultLaunch launch;
  launch.start = to_nanoseconds(command.start);
  launch.end = to_nanoseconds(command.end);
  if (command.operation->has_copy()) {
    launch.id = command.operation->copy().launch();
    launch.kernel = "copy";
    launch.operation = "Copy";
    launch.bound = command.report.bound;
    return launch;
  }
  const trace::Launch& given = command.operation->launch();
  launch.id = given.launch();
  launch.kernel = given.program() == 0 ? given.kernel().name() : kernels.at(given.program());
  launch.operation = given.operation();
  launch.macs = given.macs();
  launch.bound = command.report.bound;
  launch.resident_waves = command.report.resident_waves;
  launch.occupancy_limit = command.report.occupancy_limit;
  launch.stalls = command.report.stalls;
  launch.counters = command.report.counters;
  return launch;
}

std::map<std::string, std::string> models_by_launch(const std::optional<Plan>& plan) {
  std::map<std::string, std::string> models;
  if (!plan) return models;
  for (const PlanLaunch& launch : plan->launches) models[launch.id] = launch.model;
  return models;
}

/// A copy longer than a part of the staging ring comes in pieces, a command each; they are one
/// launch.
void extend(ResultLaunch* launch, const ResultLaunch& piece) {
  launch->end = std::max(launch->end, piece.end);
  if (piece.bound != "launch") launch->bound = piece.bound;
}

}  // namespace

std::map<std::string, Bytes> weight_bytes(const Trace& trace, const std::optional<Plan>& plan) {
  std::map<std::string, Bytes> weights;
  if (plan) {
    for (const WeightSlice& slice : plan->weights) weights[slice.tensor] = slice.bytes;
    return weights;
  }
  for (const auto& operation : trace.operations) {
    if (operation.has_disk_read()) {
      weights[operation.disk_read().weight()] += Bytes(operation.disk_read().bytes());
    }
  }
  return weights;
}

std::vector<ResultLaunch> assemble_launches(const Trace& trace, const std::optional<Plan>& plan,
                                            const RunLog& log, const UnitPeaks& peaks,
                                            const EnergyLedger& energy) {
  std::map<std::uint32_t, std::string> kernels;
  for (const auto& program : trace.programs) kernels[program.id()] = program.kernel();
  FirstUses first_uses(trace, plan);
  DiskTime disk(log);
  const std::map<std::string, std::string> models = models_by_launch(plan);
  std::vector<ResultLaunch> launches;
  std::vector<EnergyByComponent> energies;    // by launch
  std::map<std::string, std::size_t> copies;  // index of each copy launch
  Picoseconds gpu_free;
  for (const LoggedCommand* command : by_start(log)) {
    if (command->operation->has_copy() && command->operation->copy().launch().empty()) continue;
    if (command->report.skipped) continue;
    ResultLaunch launch = launch_of(*command, kernels);
    if (const auto model = models.find(launch.id); model != models.end()) {
      launch.model = model->second;
    }
    if (command->operation->has_copy()) {
      const auto [entry, is_first_piece] = copies.emplace(launch.id, launches.size());
      if (!is_first_piece) {
        extend(&launches[entry->second], launch);
        add(&energies[entry->second], command->energy);
        continue;
      }
    }
    launch.clock_mhz = command->gpu_speed * peaks.gpu_hertz() / 1e6;
    if (command->operation->has_launch()) {
      launch.weight_bytes = first_uses.of(command->operation->launch());
      if (gpu_free < command->start) {
        if (disk.inside(gpu_free, command->start) > command->end - command->start)
          launch.bound = "disk";
      }
      gpu_free = std::max(gpu_free, command->end);
    }
    launches.push_back(std::move(launch));
    energies.push_back(command->energy);
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    ResultLaunch& launch = launches[i];
    const Picoseconds time = to_picoseconds(launch.end - launch.start);
    launch.energy = energy.result_of(energies[i], time);
    if (launch.counters.empty()) continue;
    const UnitWork work{launch.counters, time, launch.clock_mhz * 1e6};
    launch.peaks = peaks.of(work);
    launch.roofline = peaks.roofline(work);
  }
  return launches;
}

std::vector<TimelineEvent> assemble_timeline(const RunLog& log) {
  std::vector<TimelineEvent> events;
  for (const LoggedCommand* command : by_start(log)) {
    if (command->report.skipped) continue;
    events.push_back({command->operation->has_copy() ? "copy" : "gpu", command->name,
                      to_nanoseconds(command->start), to_nanoseconds(command->end)});
  }
  for (const LoggedInterval& interval : log.intervals) {
    events.push_back({interval.lane, interval.name, to_nanoseconds(interval.start),
                      to_nanoseconds(interval.end)});
  }
  return events;
}

ResultLatency assemble_latency(const RunLog& log) {
  Picoseconds first = log.end;
  for (const LoggedCommand& command : log.commands) {
    if (command.operation->has_launch() && !command.report.skipped)
      first = std::min(first, command.start);
  }
  ResultLatency latency;
  latency.integrated = to_nanoseconds(log.end);
  latency.startup = to_nanoseconds(log.startup);
  latency.init = to_nanoseconds(first);
  latency.exec = latency.integrated - latency.init;
  return latency;
}

void append_host_checks(const Trace& trace, const std::optional<Plan>& plan, const RunLog& log,
                        const DeviceHeap& heap, Bytes bytes_read,
                        std::vector<ResultCheck>* checks) {
  std::uint64_t read = 0, commands = 0, macs = 0, macs_done = 0;
  std::map<std::string, std::uint64_t> read_by_weight;
  for (const auto& operation : trace.operations) {
    commands += operation.has_launch() || operation.has_copy() ? 1 : 0;
    macs += operation.launch().macs();
    read += operation.disk_read().bytes();
    if (operation.has_disk_read())
      read_by_weight[operation.disk_read().weight()] += operation.disk_read().bytes();
  }
  for (const LoggedCommand& command : log.commands) macs_done += command.operation->launch().macs();
  const auto add = [checks](const std::string& law, std::uint64_t left, std::uint64_t right) {
    checks->push_back({law, static_cast<double>(left), static_cast<double>(right)});
  };
  add("host: bytes read from storage = bytes of the trace's disk reads", bytes_read.count(), read);
  if (plan) {
    std::uint64_t covered = 0, planned = 0;
    for (const WeightSlice& slice : plan->weights) {
      if (slice.residency == Residency::disk) continue;  // only rows of it are read
      planned += slice.bytes.count();
      covered += std::min(read_by_weight[slice.tensor], slice.bytes.count());
    }
    add("host: bytes of weights read = bytes of the plan's weights", covered, planned);
  }
  add("host: launches and copies replayed = those in the trace", log.commands.size(), commands);
  add("host: multiply-accumulates replayed = those in the trace", macs_done, macs);
  const ResidentMemory& memory = heap.resident();
  add("memory: bytes allocated = bytes released + bytes resident at the end",
      memory.added().count(), memory.removed().count() + memory.total().count());
}

}  // namespace fm
