#include "core/plan_index.hpp"

namespace fm {

template <class Items>
void PlanIndex::index_by_id(PlanItem kind, const Items& items, Positions& positions) const {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].id.empty()) fail(kind, i, "its id is empty");
    if (!positions.emplace(items[i].id, i).second) fail(kind, i, "its id is given twice");
  }
}

PlanIndex::PlanIndex(const Plan& plan, const PlanPlaces& places) : plan_(plan), places_(places) {
  index_by_id(PlanItem::pool, plan_.pools, pools_);
  index_by_id(PlanItem::tensor, plan_.tensors, tensors_);
  index_by_id(PlanItem::launch, plan_.launches, launches_);
  for (const PlanModel& model : plan_.models) {
    if (!models_.insert(model.name).second) {
      fail(PlanItem::plan, 0, "two models are named '" + model.name + "'");
    }
  }
}

void PlanIndex::fail(PlanItem item, std::size_t index, const std::string& message) const {
  static const std::vector<SourceLocation> none;
  const std::vector<SourceLocation>* places = &none;
  std::string name = "plan";
  switch (item) {
    case PlanItem::plan:
      break;
    case PlanItem::pool:
      places = &places_.pools, name = "pool '" + plan_.pools[index].id + "'";
      break;
    case PlanItem::tensor:
      places = &places_.tensors, name = "tensor '" + plan_.tensors[index].id + "'";
      break;
    case PlanItem::weight:
      places = &places_.weights, name = "weight '" + plan_.weights[index].tensor + "'";
      break;
    case PlanItem::gather:
      places = &places_.gathers, name = "gather '" + plan_.gathers[index].tensor + "'";
      break;
    case PlanItem::launch:
      places = &places_.launches, name = "launch '" + plan_.launches[index].id + "'";
      break;
  }
  const SourceLocation where = index < places->size() ? (*places)[index] : SourceLocation{};
  throw UserError(where, name + ": " + message);
}

std::size_t PlanIndex::known_launch(PlanItem item, std::size_t index, const char* key,
                                    const std::string& id) const {
  const auto entry = launches_.find(id);
  if (entry == launches_.end()) {
    fail(item, index, std::string(key) + " names launch '" + id + "', which the plan lacks");
  }
  return entry->second;
}

std::optional<std::size_t> PlanIndex::find(const Positions& positions, const std::string& id) {
  const auto entry = positions.find(id);
  if (entry == positions.end()) return std::nullopt;
  return entry->second;
}

}  // namespace fm
