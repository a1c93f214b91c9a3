#pragma once
// `fmplan pack`: the weights of a plan as a .fmw file.

#include <cstddef>
#include <functional>
#include <string>

#include "core/plan.hpp"

namespace fm {

/// Writes the plan's weights in their types and layouts, one slice at a time. Folded weights are
/// computed by the same passes that made the plan. Throws UserError when `model_path` is not the
/// plan's model (digest), when the plan's index digest does not match its weights, or when the
/// model is a weightless skeleton.
/// `on_slice` is told slices written and slices in all.
void pack_weights(const Plan& plan, const std::string& model_path, const std::string& output,
                  const std::function<void(std::size_t, std::size_t)>& on_slice = {});

}  // namespace fm
