#pragma once
// Which variables of an access program have one value for a whole wave.

#include <cstdint>
#include <vector>

#include "core/trace.pb.h"

namespace fm {

struct LaneVariables {
  std::vector<bool> loops;        ///< by loop id: the counter differs between lanes
  std::vector<bool> derivations;  ///< by index: the value differs between lanes
  /// Whether `expression` may differ between lanes of a wave.
  bool in(const trace::Expression& expression) const;
};

/// `program` must validate(): what a block defines is only visible behind it, so the lanes that use
/// a value are among those that computed it, and operands that do not differ give a value that does
/// not differ.
LaneVariables find_lane_variables(const trace::AccessProgram& program);

}  // namespace fm
