#pragma once
// The microbenchmarks: which kernels run with which arguments, in which order. fmexec records them,
// fmsim replays the recordings, a probe runs them on a device.

#include <string>
#include <variant>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// A host read of `bytes` into a buffer, `request` at a time.
struct MicrobenchRead {
  std::string label;
  std::string tensor;
  Bytes bytes, request;
};
/// A whole buffer into an image of as many bytes.
struct MicrobenchCopy {
  std::string label;
  std::string buffer, image;
};
/// A launch of `Microbench::plan`, by position.
struct MicrobenchLaunch {
  std::size_t launch = 0;
  bool waits = true;  ///< the host waits for it before the next step
};
using MicrobenchStep = std::variant<MicrobenchLaunch, MicrobenchRead, MicrobenchCopy>;

struct Microbench {
  std::string name;
  std::string description;
  /// Tensors and launches, ids of launches as core/microbench_label.hpp says; nothing else is set.
  Plan plan;
  std::vector<MicrobenchStep> steps;  ///< in order
};

/// In the order of their documentation (docs/microbenchmarks.md). Made anew by every call.
std::vector<Microbench> microbench_suite();
/// The same, and what is only measured on devices: no recording holds it.
std::vector<Microbench> probe_suite();

}  // namespace fm
