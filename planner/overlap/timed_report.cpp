#include "planner/overlap/timed_report.hpp"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/device_config.hpp"
#include "core/figures_text.hpp"

namespace fm {
namespace {

std::string size_text(Bytes bytes) {
  return quantity_text(static_cast<double>(bytes.count()), QuantityKind::bytes);
}

/// Unified, texture and other memory go by other names when claims are whole (PeakMemory).
struct ClassNames {
  const char *unified, *texture, *other;
};
ClassNames class_names(const TimedProblem& problem) {
  if (problem.whole_claims) return {"staging ring", "images and buffers", "beside weights"};
  return {"unified", "texture", "beside weights"};
}

Bytes weight_bytes(const TimedProblem& problem) {
  Bytes bytes;
  for (const TimedWeight& weight : problem.weights) bytes += weight.bytes;
  return bytes;
}

double over_floor(const TimedProblem& problem, const OptimalSolution& solution) {
  const auto floor = static_cast<double>(time_floor(problem).latency.count());
  return floor > 0 ? static_cast<double>(solution.run.latency.count()) / floor : 1;
}

nlohmann::ordered_json launch_json(const NamedTimedProblem& named, const OptimalSolution& solution,
                                   std::size_t k) {
  return {{"name", named.launches[k]},
          {"start_ns", solution.run.start[k].count()},
          {"finish_ns", solution.run.finish[k].count()},
          {"copied_chunks", solution.schedule.copied[k]},
          {"streamed_chunks", solution.schedule.streamed[k]}};
}

}  // namespace

std::string timed_report(const NamedTimedProblem& named, const OptimalSolution& solution) {
  const TimedProblem& problem = named.problem;
  const TimeFloor floor = time_floor(problem);
  const TimedRun& run = solution.run;
  const ClassNames names = class_names(problem);
  std::ostringstream out;
  out << named.name << ": " << problem.launches.size() << " launches, " << problem.weights.size()
      << " weights of " << mebibytes_up(weight_bytes(problem)) << ", chunks of "
      << size_text(problem.chunk) << ", claims "
      << (problem.whole_claims ? "whole" : "chunk by chunk") << '\n';
  out << "  latency      " << milliseconds(run.latency) << ", " << std::fixed
      << std::setprecision(3) << over_floor(problem, solution) << " x floor\n";
  out << "    beyond the launches: copies " << milliseconds(run.copying) << ", slowed by streams "
      << milliseconds(run.slowed) << ", waiting " << milliseconds(run.waiting) << '\n';
  out << "  lower bound  " << milliseconds(solution.lower_bound) << ", gap " << std::setprecision(3)
      << 100 * solution.gap() << " %, "
      << (solution.relaxation_solved ? "of the linear program" : "without slowdowns")
      << ", solved in " << solution.seconds << " s\n";
  out << "  floor        " << milliseconds(floor.latency) << ": disk " << milliseconds(floor.disk)
      << ", compute " << milliseconds(floor.compute) << '\n';
  out << "  peak memory  " << mebibytes_up(run.peak.total) << " at "
      << named.launches[run.peak.launch] << ": " << names.unified << ' '
      << mebibytes_up(run.peak.unified) << ", " << names.texture << ' '
      << mebibytes_up(run.peak.texture) << ", " << names.other << ' '
      << mebibytes_up(run.peak.activations) << '\n';
  const MinimumBudget minimum = minimum_budget(problem);
  out << "  budget       ";
  if (problem.budget < unlimited_bytes) {
    out << mebibytes_down(problem.budget);
  } else {
    out << "none";
  }
  out << ", least " << mebibytes_up(minimum.bytes) << " held by " << named.launches[minimum.launch]
      << '\n';
  return out.str();
}

std::string timed_report_json(const NamedTimedProblem& named, const OptimalSolution& solution) {
  const TimedProblem& problem = named.problem;
  const TimeFloor floor = time_floor(problem);
  const MinimumBudget minimum = minimum_budget(problem);
  const TimedRun& run = solution.run;
  nlohmann::ordered_json json;
  json["problem"] = named.name;
  json["weights"] = problem.weights.size();
  json["weight_bytes"] = weight_bytes(problem).count();
  json["chunk_bytes"] = problem.chunk.count();
  json["claims"] = problem.whole_claims ? "whole" : "chunks";
  if (problem.budget < unlimited_bytes) json["budget_bytes"] = problem.budget.count();
  json["least_budget_bytes"] = minimum.bytes.count();
  json["least_budget_launch"] = named.launches[minimum.launch];
  json["latency_ns"] = run.latency.count();
  json["lower_bound_ns"] = solution.lower_bound;
  json["bound_of"] = solution.relaxation_solved ? "linear program" : "eager reading";
  json["gap"] = solution.gap();
  json["floor_ns"] = {{"latency", floor.latency.count()},
                      {"disk", floor.disk.count()},
                      {"compute", floor.compute.count()}};
  json["over_floor"] = over_floor(problem, solution);
  json["copying_ns"] = run.copying.count();
  json["slowed_ns"] = run.slowed.count();
  json["waiting_ns"] = run.waiting.count();
  json["peak"] = {{"launch", named.launches[run.peak.launch]},
                  {"bytes", run.peak.total.count()},
                  {problem.whole_claims ? "ring" : "unified", run.peak.unified.count()},
                  {problem.whole_claims ? "weights" : "texture", run.peak.texture.count()},
                  {"beside_weights", run.peak.activations.count()}};
  json["seconds"] = solution.seconds;
  json["launches"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < problem.launches.size(); ++k) {
    json["launches"].push_back(launch_json(named, solution, k));
  }
  return json.dump(2) + "\n";
}

}  // namespace fm
