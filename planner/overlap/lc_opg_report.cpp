#include "planner/overlap/lc_opg_report.hpp"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/device_config.hpp"

namespace fm {
namespace {

std::string size_text(Bytes bytes) {
  return quantity_text(static_cast<double>(bytes.count()), QuantityKind::bytes);
}

std::size_t preloaded_weights(const LcOpgResult& result) {
  std::size_t count = 0;
  for (const LcOpgWeightPlan& weight : result.weights) count += weight.preloaded ? 1 : 0;
  return count;
}

nlohmann::ordered_json weight_json(const LcOpgProblem& problem, const LcOpgWeight& weight,
                                   const LcOpgWeightPlan& plan) {
  nlohmann::ordered_json json;
  json["name"] = weight.name;
  json["consumer"] = problem.layers[weight.layer].name;
  json["preloaded"] = plan.preloaded;
  if (plan.preloaded) return json;
  json["first_layer"] = problem.layers[plan.first_layer].name;
  json["distance"] = weight.layer - plan.first_layer;
  for (const LcOpgPiece& piece : plan.pieces) {
    json["pieces"].push_back({{"layer", problem.layers[piece.layer].name},
                              {"first_chunk", piece.first_chunk},
                              {"chunk_count", piece.chunk_count}});
  }
  return json;
}

}  // namespace

std::string lc_opg_report(const LcOpgProblem& problem, const LcOpgResult& result) {
  std::ostringstream out;
  out << std::setprecision(10);
  out << problem.name << ": " << problem.weights.size() << " weights, " << problem.layers.size()
      << " layers, S " << size_text(problem.chunk_bytes) << ", M_peak " << size_text(problem.m_peak)
      << ", lambda " << problem.lambda << '\n';
  out << "  preloaded  " << preloaded_weights(result) << " weights, " << result.preloaded_chunks
      << " chunks\n";
  out << "  distance   " << result.distance << " layers\n";
  out << "  objective  " << result.objective << ", lower bound " << result.lower_bound << ", gap "
      << std::fixed << std::setprecision(2) << 100 * result.gap << " %\n";
  out << "  status     " << to_string(result.status) << " after " << result.seconds << " s, "
      << result.nodes << " linear programs\n";
  return out.str();
}

std::string lc_opg_report_json(const LcOpgProblem& problem, const LcOpgResult& result) {
  nlohmann::ordered_json json;
  json["problem"] = problem.name;
  json["layers"] = problem.layers.size();
  json["chunk_bytes"] = problem.chunk_bytes.count();
  json["m_peak_bytes"] = problem.m_peak.count();
  json["lambda"] = problem.lambda;
  json["objective"] = result.objective;
  json["lower_bound"] = result.lower_bound;
  json["gap"] = result.gap;
  json["status"] = to_string(result.status);
  json["seconds"] = result.seconds;
  json["linear_programs"] = result.nodes;
  json["preloaded_weights"] = preloaded_weights(result);
  json["preloaded_chunks"] = result.preloaded_chunks;
  json["distance"] = result.distance;
  json["weights"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < problem.weights.size(); ++i) {
    json["weights"].push_back(weight_json(problem, problem.weights[i], result.weights[i]));
  }
  return json.dump(2) + "\n";
}

}  // namespace fm
