#pragma once
// How a rule between parameters is stated and what is said when it does not hold. Only
// core/device_config_check*.cpp include this.

#include <string>
#include <vector>

#include "core/device_config.hpp"

namespace fm {

/// Every failure throws UserError at the first key, naming the others with their values and places,
/// why they cannot go together, and what would.
class ConfigRules {
 public:
  explicit ConfigRules(const DeviceConfig& config) : config_(config) {}

  double number(const std::string& path) const { return config_.values().at(path).number; }
  const std::string& word(const std::string& path) const { return config_.word(path); }
  const std::vector<CurvePoint>& curve(const std::string& path) const {
    return config_.curve(path);
  }

  /// `path` contradicts `others` unless `holds`.
  void require(bool holds, const std::string& path, const std::vector<std::string>& others,
               const std::string& reason, const std::string& remedy) const;
  /// A message about one key.
  void require(bool holds, const std::string& path, const std::string& reason) const;

  void power_of_two(const std::string& path) const;
  /// `small` is at most `large`: `reason` says what it would mean otherwise.
  void at_most(const std::string& small, const std::string& large, const std::string& reason) const;
  /// `large` is a whole number of `small`.
  void multiple(const std::string& large, const std::string& small,
                const std::string& reason) const;
  /// `size` is a whole number of sets: ways x line x each of `parts`.
  void whole_sets(const std::string& size, const std::string& ways, const std::string& line,
                  const std::vector<std::string>& parts) const;

 private:
  std::string named(const std::string& path) const;   ///< "l2.line (256 B)"
  std::string placed(const std::string& path) const;  ///< "l2.size (128 B, base/mali.yaml:12)"
  const DeviceConfig& config_;
};

/// The groups of rules, each in a file with its subject.
void check_core_rules(const ConfigRules& rules);
void check_memory_rules(const ConfigRules& rules);
void check_dram_rules(const ConfigRules& rules);

}  // namespace fm
