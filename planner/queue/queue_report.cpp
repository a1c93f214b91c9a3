#include "planner/queue/queue_report.hpp"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/figures_text.hpp"

namespace fm {
namespace {

Nanoseconds sum(const std::vector<Nanoseconds>& times) {
  Nanoseconds all;
  for (const Nanoseconds time : times) all += time;
  return all;
}

QueueOrder other(QueueOrder order) {
  return order == QueueOrder::fifo ? QueueOrder::srpt : QueueOrder::fifo;
}

std::string names(const PlannedQueue& queue, const std::vector<std::size_t>& order) {
  std::string text;
  for (const std::size_t m : order) {
    text += (text.empty() ? "" : ", ") + queue.plan.plan.models[m].name;
  }
  return text;
}

std::string completion_line(const PlannedQueue& queue, QueueOrder order,
                            const std::vector<std::size_t>& models,
                            const std::vector<Nanoseconds>& completions) {
  std::ostringstream out;
  out << "    " << to_string(order) << ": " << names(queue, models) << "; ";
  if (completions.empty()) {
    out << "no plan: " << queue.other_refusal << '\n';
    return out.str();
  }
  const auto all = static_cast<double>(sum(completions).count());
  out << "sum of completion times " << milliseconds(all) << ", mean "
      << milliseconds(all / static_cast<double>(completions.size())) << '\n';
  return out.str();
}

/// Bytes of each model's own weights, and its launches.
struct ModelFacts {
  Bytes weights;
  std::size_t launches = 0;
};

std::vector<ModelFacts> facts_of(const Plan& plan) {
  std::vector<ModelFacts> facts(plan.models.size());
  for (std::size_t m = 0; m < plan.models.size(); ++m) {
    const std::string& name = plan.models[m].name;
    for (const PlanLaunch& launch : plan.launches) {
      facts[m].launches += launch.kind == LaunchKind::kernel && launch.model == name;
    }
    for (const WeightSlice& slice : plan.weights) {
      if (plan.tensor(slice.tensor).model == name) facts[m].weights += slice.bytes;
    }
  }
  return facts;
}

nlohmann::ordered_json order_json(const PlannedQueue& queue, const std::vector<std::size_t>& order,
                                  const std::vector<Nanoseconds>& completions) {
  nlohmann::ordered_json json;
  json["models"] = nlohmann::ordered_json::array();
  for (const std::size_t m : order) json["models"].push_back(queue.plan.plan.models[m].name);
  if (completions.empty()) {
    json["refused"] = queue.other_refusal;
    return json;
  }
  json["sum_ns"] = sum(completions).count();
  json["mean_ns"] =
      static_cast<double>(sum(completions).count()) / static_cast<double>(completions.size());
  return json;
}

}  // namespace

std::string queue_report_text(const PlannedQueue& queue) {
  const QueuePlan& plan = queue.plan;
  const std::vector<ModelFacts> facts = facts_of(plan.plan);
  std::ostringstream out;
  out << "  models       in the order of running; from when programs are loaded\n";
  for (const std::size_t m : plan.order) {
    out << "    " << std::left << std::setw(24) << plan.plan.models[m].name << std::right
        << std::setw(5) << facts[m].launches << " kernels, weights " << std::setw(11)
        << mebibytes_up(facts[m].weights) << ", alone " << std::setw(13)
        << milliseconds(queue.alone[m]) << ", ends at " << std::setw(13)
        << milliseconds(plan.completions[m]) << '\n';
  }
  out << "  order        completions "
      << (plan.predicted ? "as predicted for the plans\n"
                         : "at best: weights read as early as the budget allows, copies for free\n")
      << completion_line(queue, queue.order, plan.order, plan.completions)
      << completion_line(queue, other(queue.order), queue.other_order, queue.other_completions);
  out << "  shared       weights of equal contents are stored once; " << mebibytes_up(plan.held)
      << " held from one use to the next, " << mebibytes_up(plan.read_again) << " read again\n";
  return out.str();
}

std::string queue_report_json(const PlannedQueue& queue) {
  const QueuePlan& plan = queue.plan;
  const std::vector<ModelFacts> facts = facts_of(plan.plan);
  nlohmann::ordered_json json;
  json["order"] = to_string(queue.order);
  json["completions"] = plan.predicted ? "predicted" : "at best";
  json["models"] = nlohmann::ordered_json::array();
  for (const std::size_t m : plan.order) {
    json["models"].push_back({{"name", plan.plan.models[m].name},
                              {"kernels", facts[m].launches},
                              {"weight_bytes", facts[m].weights.count()},
                              {"alone_ns", queue.alone[m].count()},
                              {"completion_ns", plan.completions[m].count()}});
  }
  json["orders"][to_string(queue.order)] = order_json(queue, plan.order, plan.completions);
  json["orders"][to_string(other(queue.order))] =
      order_json(queue, queue.other_order, queue.other_completions);
  json["shared"] = {{"held_bytes", plan.held.count()},
                    {"read_again_bytes", plan.read_again.count()}};
  return json.dump(2) + "\n";
}

}  // namespace fm
