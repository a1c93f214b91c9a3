#include "executor/trace_tool/trace_check.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "core/access_expander.hpp"
#include "core/diagnostics.hpp"
#include "core/progress_bar.hpp"
#include "executor/recorder/recording_kernel.hpp"
#include "executor/trace_tool/trace_dump.hpp"

namespace fm {
namespace {

constexpr std::size_t most_differences = 20;
constexpr std::uint32_t checked_width = 32;
/// Of one access program; its first group is expanded whole.
constexpr std::uint64_t enough_accesses = 1'000'000;

void differ(CheckReport* report, const std::string& what) {
  if (report->differences.size() < most_differences) report->differences.push_back(what);
}

std::set<std::uint64_t> chosen_groups(const trace::AccessProgram& program, std::uint64_t more) {
  const std::uint64_t total = group_total(program);
  std::set<std::uint64_t> chosen = {0, total / 2, total - 1, program.group_count(0) - 1};
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < more && chosen.size() < total; ++i) chosen.insert(random() % total);
  return chosen;
}

using Extents = std::map<std::uint64_t, std::uint64_t>;  // object -> bytes

/// Bytes that the sites of one argument reach, in the groups expanded.
struct Reach {
  std::int64_t least = 0;
  std::int64_t end = 0;
};
using Reaches = std::map<std::pair<trace::Space, std::uint32_t>, Reach>;  // by space and argument

/// Work-groups of one access program, expanded item by item and in waves.
class ProgramCheck {
 public:
  ProgramCheck(const Trace& trace, const trace::AccessProgram& program, const trace::Launch& launch,
               CheckReport* report)
      : program_(program),
        index_(index_values_of(trace, program, launch)),
        expander_(program_, index_),
        report_(report) {}

  void check_group(std::uint64_t linear) {
    const auto group = group_at(program_, linear);
    const std::uint32_t items = items_per_group(program_);
    std::vector<std::vector<ItemAccess>> by_wave(items);
    const auto keep = [&](std::uint32_t wave, const WaveAccess& access) {
      for (const WaveAccess::Lane& lane : access.lanes) {
        by_wave[wave * checked_width + lane.lane].push_back({access.site, lane.x, lane.y});
      }
    };
    for (std::uint32_t wave = 0; wave * checked_width < items; ++wave) {
      expander_.wave(
          group, wave, checked_width, [&](const WaveAccess& access) { keep(wave, access); },
          nullptr);
    }
    for (std::uint32_t item = 0; item < items; ++item) {
      const std::vector<ItemAccess> alone = expander_.item(group, item);
      if (!(alone == by_wave[item])) {
        differ(report_, "program " + std::to_string(program_.id()) + ": work-item " +
                            std::to_string(item) + " of group " + std::to_string(linear) +
                            " makes other accesses alone than in its wave");
      }
      for (const ItemAccess& access : alone) extend_reach(access);
      report_->accesses_expanded += alone.size();
    }
    ++report_->groups_expanded;
  }

  const Reaches& reaches() const { return reaches_; }

 private:
  void extend_reach(const ItemAccess& access) {
    const trace::Site& site = program_.sites(static_cast<int>(access.site));
    if (site.space() == trace::IMAGE) return;  // coordinates are kept before clamping
    Reach& reach = reaches_[{site.space(), site.argument()}];
    reach.least = std::min(reach.least, access.x);
    reach.end = std::max(reach.end, access.x + static_cast<std::int64_t>(site.bytes()));
  }

  const trace::AccessProgram& program_;
  const IndexValues index_;
  const AccessExpander expander_;
  CheckReport* report_;
  Reaches reaches_;
};

/// What the program reaches lies inside what the launch binds.
void check_reaches(const trace::AccessProgram& program, const trace::Launch& launch,
                   const Reaches& reaches, const Extents& extents, CheckReport* report) {
  std::map<std::uint32_t, std::uint64_t> room;
  for (const trace::Argument& argument : launch.arguments()) {
    const auto extent = extents.find(argument.object());
    if (extent != extents.end()) room[argument.index()] = extent->second - argument.offset();
  }
  for (const auto& [place, reach] : reaches) {
    const auto& [space, argument] = place;
    const std::uint64_t bytes = space == trace::LOCAL
                                    ? program.local_arrays(static_cast<int>(argument)).bytes()
                                    : room[argument];
    if (reach.least >= 0 && static_cast<std::uint64_t>(reach.end) <= bytes) continue;
    differ(report, "launch " + launch.launch() + ": " +
                       (space == trace::LOCAL ? "local array " : "argument ") +
                       std::to_string(argument) + " of " + std::to_string(bytes) +
                       " bytes is accessed from byte " + std::to_string(reach.least) + " to " +
                       std::to_string(reach.end));
  }
}

std::map<std::uint32_t, const trace::AccessProgram*> programs_by_id(const Trace& trace) {
  std::map<std::uint32_t, const trace::AccessProgram*> programs;
  for (const trace::AccessProgram& program : trace.programs) programs[program.id()] = &program;
  return programs;
}

}  // namespace

void check_accesses(const Trace& trace, std::uint64_t groups, CheckReport* report) {
  const auto programs = programs_by_id(trace);
  Extents extents;
  std::map<std::uint32_t, Reaches> reaches;
  ProgressBar bar("checking");
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    bar.show(i, trace.operations.size());
    const trace::HostOperation& operation = trace.operations[i];
    if (operation.has_create()) extents[operation.create().object()] = operation.create().bytes();
    if (!operation.has_launch()) continue;
    if (operation.launch().program() == 0) {
      ++report->undescribed_launches;
      continue;
    }
    const trace::AccessProgram& program = *programs.at(operation.launch().program());
    if (reaches.count(program.id()) == 0) {
      ProgramCheck check(trace, program, operation.launch(), report);
      const std::uint64_t before = report->accesses_expanded;
      for (const std::uint64_t group : chosen_groups(program, groups)) {
        check.check_group(group);
        if (report->accesses_expanded - before > enough_accesses) break;
      }
      reaches[program.id()] = check.reaches();
    }
    check_reaches(program, operation.launch(), reaches[program.id()], extents, report);
  }
}

void check_plan(const Trace& trace, const Plan& plan, CheckReport* report) {
  const auto programs = programs_by_id(trace);
  std::vector<std::string> launched;
  std::map<std::string, std::uint64_t> read, copied;
  for (const trace::HostOperation& operation : trace.operations) {
    if (operation.has_disk_read()) {
      read[operation.disk_read().weight()] += operation.disk_read().bytes();
    }
    if (operation.has_copy()) copied[operation.copy().launch()] += operation.copy().bytes();
    if (!operation.has_launch()) continue;
    const trace::Launch& launch = operation.launch();
    launched.push_back(launch.launch());
    try {
      const PlanLaunch& planned = plan.launch(launch.launch());
      const auto program = programs.find(launch.program());
      if (program == programs.end() || program->second->key() != program_key(plan, planned)) {
        differ(report, "launch " + launch.launch() +
                           " was recorded from another kernel, geometry " +
                           "or layout than the plan's");
      }
    } catch (const std::out_of_range&) {
      differ(report, "launch " + launch.launch() + " is not in the plan");
    }
  }
  std::vector<std::string> planned;
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind == LaunchKind::kernel) planned.push_back(launch.id);
    if (launch.kind == LaunchKind::copy && copied.count(launch.id) == 0) {
      differ(report, "copy launch " + launch.id + " of the plan is not in the trace");
    }
  }
  if (launched != planned) {
    differ(report, "the trace makes " + std::to_string(launched.size()) + " kernel launches, the " +
                       "plan " + std::to_string(planned.size()) + ", or their order differs");
  }
  for (const WeightSlice& weight : plan.weights) {
    const bool used = !plan.tensor(weight.tensor).first_use.empty();
    if (used && read[weight.tensor] < weight.bytes.count()) {
      differ(report, "weight " + weight.tensor + " has " + std::to_string(weight.bytes.count()) +
                         " bytes in the plan, " + std::to_string(read[weight.tensor]) +
                         " are read in the trace");
    }
  }
}

}  // namespace fm
