#pragma once
// Which file has the arrays of which model of a plan.

#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// Files by model name.
using ModelFiles = std::map<std::string, std::string>;

/// Of an option's values: "FILE" for a plan of one model, "MODEL=FILE" for any. Throws UserError
/// when a plan of several models is given a FILE alone, or a model two.
ModelFiles model_files(const Plan& plan, const std::string& option,
                       const std::vector<std::string>& values);

/// The model that a tensor belongs to. The plan must have models.
const std::string& model_of(const Plan& plan, const PlanTensor& tensor);

}  // namespace fm
