#include "planner/overlap/overlap_report.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/figures_text.hpp"
#include "core/plan_streams.hpp"

namespace fm {
namespace {

std::string timed_text(const OverlapReport& report) {
  std::ostringstream out;
  out << "  predicted    " << milliseconds(report.predicted) << " after the programs are loaded ("
      << milliseconds(report.program_load) << "), " << std::fixed << std::setprecision(3)
      << report.over_floor() << " x floor";
  if (report.runs > 1) {
    out << "; warm " << milliseconds(report.predicted_warm) << ", " << report.runs << " runs";
  }
  out << '\n';
  out << "    beyond the launches: copies " << milliseconds(report.copying)
      << ", slowed by streams " << milliseconds(report.slowed) << ", waiting for the disk "
      << milliseconds(report.waiting) << '\n';
  out << "  lower bound  " << milliseconds(report.lower_bound) << ", gap " << percent(report.gap())
      << ", solved in " << std::setprecision(2) << report.seconds << " s\n";
  return out.str();
}

std::string lc_opg_text(const OverlapReport& report) {
  const LcOpgTerms& terms = *report.lc_opg;
  std::ostringstream out;
  out << "  objective    " << std::fixed << std::setprecision(1) << terms.objective << " = "
      << std::setprecision(4) << terms.lambda << " x " << terms.preloaded_chunks
      << " chunks of W + " << 1 - terms.lambda << " x " << terms.distance
      << " layers of distance, S " << mebibytes(terms.chunk) << ", M_peak "
      << mebibytes(terms.m_peak) << '\n';
  out << "  lower bound  " << std::setprecision(1) << terms.lower_bound << ", gap "
      << percent(terms.gap) << ", " << terms.status << ", solved in " << std::setprecision(2)
      << report.seconds << " s\n";
  return out.str();
}

std::string fusion_text(const FusionReport& fusion) {
  const auto cost = [&](double value) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << value;
    return fusion.timed ? milliseconds(value) : text.str();
  };
  std::ostringstream out;
  out << "  fusion       adaptive, alpha " << fusion.alpha << ": " << fusion.unfused.size()
      << " left apart, " << fusion.offered << " could be; "
      << (fusion.timed ? "predicted " : "objective ") << cost(fusion.cost) << ", "
      << cost(fusion.fixed_cost) << " with all fused; programs load in "
      << milliseconds(fusion.programs) << ", " << milliseconds(fusion.fixed_programs) << "; "
      << fusion.plans << " plans in " << std::fixed << std::setprecision(2) << fusion.seconds
      << " s\n";
  for (const std::string& node : fusion.unfused) out << "    apart      " << node << '\n';
  return out.str();
}

nlohmann::ordered_json fusion_json(const FusionReport& fusion) {
  return {{"alpha", fusion.alpha},
          {"offered", fusion.offered},
          {"unfused", fusion.unfused},
          {"plans", fusion.plans},
          {"cost_unit", fusion.timed ? "ns" : "objective"},
          {"fixed_cost", fusion.fixed_cost},
          {"cost", fusion.cost},
          {"fixed_program_load_ns", fusion.fixed_programs.count()},
          {"program_load_ns", fusion.programs.count()},
          {"seconds", fusion.seconds}};
}

}  // namespace

std::string launch_name(const PlanLaunch& launch) {
  return "launch " + launch.id + " (" + launch.operation + ")" +
         (launch.model.empty() ? "" : " of model " + launch.model);
}

double OverlapReport::over_floor() const {
  const auto least = static_cast<double>(floor().count());
  return least > 0 ? static_cast<double>(predicted.count()) / least : 0;
}

double OverlapReport::gap() const {
  if (lower_bound <= 0) return 0;
  return std::max(0.0, static_cast<double>(predicted.count()) / lower_bound - 1);
}

void describe_floors(const OverlapModel& model, const DeviceCosts& costs, OverlapReport* report) {
  report->disk_floor = costs.disk_floor(model.weight_bytes());
  report->compute_floor = time_floor(model.relaxed_problem(unlimited_bytes)).compute;
}

void describe_plan(const Plan& plan, OverlapReport* report) {
  std::map<std::string, LaunchKind> kinds;
  for (const PlanLaunch& launch : plan.launches) {
    kinds[launch.id] = launch.kind;
    if (report->peak_launch.empty() || launch.claims.total() > report->peak.total()) {
      report->peak = launch.claims;
      report->peak_launch = launch.id;
    }
  }
  for (const WeightSlice& slice : plan.weights) {
    if (slice.residency == Residency::preload) report->preloaded += slice.bytes;
    if (slice.residency != Residency::stream) continue;
    if (slice.transforms.empty()) report->buffers += slice.bytes;
    for (const WeightTransform& transform : slice.transforms) {
      const Bytes begin = plan.chunk_bytes * transform.first_chunk;
      const Bytes bytes = std::min(plan.chunk_bytes * transform.chunk_count, slice.bytes - begin);
      const bool copy = kinds.at(transform.launch) == LaunchKind::copy;
      (copy ? report->copied : report->streamed_inside) += bytes;
    }
  }
}

std::vector<CarryingLaunch> carrying_launches(const Plan& plan, const Plan& priced,
                                              const std::vector<LaunchProfile>& profiles) {
  std::map<std::string, const LaunchProfile*> by_id;
  for (std::size_t i = 0; i < profiles.size(); ++i) by_id[priced.launches[i].id] = &profiles[i];
  std::vector<CarryingLaunch> carrying;
  for (const PlanLaunch& launch : plan.launches) {
    const auto found = by_id.find(launch.id);
    if (found == by_id.end()) continue;
    const LaunchProfile& profile = *found->second;
    CarryingLaunch one{launch.id, {}, profile.time, {}, allowed_slowdown(profile.operator_class)};
    for (const WeightStream& stream : streams_in(plan, launch)) {
      one.streamed += stream.rows.row_bytes * stream.rows.count;
    }
    if (one.streamed == Bytes(0)) continue;
    one.slowed = slowed_time(profile, one.streamed);
    carrying.push_back(std::move(one));
  }
  return carrying;
}

std::string report_text(const OverlapReport& report) {
  std::ostringstream out;
  out << "  launch times "
      << (report.estimated ? "estimated: a roofline of the device config"
                           : "from " + report.profile)
      << '\n';
  out << "  floor        " << milliseconds(report.floor()) << ", the larger of disk "
      << milliseconds(report.disk_floor) << " and compute " << milliseconds(report.compute_floor)
      << '\n';
  out << (report.lc_opg ? lc_opg_text(report) : timed_text(report));
  if (report.fusion) out << fusion_text(*report.fusion);
  out << "  weights      preloaded " << mebibytes(report.preloaded) << ", streamed in kernels "
      << mebibytes(report.streamed_inside) << ", copied " << mebibytes(report.copied)
      << ", into buffers " << mebibytes(report.buffers) << '\n';
  out << "  peak memory  " << mebibytes(report.peak.total()) << " at " << report.peak_launch
      << ": preloaded " << mebibytes(report.peak.preloaded) << ", unified in flight "
      << mebibytes(report.peak.um_in_flight) << ", texture in flight "
      << mebibytes(report.peak.tm_in_flight) << ", activations "
      << mebibytes(report.peak.activations) << ", staging " << mebibytes(report.peak.staging)
      << '\n';
  out << "  budget       " << (report.budget ? mebibytes(*report.budget) : "none");
  if (!report.lc_opg) {
    out << ", least " << mebibytes(report.minimum.bytes) << " held by " << report.minimum_launch;
  }
  out << '\n';
  return out.str();
}

std::string report_json(const OverlapReport& report) {
  nlohmann::ordered_json json;
  json["launch_times"] = report.estimated ? "estimated" : report.profile;
  json["floor_ns"] = {{"disk", report.disk_floor.count()},
                      {"compute", report.compute_floor.count()}};
  json["program_load_ns"] = report.program_load.count();
  if (report.lc_opg) {
    const LcOpgTerms& terms = *report.lc_opg;
    json["lc_opg"] = {{"objective", terms.objective},
                      {"lower_bound", terms.lower_bound},
                      {"gap", terms.gap},
                      {"lambda", terms.lambda},
                      {"chunk_bytes", terms.chunk.count()},
                      {"m_peak_bytes", terms.m_peak.count()},
                      {"preloaded_chunks", terms.preloaded_chunks},
                      {"distance", terms.distance},
                      {"status", terms.status}};
  } else {
    json["predicted_ns"] = report.predicted.count();
    json["predicted_warm_ns"] = report.predicted_warm.count();
    json["runs"] = report.runs;
    json["over_floor"] = report.over_floor();
    json["copying_ns"] = report.copying.count();
    json["slowed_ns"] = report.slowed.count();
    json["waiting_ns"] = report.waiting.count();
    json["lower_bound_ns"] = report.lower_bound;
    json["gap"] = report.gap();
  }
  if (report.fusion) json["fusion"] = fusion_json(*report.fusion);
  json["solver_seconds"] = report.seconds;
  json["weights"] = {{"preloaded_bytes", report.preloaded.count()},
                     {"streamed_bytes", report.streamed_inside.count()},
                     {"copied_bytes", report.copied.count()},
                     {"buffer_bytes", report.buffers.count()}};
  json["peak"] = {{"launch", report.peak_launch},
                  {"bytes", report.peak.total().count()},
                  {"preloaded", report.peak.preloaded.count()},
                  {"um_in_flight", report.peak.um_in_flight.count()},
                  {"tm_in_flight", report.peak.tm_in_flight.count()},
                  {"activations", report.peak.activations.count()},
                  {"staging", report.peak.staging.count()}};
  json["carrying"] = nlohmann::ordered_json::array();
  for (const CarryingLaunch& one : report.carrying) {
    json["carrying"].push_back({{"launch", one.launch},
                                {"streamed_bytes", one.streamed.count()},
                                {"bare_ns", one.bare.count()},
                                {"slowed_ns", one.slowed.count()},
                                {"allowed", one.allowed}});
  }
  if (report.budget) json["budget_bytes"] = report.budget->count();
  if (!report.lc_opg) {
    json["minimum"] = {{"bytes", report.minimum.bytes.count()}, {"launch", report.minimum_launch}};
  }
  return json.dump(2) + "\n";
}

}  // namespace fm
