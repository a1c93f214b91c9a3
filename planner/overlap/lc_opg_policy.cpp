#include "planner/overlap/lc_opg_policy.hpp"

#include <algorithm>
#include <map>

#include "core/diagnostics.hpp"
#include "core/figures_text.hpp"
#include "core/plan_streams.hpp"
#include "core/preload_memory.hpp"
#include "planner/dependencies.hpp"
#include "planner/memory_reuse.hpp"
#include "planner/overlap/plan_transforms.hpp"
#include "planner/streaming.hpp"

namespace fm {
namespace {

/// Streamable weights in images.
std::vector<std::size_t> image_weights(const OverlapModel& model) {
  std::vector<std::size_t> images;
  for (const std::size_t w : model.streamable()) {
    const PlanTensor& tensor = model.plan().tensor(model.plan().weights[w].tensor);
    if (tensor.placement == Placement::image2d) images.push_back(w);
  }
  return images;
}

/// Pieces of a launch are slots of its kernel; those beyond the last slot become copies before it.
class PieceWriter {
 public:
  PieceWriter(std::size_t most_slots, Plan* plan)
      : most_slots_(most_slots), plan_(plan), slots_(plan->launches.size(), 0) {}

  void add(std::size_t weight, const LcOpgPiece& piece) {
    WeightTransform transform{plan_->launches[piece.layer].id, piece.first_chunk,
                              piece.chunk_count};
    if (slots_[piece.layer] == most_slots_) {
      transform.launch = add_copy(weight, piece.layer);
    } else {
      ++slots_[piece.layer];
    }
    plan_->weights[weight].transforms.push_back(transform);
  }

  void finish() {
    std::vector<PlanLaunch> launches;
    for (std::size_t k = 0; k < plan_->launches.size(); ++k) {
      for (PlanLaunch& copy : copies_[k]) launches.push_back(std::move(copy));
      PlanLaunch launch = plan_->launches[k];
      if (slots_[k] > 0) launch.parameters[streams_parameter] = std::to_string(slots_[k]);
      launches.push_back(std::move(launch));
    }
    plan_->launches = std::move(launches);
  }

 private:
  std::string add_copy(std::size_t weight, std::size_t layer) {
    PlanLaunch copy;
    copy.id = "C" + std::to_string(copy_count_++);
    copy.kind = LaunchKind::copy;
    copy.operation = "Copy";
    copy.weight = plan_->weights[weight].tensor;
    copy.model = plan_->tensor(copy.weight).model;
    copies_[layer].push_back(copy);
    return copy.id;
  }

  std::size_t most_slots_;
  Plan* plan_;
  std::vector<std::size_t> slots_;
  std::map<std::size_t, std::vector<PlanLaunch>> copies_;
  std::size_t copy_count_ = 0;
};

/// By one kernel launch or copy, in blocks of the file.
Bytes most_moved_at_once(const Plan& plan) {
  std::map<std::string, Bytes> moved;
  Bytes most;
  for (const WeightSlice& slice : plan.weights) {
    for (const WeightTransform& transform : slice.transforms) {
      Bytes& launch = moved[transform.launch];
      launch += round_up(std::min(plan.chunk_bytes * transform.chunk_count, slice.bytes),
                         slice_alignment);
      most = std::max(most, launch);
    }
  }
  return most;
}

/// Reads start as soon as the ring has room, one launch's bytes ahead of what is being moved: with
/// reads that start at z_w, the layer of the first piece, that layer would wait for the disk.
Plan plan_with(const Plan& original, const std::vector<std::size_t>& images,
               const LcOpgResult& result, bool copies) {
  Plan plan = original;
  PieceWriter writer(copies ? 0 : images_a_streaming_launch, &plan);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const LcOpgWeightPlan& decided = result.weights[i];
    if (decided.preloaded) continue;
    WeightSlice& slice = plan.weights[images[i]];
    slice.residency = Residency::stream;
    slice.release_after = plan.tensor(slice.tensor).last_use;
    for (const LcOpgPiece& piece : decided.pieces) writer.add(images[i], piece);
  }
  writer.finish();
  plan.staging_ring_bytes = 2 * most_moved_at_once(plan);
  return plan;
}

}  // namespace

LcOpgProblem lc_opg_problem(const OverlapModel& model, const LcOpgRequest& terms) {
  const Plan& plan = model.plan();
  LcOpgProblem problem;
  problem.name = plan.models.at(0).name;
  problem.chunk_bytes = plan.chunk_bytes;
  problem.m_peak = terms.m_peak;
  problem.lambda = terms.lambda;
  for (std::size_t k = 0; k < plan.launches.size(); ++k) {
    problem.layers.push_back({plan.launches[k].id, model.capacity(k) / plan.chunk_bytes});
  }
  for (const std::size_t w : image_weights(model)) {
    const WeightSlice& slice = plan.weights[w];
    problem.weights.push_back({slice.tensor, slice.bytes, model.first_use(w), false});
  }
  return problem;
}

void check_budget(const OverlapPlan& planned) {
  const OverlapReport& report = planned.report;
  const Bytes preloading = preloading_bytes(planned.plan);
  const Bytes needed = std::max(report.peak.total(), preloading);
  if (!report.budget || needed <= *report.budget) return;
  throw UserError("--budget " + mebibytes_down(*report.budget) +
                  ": lc-opg, which plans for no budget, needs " + least_budget_text(needed) +
                  ", held by " +
                  (needed == preloading ? preloading_name
                                        : launch_name(planned.plan.launch(report.peak_launch))) +
                  "; use --policy optimal, or a smaller --m-peak");
}

OverlapPlan plan_lc_opg(const OverlapModel& model, const DeviceCosts& costs,
                        const LcOpgRequest& terms, const OverlapRequest& request) {
  LcOpgOptions options;
  options.time_limit = request.seconds;
  const LcOpgResult result = solve_lc_opg(lc_opg_problem(model, terms), options);
  OverlapPlan planned;
  planned.plan = plan_with(model.plan(), image_weights(model), result, terms.copies);
  planned.plan.policy = "lc-opg";
  set_dependencies(&planned.plan);
  set_claims(&planned.plan);
  reuse_memory(request.budget, &planned.plan);
  OverlapReport& report = planned.report;
  describe_floors(model, costs, &report);
  report.program_load = costs.program_load(planned.plan);
  report.seconds = result.seconds;
  report.budget = request.budget;
  report.lc_opg = LcOpgTerms{result.objective,
                             result.lower_bound,
                             result.gap,
                             terms.lambda,
                             model.plan().chunk_bytes,
                             terms.m_peak,
                             result.preloaded_chunks,
                             result.distance,
                             to_string(result.status)};
  describe_plan(planned.plan, &report);
  check_budget(planned);
  return planned;
}

}  // namespace fm
