#pragma once
// Two probes of one device side by side.

#include <string>

#include "executor/probe/probe_data.hpp"

namespace fm {

struct ProbeComparison {
  std::string text;                   ///< a curve a line: how far its points are apart
  std::size_t points = 0, apart = 0;  ///< in both; farther apart than the limit
};

/// `limit`: relative, of a point's two values over the smaller one.
ProbeComparison compare(const ProbeData& first, const ProbeData& second, double limit);

}  // namespace fm
