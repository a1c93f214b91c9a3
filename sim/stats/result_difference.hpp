#pragma once
// What differs between two results of one trace, largest effects first.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fm {

/// A number of a result in both runs.
struct Difference {
  std::string name;  ///< "latency.exec", "memory.peak", "l2.read_misses"; of a launch its id
  std::string unit;  ///< "ns", "bytes", "nJ" or the counter's
  double against = 0, now = 0;
  std::string note;        ///< of a launch: what it is, and its bound in both
  bool sign_known = true;  ///< false: it changed sign while assumed numbers moved

  double change() const { return now - against; }
  /// Share of the larger of the two, 0 to 1: how large an effect is, whichever run is first.
  double effect() const;
};

struct ResultDifference {
  std::vector<Difference> headline;  ///< latency, memory, energy
  std::vector<Difference> launches;  ///< time, by absolute change
  std::vector<Difference> counters;  ///< by effect
  /// Launches of one run that the other does not have.
  std::size_t unmatched_launches = 0;
};

/// Of two parsed results (result.schema.json). Each list is sorted, its largest effect first.
/// What is equal in both is left out of launches and counters.
ResultDifference difference_of(const nlohmann::json& against, const nlohmann::json& now);

/// Marks the headline differences whose sign is another one in any of `others`: the same question
/// with assumed numbers moved.
void mark_unknown_signs(ResultDifference* difference, const std::vector<ResultDifference>& others);

/// A table of 80 columns; `longest` rows at most of launches and of counters.
std::string difference_text(const ResultDifference& difference, std::size_t longest);
nlohmann::json difference_json(const ResultDifference& difference);

}  // namespace fm
