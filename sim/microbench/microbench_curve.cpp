#include "sim/microbench/microbench_curve.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "core/diagnostics.hpp"
#include "core/microbench_label.hpp"

namespace fm {
namespace {

struct Command {
  MicrobenchLabel label;
  double start, end;  // nanoseconds
};

bool is_label(const std::string& id) { return id.find(" unit=") != std::string::npos; }

std::vector<Command> commands_of(const Result& result) {
  std::vector<Command> commands;
  const auto add = [&](const std::string& id, Nanoseconds start, Nanoseconds end) {
    if (!is_label(id)) return;
    commands.push_back({microbench_label_from(id), static_cast<double>(start.count()),
                        static_cast<double>(end.count())});
  };
  for (const ResultLaunch& launch : result.launches) add(launch.id, launch.start, launch.end);
  const std::string read = "read ";
  for (const TimelineEvent& event : result.timeline) {
    if (event.lane == "disk" && event.name.compare(0, read.size(), read) == 0) {
      add(event.name.substr(read.size()), event.start, event.end);
    }
  }
  return commands;
}

/// Nanoseconds and units of work.
struct Cost {
  double time = 0, work = 0;
};

Cost cost_of(const std::vector<const Command*>& parts) {
  const Command *brief = nullptr, *full = nullptr, *first = nullptr, *last = nullptr;
  Cost cost;
  for (const Command* part : parts) {
    const double time = part->end - part->start;
    const auto work = static_cast<double>(part->label.work);
    switch (part->label.part) {
      case MicrobenchPart::warm:
        break;
      case MicrobenchPart::brief:
        brief = part;
        break;
      case MicrobenchPart::full:
        full = part;
        break;
      case MicrobenchPart::alone:
        return {time, work};
      case MicrobenchPart::series:
        if (first != nullptr) cost.work += work;
        if (first == nullptr) first = part;
        last = part;
        break;
    }
  }
  if (first != nullptr) return {last->end - first->end, cost.work};
  if (brief == nullptr || full == nullptr) return {};
  return {(full->end - full->start) - (brief->end - brief->start),
          static_cast<double>(full->label.work) - static_cast<double>(brief->label.work)};
}

const std::string& label_of(const trace::HostOperation& operation) {
  static const std::string none;
  if (operation.has_launch()) return operation.launch().launch();
  if (operation.has_copy()) return operation.copy().launch();
  if (operation.has_disk_read()) return operation.disk_read().weight();
  return none;
}

bool meets(const MicrobenchLabel& label, const AxisConditions& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
    return std::find(label.axes.begin(), label.axes.end(), condition) != label.axes.end();
  });
}

}  // namespace

void keep_points(const AxisConditions& conditions, Trace* trace) {
  std::set<std::uint64_t> removed;
  std::vector<trace::HostOperation> kept;
  for (const trace::HostOperation& operation : trace->operations) {
    const std::string& label = label_of(operation);
    const bool waits_for_removed =
        std::any_of(operation.after().begin(), operation.after().end(),
                    [&](std::uint64_t cause) { return removed.count(cause) != 0; });
    const bool elsewhere = is_label(label) && !meets(microbench_label_from(label), conditions);
    if (elsewhere || waits_for_removed) {
      removed.insert(operation.id());
    } else {
      kept.push_back(operation);
    }
  }
  trace->operations = std::move(kept);
}

MicrobenchCurve curve_of(const std::string& name, const Result& result, double clock_hertz) {
  const std::vector<Command> commands = commands_of(result);
  MicrobenchCurve curve;
  curve.name = name;
  std::vector<bool> done(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (done[i]) continue;
    const MicrobenchLabel& label = commands[i].label;
    std::vector<const Command*> parts;
    for (std::size_t j = i; j < commands.size(); ++j) {
      if (commands[j].label.axes != label.axes) continue;
      done[j] = true;
      parts.push_back(&commands[j]);
    }
    if (curve.unit.empty()) curve.unit = label.unit;
    if (curve.unit != label.unit) {
      throw UserError(name + " measures both " + curve.unit + " and " + label.unit);
    }
    const Cost cost = cost_of(parts);
    if (cost.time <= 0 || cost.work <= 0) {
      throw UserError(name + ": '" + to_string(label) +
                      "' cannot be measured: a part is missing, or both take the same time");
    }
    curve.points.push_back(
        {label.axes, microbench_value(cost.time, cost.work, label.unit, clock_hertz)});
  }
  return curve;
}

}  // namespace fm
