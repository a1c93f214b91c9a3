#include "executor/trace_tool/trace_compose.hpp"

#include <map>
#include <set>
#include <tuple>

#include "core/diagnostics.hpp"
#include "executor/recorder/recording_kernel.hpp"
#include "executor/recorder/run_trace.hpp"
#include "executor/trace_tool/host_program.hpp"

namespace fm {
namespace {

struct Recorded {
  const Trace* source = nullptr;
  const trace::AccessProgram* program = nullptr;
};
using RecordedByKey = std::map<std::string, Recorded>;

RecordedByKey recorded_programs(const std::vector<Trace>& sources) {
  RecordedByKey programs;
  for (const Trace& source : sources) {
    for (const trace::AccessProgram& program : source.programs) {
      programs.emplace(program.key(), Recorded{&source, &program});
    }
  }
  return programs;
}

std::string geometry_words(const PlanLaunch& launch) {
  std::string words;
  for (std::size_t d = 0; d < 3; ++d) {
    words += (d == 0 ? "" : "x") + std::to_string(launch.global[d]);
  }
  return words + " work-items";
}

/// Lists every launch without a recorded program, those that share one together.
void refuse_missing(const Plan& plan, const RecordedByKey& programs) {
  std::vector<std::vector<const PlanLaunch*>> missing;
  std::map<std::string, std::size_t> places;  // by key
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind != LaunchKind::kernel) continue;
    const std::string key = program_key(plan, launch);
    if (programs.count(key) != 0) continue;
    const auto [place, added] = places.emplace(key, missing.size());
    if (added) missing.emplace_back();
    missing[place->second].push_back(&launch);
  }
  if (missing.empty()) return;
  std::string message = "the traces lack " + std::to_string(missing.size()) +
                        " access programs of this plan; record them with fmexec --record:";
  for (const auto& launches : missing) {
    message += "\n  " + launches.front()->kernel + ", " + geometry_words(*launches.front()) + ":";
    for (const PlanLaunch* launch : launches) message += " " + launch->id;
  }
  throw UserError(message);
}

HostTimes measured_times(const Trace& source) {
  HostTimes times;
  for (const trace::HostOperation& operation : source.operations) {
    const trace::Think& think = operation.think();
    if (think.phase() == trace::Think::CONTEXT) times.context_ns += think.nanoseconds();
    if (think.phase() == trace::Think::PROGRAMS && think.programs() > 0) {
      times.program_ns = think.nanoseconds() / think.programs();
    }
  }
  return times;
}

/// Programs and index contents of the launches, as far as not yet in the trace.
class ProgramCollector {
 public:
  ProgramCollector(const RecordedByKey& recorded, Trace* trace)
      : recorded_(recorded), trace_(trace) {}

  std::uint32_t add(const std::string& key) {
    const auto [id, added] =
        ids_.emplace(key, static_cast<std::uint32_t>(trace_->programs.size() + 1));
    if (added) {
      trace_->programs.push_back(*recorded_.at(key).program);
      trace_->programs.back().set_id(id->second);
    }
    return id->second;
  }

  /// The key names the index tensors, so that any launch of the source's program has the values.
  void add_contents(const std::string& key, const trace::Launch& launch) {
    const Recorded& recorded = recorded_.at(key);
    for (const trace::IndexContents& contents : recorded.source->index_contents) {
      if (contents.program() != recorded.program->id()) continue;
      const trace::Site& site = recorded.program->sites(static_cast<int>(contents.site()));
      for (const trace::Argument& argument : launch.arguments()) {
        if (argument.index() != site.argument()) continue;
        if (!done_.insert({launch.program(), contents.site(), argument.object()}).second) continue;
        trace_->index_contents.push_back(contents);
        trace_->index_contents.back().set_program(launch.program());
        trace_->index_contents.back().set_object(argument.object());
      }
    }
  }

 private:
  const RecordedByKey& recorded_;
  Trace* trace_;
  std::map<std::string, std::uint32_t> ids_;  // by key
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> done_;
};

}  // namespace

Trace compose_trace(const Plan& plan, const std::vector<Trace>& sources) {
  if (sources.empty()) throw UserError("no traces to compose from");
  const RecordedByKey recorded = recorded_programs(sources);
  refuse_missing(plan, recorded);
  const trace::Header& first = sources.front().header;
  Trace trace;
  trace.header = trace_header("fmtrace", plan, {first.device().begin(), first.device().end()},
                              first.weightless());
  trace.operations = host_program(plan, measured_times(sources.front()));
  ProgramCollector programs(recorded, &trace);
  for (trace::HostOperation& operation : trace.operations) {
    if (!operation.has_launch()) continue;
    trace::Launch& launch = *operation.mutable_launch();
    const std::string key = program_key(plan, plan.launch(launch.launch()));
    launch.set_program(programs.add(key));
    programs.add_contents(key, launch);
  }
  return trace;
}

}  // namespace fm
