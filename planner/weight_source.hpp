#pragma once
// The contents of a plan's weights, from the model they belong to.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "planner/onnx_import.hpp"

namespace fm {

class WeightSource {
 public:
  /// `model`: imported and fused; must outlive it.
  explicit WeightSource(const ImportedModel& model);

  /// A weight's values, row-major, by its name. Throws UserError when the model has no such
  /// constant, or no contents for it.
  HostTensor load(const PlanTensor& wanted) const;
  /// Its bytes in the plan's type and layout. Throws UserError, also when the shapes differ.
  std::vector<std::uint8_t> packed(const PlanTensor& wanted) const;

 private:
  const ImportedModel& model_;
  std::map<std::string, const GraphTensor*> by_name_;
};

}  // namespace fm
