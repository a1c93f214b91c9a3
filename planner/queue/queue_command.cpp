#include "planner/queue/queue_command.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/atomic_file.hpp"
#include "core/progress_bar.hpp"
#include "planner/overlap_command.hpp"
#include "planner/plan_flags.hpp"
#include "planner/queue/equal_weights.hpp"
#include "planner/queue/queue_report.hpp"
#include "planner/summary.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmplan queue A.onnx B.onnx .. --config NAME|FILE -o QUEUE.plan.yaml [options]\n\n"
    "Plans models that run one after the other, in one plan with one weights file: the next one's\n"
    "first weights are read while the one before still runs, and weights of equal contents are\n"
    "stored once. A model may be given several times; it is named like its file, then NAME.2, "
    "..\n\n"
    "example: fmplan queue det.onnx cls.onnx --config mali-g715 --budget 24MiB --order srpt \\\n"
    "             --shape det:x=1,3,192,320 --shape cls:x=1,3,48,192 -o ocr.plan.yaml\n\n";

po::options_description queue_flags() {
  po::options_description flags("options of fmplan queue");
  flags.add_options()("model", po::value<std::vector<std::string>>()->composing(),
                      "an ONNX file, opset 1 to 17; also without the flag")(
      "order", po::value<std::string>()->default_value("fifo"),
      "fifo: as given | srpt: shortest remaining processing time first");
  add_plan_flags("optimal", &flags);
  return flags;
}

QueueRequest queue_request(const po::variables_map& values, const PlanOptions& options) {
  QueueRequest request;
  request.policy = values["policy"].as<std::string>();
  request.streaming = options.policy;
  request.ring = options.ring;
  if (has_overlap_options(request.policy)) {
    if (options.ring) throw UserError("--ring: this policy sizes the staging ring itself");
    if (const auto lc_opg = lc_opg_request(values)) request.lc_opg = *lc_opg;
  } else {
    refuse_overlap_options(values, request.policy, true);
  }
  request.overlap = overlap_request(values);
  if (request.overlap.pareto > 0) throw UserError("--pareto: a queue has one plan");
  return request;
}

/// Both orders, since their completion times are compared.
PlannedQueue planned_queue(const std::vector<QueueEntry>& entries, const DeviceConfig& config,
                           const PlanOptions& options, const ProfileFiles& profile,
                           QueueOrder order, const QueueRequest& request) {
  const QueueDraft draft =
      draft_queue(entries, config, options, profile, request.policy == "optimal");
  const DeviceCosts costs(config, draft.profiles.copy_nanoseconds_per_byte);
  const std::vector<std::vector<std::string>> groups = equal_weights(draft);
  ProgressBar bar("planning two orders");
  bar.show(0, 2);
  PlannedQueue queue;
  queue.order = order;
  queue.alone = processing_times(draft, costs, request.overlap.budget);
  queue.plan = plan_queue(draft, groups, queue_order(order, queue.alone), costs, request);
  const QueueOrder other = order == QueueOrder::fifo ? QueueOrder::srpt : QueueOrder::fifo;
  queue.other_order = queue_order(other, queue.alone);
  bar.show(1, 2);
  queue.other_completions = queue.plan.completions;
  if (queue.other_order != queue.plan.order) {
    try {
      queue.other_completions =
          plan_queue(draft, groups, queue.other_order, costs, request).completions;
    } catch (const UserError& error) {
      queue.other_completions.clear();
      queue.other_refusal = error.what();
    }
  }
  if (queue.plan.overlap) {
    queue.plan.overlap->estimated = draft.profiles.estimated;
    queue.plan.overlap->profile = draft.profiles.source;
  }
  return queue;
}

std::string summary_text(const PlannedQueue& queue) {
  return plan_summary(queue.plan.plan) +
         (queue.plan.overlap ? report_text(*queue.plan.overlap) : std::string()) +
         queue_report_text(queue);
}

std::string summary_json(const PlannedQueue& queue) {
  auto json = nlohmann::ordered_json::parse(plan_summary_json(queue.plan.plan));
  if (queue.plan.overlap) {
    json["overlap"] = nlohmann::ordered_json::parse(report_json(*queue.plan.overlap));
  }
  json["queue"] = nlohmann::ordered_json::parse(queue_report_json(queue));
  return json.dump(2) + "\n";
}

}  // namespace

ExitStatus run_queue(const std::vector<std::string>& words) {
  const po::options_description flags = queue_flags();
  const po::variables_map values = parsed(words, flags, "model");
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const std::vector<QueueEntry> entries =
      queue_entries(texts_of(values, "model"), texts_of(values, "shape"), texts_of(values, "dim"),
                    texts_of(values, "value"));
  const QueueOrder order = queue_order_from(values["order"].as<std::string>());
  const std::string output = required(values, "output");
  const DeviceConfig config = DeviceConfig::load(required(values, "config"));
  const PlanOptions options = plan_options(values);
  if (options.fusion != FusionMode::fixed) {
    throw UserError("--fusion " + values["fusion"].as<std::string>() +
                    ": a queue's models are planned with all fused; leave it out");
  }
  const PlannedQueue queue = planned_queue(entries, config, options, profile_files(values), order,
                                           queue_request(values, options));
  AtomicFile file(output);
  file.stream() << to_yaml(queue.plan.plan);
  file.commit();
  (output == "-" ? std::cerr : std::cout)
      << (values.count("json") != 0 ? summary_json(queue) : summary_text(queue));
  return ExitStatus::done;
}

}  // namespace fm
