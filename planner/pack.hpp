#pragma once
// `fmplan pack`: the weights of a plan as a .fmw file.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// Writes the plan's weights in their types and layouts, one slice at a time. Folded weights are
/// computed by the same passes that made the plan. `model_paths`: the plan's models, in any order.
/// Throws UserError when one is missing or not of the plan (digest), when the plan's index digest
/// does not match its weights, or when the model is a weightless skeleton. `on_slice` is told
/// slices written and slices in all.
void pack_weights(const Plan& plan, const std::vector<std::string>& model_paths,
                  const std::string& output,
                  const std::function<void(std::size_t, std::size_t)>& on_slice = {});

}  // namespace fm
