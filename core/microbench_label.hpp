#pragma once
// What a command of a microbenchmark's trace measures, as its launch id says it:
// "footprint=1024 stride=16 part=full work=1536 unit=ns/hop".

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fm {

/// How commands of equal axes make one point.
enum class MicrobenchPart {
  warm,    ///< comes first and does not count
  brief,   ///< brief and full differ only in how much they do: a unit costs the difference of their
  full,    ///< times over that of their work; what both pay once (launch, last waves) cancels
  alone,   ///< one command is a point
  series,  ///< several, one behind another: from the first one's end to the last one's
};

struct MicrobenchLabel {
  std::vector<std::pair<std::string, std::int64_t>> axes;  ///< where on the curve, in order
  MicrobenchPart part = MicrobenchPart::alone;
  std::uint64_t work = 0;  ///< units of work this command does
  /// "ns/<work>" (time a unit), "<work>/ns" or "<work>/clk" (units a nanosecond or GPU cycle).
  std::string unit;
  std::uint64_t number = 0;  ///< in a series, from 1
};

std::string to_string(const MicrobenchLabel& label);
/// Throws UserError naming the text and what is missing.
MicrobenchLabel microbench_label_from(const std::string& text);

}  // namespace fm
