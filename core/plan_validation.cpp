#include "core/plan_validation.hpp"

#include "core/plan_index.hpp"

namespace fm {
namespace {

void validate_head(const PlanIndex& index) {
  const auto is_real = [](DataType type) { return type == DataType::f16 || type == DataType::f32; };
  if (!is_real(index.plan().storage)) index.fail(PlanItem::plan, 0, "storage must be f16 or f32");
  if (!is_real(index.plan().accumulate))
    index.fail(PlanItem::plan, 0, "accumulate must be f16 or f32");
  if (index.plan().enqueue_ahead < 1)
    index.fail(PlanItem::plan, 0, "enqueue_ahead must be at least 1");
}

}  // namespace

void validate(const Plan& plan, const PlanPlaces& places) {
  const PlanIndex index(plan, places);
  validate_head(index);
  validate_models_of(index);
  const std::vector<TensorUses> uses = validate_launches_of(index);
  validate_tensors_of(index, uses);
  validate_weights_of(index, uses);
  validate_gathers_of(index, uses);
}

void validate(const Plan& plan) { validate(plan, PlanPlaces{}); }

}  // namespace fm
