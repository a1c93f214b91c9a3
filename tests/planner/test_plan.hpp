#pragma once
// Small plans made through the whole planner, and what tests ask of any plan.

#include <set>
#include <string>

#include "core/device_config.hpp"
#include "paths.hpp"
#include "planner/make_plan.hpp"
#include "tests/planner/model_builder.hpp"

namespace fm {

/// A device of the project's configs.
inline DeviceConfig test_config(const std::string& name = "mali-g715") {
  return DeviceConfig::load(FM_MODELS "/../configs/" + name + ".yaml");
}

inline Plan plan_of(const ModelBuilder& builder, const PlanOptions& options = {},
                    const std::string& config = "mali-g715") {
  const TemporaryFolder folder;
  return make_plan(builder.write(folder), test_config(config), options);
}

/// A stack of `layers` matrix products of `width` x `width`, each with bias.
inline ModelBuilder stack_model(int layers, std::int64_t width, std::int64_t rows = 16) {
  ModelBuilder model;
  model.input("x", {rows, width});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    model.random_weight("w" + n, {width, width}).random_weight("b" + n, {width});
    const std::string in = i == 0 ? "x" : "y" + std::to_string(i - 1);
    // Gemm and MatMul alternate: two operation types.
    if (i % 2 == 0) {
      model.node("Gemm", {in, "w" + n, "b" + n}, {"y" + n});
    } else {
      model.node("MatMul", {in, "w" + n}, {"m" + n}).node("Add", {"m" + n, "b" + n}, {"y" + n});
    }
  }
  model.output("y" + std::to_string(layers - 1));
  return model;
}

inline std::size_t position_of(const Plan& plan, const std::string& launch) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    if (plan.launches[i].id == launch) return i;
  }
  throw std::out_of_range(launch);
}

}  // namespace fm
