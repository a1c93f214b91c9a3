#pragma once
// A whole probe: all points, in turn, again and again until time is up.

#include <functional>
#include <string>
#include <vector>

#include "executor/probe/measurements.hpp"

namespace fm {

struct ProbeOptions {
  std::vector<std::string> only;  ///< curves; empty: all
  double seconds = 150;           ///< after which no measurement begins
  std::string disk_folder = ".";
};

/// In the order of measuring; what `only` takes.
std::vector<std::string> probe_curve_names();

/// Throws UserError for others.
void check_curves(const std::vector<std::string>& only);

/// `progress(done, total)`. Throws DeviceError when nothing could be measured.
ProbeData probe(ProbeDevice& device, const ProbeOptions& options,
                const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace fm
