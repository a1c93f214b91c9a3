#pragma once
// What every part of a plan's validation looks up: items by id, what touches a tensor, and where an
// item was read.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/plan_validation.hpp"

namespace fm {

/// First and last position, in launch order, of the launches that touch a tensor by an argument.
struct TensorUses {
  std::optional<std::size_t> first, last, first_write;
};

enum class PlanItem { plan, pool, tensor, weight, gather, launch };

class PlanIndex {
 public:
  /// Throws UserError for an empty id, or one given twice.
  PlanIndex(const Plan& plan, const PlanPlaces& places);

  const Plan& plan() const { return plan_; }
  /// UserError at the item's place, its message beginning with its kind and id.
  [[noreturn]] void fail(PlanItem item, std::size_t index, const std::string& message) const;
  /// Position of a launch; fails naming `key` of the item when the plan lacks it.
  std::size_t known_launch(PlanItem item, std::size_t index, const char* key,
                           const std::string& id) const;
  std::optional<std::size_t> find_tensor(const std::string& id) const { return find(tensors_, id); }
  std::optional<std::size_t> find_pool(const std::string& id) const { return find(pools_, id); }
  std::size_t launch(const std::string& id) const { return launches_.at(id); }
  bool has_model(const std::string& name) const { return models_.count(name) != 0; }

 private:
  using Positions = std::map<std::string, std::size_t>;
  static std::optional<std::size_t> find(const Positions& positions, const std::string& id);
  template <class Items>
  void index_by_id(PlanItem kind, const Items& items, Positions& positions) const;

  const Plan& plan_;
  const PlanPlaces& places_;
  Positions pools_, tensors_, launches_;
  std::set<std::string> models_;
};

/// Each launch and tensor of a plan of several models belongs to one of them, and launches touch
/// only tensors of their own, weights apart.
void validate_models_of(const PlanIndex& index);
/// Form of launches, their arguments and dependencies; returns what touches each tensor.
std::vector<TensorUses> validate_launches_of(const PlanIndex& index);
/// Form and place of tensors and pools; pools not shared by tensors alive at once.
void validate_tensors_of(const PlanIndex& index, const std::vector<TensorUses>& uses);
/// Slices in the file, and when streamed weights come, are transformed and go.
void validate_weights_of(const PlanIndex& index, const std::vector<TensorUses>& uses);
/// Gathered rows: their tables and indices, and that each gathered tensor has one gather.
void validate_gathers_of(const PlanIndex& index, const std::vector<TensorUses>& uses);

}  // namespace fm
