#pragma once
// How much of a launch's allowed slowdown is left unused, because predictions err.

#include <vector>

#include "planner/profile/slowdown.hpp"

namespace fm {

/// A slowed time (or its ratio to the bare one) that was held out.
struct HeldOutPrediction {
  OperatorClass operator_class = OperatorClass::hierarchical;
  double predicted = 0, real = 0;
};

/// Shares of the predicted slowed time by which the real one may be longer, by class.
struct ClassMargins {
  double elemental = 0, reusable = 0;
  double of(OperatorClass value) const;  ///< 0 for hierarchical, which carries nothing
};

/// By what the slowdown of a launch is known from.
struct CapacityMargins {
  ClassMargins measured;    ///< the launch was profiled
  ClassMargins bare_known;  ///< its bare time was measured, its slowdown is learnt
  ClassMargins learnt;      ///< both are learnt
};

/// The 90th percentile of real over predicted less 1, at least 0: nine of ten launches that are
/// filled up to the margin stay within their threshold. A class without predictions gets that of
/// all; 0 when there are none.
ClassMargins class_margins(const std::vector<HeldOutPrediction>& predictions);

/// The greater of each.
CapacityMargins widest(const CapacityMargins& a, const CapacityMargins& b);

}  // namespace fm
