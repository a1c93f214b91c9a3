#include "planner/plan_draft.hpp"

#include <filesystem>

#include "core/diagnostics.hpp"
#include "core/version.hpp"
#include "planner/activation_memory.hpp"
#include "planner/dependencies.hpp"
#include "planner/launch_order.hpp"
#include "planner/lowering.hpp"
#include "planner/tiles.hpp"

namespace fm {

FusionMode fusion_mode_from(const std::string& word) {
  if (word == "fixed") return FusionMode::fixed;
  if (word == "adaptive") return FusionMode::adaptive;
  if (word == "none") return FusionMode::none;
  throw UserError("--fusion `" + word +
                  "`: " + accepted_words(word, {"fixed", "adaptive", "none"}));
}

namespace {

/// A core that runs one work-group at a time has nothing to do while one of few queries waits for
/// its keys; nor has a CPU's, whatever overlap its work-groups stand for.
AttentionFusion attention_fusion(const DeviceConfig& config, const PlanOptions& options) {
  if (!options.fused_attention) return AttentionFusion::none;
  const bool hides_waiting =
      config.count("gpu.workgroups_per_core") > 1 && config.word("gpu.inactive_lanes") == "issued";
  return hides_waiting ? AttentionFusion::any : AttentionFusion::many_queries;
}

}  // namespace

PlanDraft draft_plan(const ImportedModel& imported, const DeviceConfig& config,
                     const PlanOptions& options, const UnfusedNodes& unfused) {
  ImportedModel model = imported;
  run_passes(&model.graph, &model.constants, unfused, attention_fusion(config, options));
  PlanDraft draft;
  draft.splits = epilogue_splits(model.graph);
  const PlacementRule rule = PlacementRule::for_device(options.placement, config);
  split_large_weights(&model.graph, rule, options.storage, options.slices);
  LoweredNetwork network = lower(model.graph, {options.storage, rule, options.eliminate});

  Plan& plan = draft.plan;
  plan.generator = std::string("fmplan ") + version;
  const std::filesystem::path path(model.path);
  plan.models = {{path.stem().string(), path.filename().string(), model.digest, model.graph.opset,
                  model.values}};
  plan.config = config.name();
  plan.storage = options.storage;
  plan.accumulate = options.accumulate;
  plan.chunk_bytes = default_chunk_bytes;
  plan.unfused.assign(unfused.begin(), unfused.end());
  plan.tensors = std::move(network.tensors);
  plan.launches = std::move(network.launches);
  plan.gathers = std::move(network.gathers);
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    plan.launches[i].id = "L" + std::to_string(i);
  }
  choose_tiles(config, options.tiles, &plan);
  if (options.queued) put_into_queue(*options.queued, &plan);
  return draft;
}

UnfusedNodes all_apart(const ImportedModel& imported) {
  UnfusedNodes apart;
  for (std::size_t before = 1; apart.size() != before;) {
    before = apart.size();
    ImportedModel model = imported;
    run_passes(&model.graph, &model.constants, apart);
    for (const EpilogueSplit& split : epilogue_splits(model.graph)) apart.insert(split.unfused);
  }
  return apart;
}

void place_tensors(Plan* plan) {
  set_uses(plan);
  for (WeightGather& gather : plan->gathers) {
    gather.release_after = plan->tensor(gather.tensor).last_use;
  }
  list_weights(plan);
  assign_pools(plan);
}

void reorder_where_smaller(Plan* plan) {
  Plan reordered = *plan;
  const bool changed = reorder_launches(&reordered);
  place_tensors(plan);
  if (!changed) return;
  place_tensors(&reordered);
  if (pool_bytes(reordered) < pool_bytes(*plan)) *plan = std::move(reordered);
}

}  // namespace fm
