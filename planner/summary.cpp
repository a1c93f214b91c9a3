#include "planner/summary.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/figures_text.hpp"
#include "planner/movement_report.hpp"

namespace fm {
namespace {

struct Facts {
  std::size_t kernels = 0, copies = 0;
  std::map<std::string, std::size_t> by_operation;
  std::uint64_t macs = 0;
  Bytes preloaded, streamed, on_disk, peak;
  std::size_t images = 0, buffers = 0;
  MovementTotals movement;
};

Facts facts_of(const Plan& plan) {
  Facts facts;
  for (const PlanLaunch& launch : plan.launches) {
    ++(launch.kind == LaunchKind::copy ? facts.copies : facts.kernels);
    ++facts.by_operation[launch.operation];
    facts.macs += launch.macs;
    facts.peak = std::max(facts.peak, launch.claims.total());
  }
  for (const WeightSlice& slice : plan.weights) {
    if (slice.residency == Residency::preload) facts.preloaded += slice.bytes;
    if (slice.residency == Residency::stream) facts.streamed += slice.bytes;
    if (slice.residency == Residency::disk) facts.on_disk += slice.bytes;
  }
  for (const PlanTensor& tensor : plan.tensors) {
    ++(tensor.placement == Placement::image2d ? facts.images : facts.buffers);
  }
  facts.movement = movement_totals(plan);
  return facts;
}

Bytes activation_bytes(const Plan& plan) {
  Bytes total;
  for (const Pool& pool : plan.pools) total += pool.bytes;
  return total;
}

std::string files_of(const Plan& plan) {
  std::string files;
  for (const PlanModel& model : plan.models) files += (files.empty() ? "" : ", ") + model.file;
  return files;
}

}  // namespace

std::string plan_summary(const Plan& plan) {
  const Facts facts = facts_of(plan);
  std::ostringstream out;
  out << files_of(plan) << " for " << plan.config << ", policy " << plan.policy << ", storage "
      << to_string(plan.storage) << '\n';
  out << "  launches     " << facts.kernels << " kernels, " << facts.copies << " copies (";
  std::vector<std::pair<std::size_t, std::string>> counts;
  for (const auto& [operation, count] : facts.by_operation) counts.emplace_back(count, operation);
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out << (i ? ", " : "") << counts[i].second << ' ' << counts[i].first;
  }
  out << ")\n";
  out << "  movement     " << facts.movement.launches << " launches, "
      << mebibytes(facts.movement.bytes) << " read and written; " << facts.movement.index_functions
      << " index functions\n";
  out << "  work         " << std::fixed << std::setprecision(3)
      << static_cast<double>(facts.macs) / 1e9 << " GMAC\n";
  out << "  tensors      " << plan.tensors.size() << ": " << facts.images << " in images, "
      << facts.buffers << " in buffers\n";
  out << "  weights      " << plan.weights.size() << " slices, " << mebibytes(facts.preloaded)
      << " preloaded, " << mebibytes(facts.streamed) << " streamed";
  if (facts.on_disk != Bytes(0)) out << ", " << mebibytes(facts.on_disk) << " left on disk";
  if (!plan.gathers.empty()) out << ", rows gathered for " << plan.gathers.size() << " tensors";
  out << '\n';
  out << "  memory       activations " << mebibytes(activation_bytes(plan)) << ", staging ring "
      << mebibytes(plan.staging_ring_bytes) << ", peak claim " << mebibytes(facts.peak) << '\n';
  return out.str();
}

std::string plan_summary_json(const Plan& plan) {
  const Facts facts = facts_of(plan);
  nlohmann::ordered_json json;
  json["model"] = plan.models.at(0).file;
  json["digest"] = plan.models.at(0).digest;
  if (plan.models.size() > 1) {
    json["models"] = nlohmann::ordered_json::array();
    for (const PlanModel& model : plan.models) {
      json["models"].push_back(
          {{"name", model.name}, {"file", model.file}, {"digest", model.digest}});
    }
  }
  json["config"] = plan.config;
  json["policy"] = plan.policy;
  json["storage"] = to_string(plan.storage);
  json["launches"] = {
      {"kernels", facts.kernels}, {"copies", facts.copies}, {"by_operation", facts.by_operation}};
  json["movement"] = {{"launches", facts.movement.launches},
                      {"bytes", facts.movement.bytes.count()},
                      {"index_functions", facts.movement.index_functions}};
  json["macs"] = facts.macs;
  json["tensors"] = {{"images", facts.images}, {"buffers", facts.buffers}};
  json["weights"] = {{"slices", plan.weights.size()},
                     {"preloaded_bytes", facts.preloaded.count()},
                     {"streamed_bytes", facts.streamed.count()},
                     {"disk_bytes", facts.on_disk.count()}};
  json["memory"] = {{"activation_bytes", activation_bytes(plan).count()},
                    {"staging_ring_bytes", plan.staging_ring_bytes.count()},
                    {"peak_claim_bytes", facts.peak.count()}};
  return json.dump(2) + "\n";
}

}  // namespace fm
