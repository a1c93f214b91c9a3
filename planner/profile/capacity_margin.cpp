#include "planner/profile/capacity_margin.hpp"

#include <algorithm>

namespace fm {
namespace {

/// `one`: of that class alone.
double ninth_decile(const std::vector<HeldOutPrediction>& predictions, const OperatorClass* one) {
  std::vector<double> shortfalls;
  for (const HeldOutPrediction& prediction : predictions) {
    if (one != nullptr && prediction.operator_class != *one) continue;
    shortfalls.push_back(std::max(0.0, prediction.real / prediction.predicted - 1));
  }
  if (shortfalls.empty()) return one == nullptr ? 0 : ninth_decile(predictions, nullptr);
  const auto place = shortfalls.begin() + static_cast<std::ptrdiff_t>(shortfalls.size() * 9 / 10);
  std::nth_element(shortfalls.begin(), place, shortfalls.end());
  // As files keep it, so that plans do not depend on whether it was read back.
  return static_cast<double>(static_cast<float>(*place));
}

ClassMargins wider(const ClassMargins& a, const ClassMargins& b) {
  return {std::max(a.elemental, b.elemental), std::max(a.reusable, b.reusable)};
}

}  // namespace

double ClassMargins::of(OperatorClass value) const {
  return value == OperatorClass::elemental  ? elemental
         : value == OperatorClass::reusable ? reusable
                                            : 0.0;
}

ClassMargins class_margins(const std::vector<HeldOutPrediction>& predictions) {
  const OperatorClass elemental = OperatorClass::elemental, reusable = OperatorClass::reusable;
  return {ninth_decile(predictions, &elemental), ninth_decile(predictions, &reusable)};
}

CapacityMargins widest(const CapacityMargins& a, const CapacityMargins& b) {
  return {wider(a.measured, b.measured), wider(a.bare_known, b.bare_known),
          wider(a.learnt, b.learnt)};
}

}  // namespace fm
