#pragma once
// Guards whose outcome the launch's geometry decides.

#include "core/trace.pb.h"

namespace fm {

/// Puts the side that is always taken in place of its guard. Kernels written without the access
/// macros have many such guards: an unsigned comparison asks whether an id is negative.
void fold_guards(trace::AccessProgram* program);

}  // namespace fm
