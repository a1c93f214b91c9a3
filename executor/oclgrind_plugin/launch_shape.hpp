#pragma once

#include <array>
#include <cstdint>

namespace fm {

/// The work-items of a launch. Where the sizes are not multiples of the groups', the last groups
/// are smaller.
struct LaunchShape {
  std::array<std::uint32_t, 3> global{1, 1, 1}, local{1, 1, 1}, groups{1, 1, 1};
};

}  // namespace fm
