#pragma once
// LC-OPG, the overlap problem of FlashMem (arXiv 2602.15379, sections 3.1
// and 3.2): which weights are preloaded, and in which layers the chunks of the
// others go from unified to texture memory.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/yaml_value.hpp"

namespace fm {

/// One layer, in execution order.
struct LcOpgLayer {
  std::string name;
  /// C_l: chunks it can transform beside its own work.
  std::uint64_t capacity = 0;
};

struct LcOpgWeight {
  std::string name;
  Bytes bytes;
  /// Index of the first layer that reads it: the paper's i_w, less 1.
  std::size_t layer = 0;
  /// The user wants it in W.
  bool preload = false;
};

struct LcOpgProblem {
  std::string name;
  /// S. T(w) = ceil(bytes / S).
  Bytes chunk_bytes;
  /// C2 as printed: the most a single layer may transform.
  Bytes m_peak;
  /// Weight of a preloaded chunk against a layer of loading distance: 0 to 1,
  /// four decimals.
  double lambda = 0.9;
  /// The most W may hold. The paper has none in its model but caps W + M_peak
  /// in section 5.3.
  std::optional<Bytes> preload_limit;
  std::vector<LcOpgLayer> layers;
  std::vector<LcOpgWeight> weights;
};

/// Reads a problem file (docs/lc-opg.md). Throws UserError with the place of
/// whatever is wrong.
LcOpgProblem lc_opg_problem_of(const YamlValue& document);
LcOpgProblem parse_lc_opg_problem(const std::string& yaml, const std::string& file_name);

/// Adds the named weights to those that must be in W. Throws UserError for a
/// name that is not there.
void force_preload(const std::vector<std::string>& names, LcOpgProblem* problem);

}  // namespace fm
