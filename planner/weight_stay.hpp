#pragma once
// From when to when a weight that is released occupies memory, by launch positions.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

std::map<std::string, std::size_t> launch_positions(const Plan& plan);

/// A part of an image weight in the ring: from when it may be read, up to the launch that moves it.
struct StagedPart {
  std::size_t moved = 0;  ///< by a copy, or the kernel that streams it
  Bytes bytes;
};

struct WeightStay {
  std::size_t read = 0;     ///< first launch during which its bytes may arrive
  std::size_t release = 0;  ///< its last user
  std::size_t image = 0;    ///< image: the first launch that moves a part of it
  std::vector<StagedPart> parts;
};

/// Of a weight that is released; `positions`: launch_positions().
WeightStay stay_of(const Plan& plan, const WeightSlice& slice,
                   const std::map<std::string, std::size_t>& positions);

}  // namespace fm
