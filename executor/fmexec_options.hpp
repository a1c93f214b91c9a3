#pragma once
// The command line of fmexec.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace fm {

struct FmexecOptions {
  std::string plan;
  std::string weights;  ///< "" = launches are recorded, not run
  std::string record;   ///< trace to write; "" = none
  std::string device;   ///< index or part of a name; "" = the preferred one
  // Each FILE, or MODEL=FILE of a queue of models.
  std::vector<std::string> inputs;   ///< .npz; none = of `verify`, else random
  std::vector<std::string> verify;   ///< .npz; none = no comparison
  std::vector<std::string> outputs;  ///< .npz to write
  std::vector<std::string>
      verify_ops;                 ///< .npz with every tensor; none = launches are not compared
  std::string destination = "-";  ///< of the report
  std::optional<double> tolerance;
  std::optional<double> disk_bytes_per_second;
  bool half_bars = false;
  bool json = false;
  bool profile = false;
  bool check_finite = false;
  bool check_bounds = false;
  bool own_launch_cap = false;            ///< instead of the device's default
  std::optional<Nanoseconds> launch_cap;  ///< none: launches are never split
  std::size_t repeat = 1, warmup = 0;
  std::uint64_t seed = 1;
  bool list_devices = false;
};

/// Throws UserError for a wrong option, a missing one or contradicting ones. Empty when --help or
/// --version was asked for and printed.
std::optional<FmexecOptions> parse_fmexec_options(int argc, const char* const* argv);

}  // namespace fm
