#include "core/device_config_rules.hpp"

#include <cmath>

namespace fm {

std::string ConfigRules::named(const std::string& path) const {
  return path + " (" + config_.values().at(path).text + ")";
}

std::string ConfigRules::placed(const std::string& path) const {
  const ConfigValue& value = config_.values().at(path);
  std::string place = value.origin;
  // A value of the command line has no line of a file.
  if (place != "command line" && value.where.line > 0)
    place += ":" + std::to_string(value.where.line);
  return path + " (" + value.text + ", " + place + ")";
}

void ConfigRules::require(bool holds, const std::string& path,
                          const std::vector<std::string>& others, const std::string& reason,
                          const std::string& remedy) const {
  if (holds) return;
  std::string names;
  for (std::size_t i = 0; i < others.size(); ++i) {
    names += (i == 0 ? "" : i + 1 == others.size() ? " and " : ", ") + placed(others[i]);
  }
  throw UserError(config_.values().at(path).where,
                  named(path) + " contradicts " + names + ": " + reason + "; " + remedy);
}

void ConfigRules::require(bool holds, const std::string& path, const std::string& reason) const {
  if (!holds) throw UserError(config_.values().at(path).where, named(path) + " " + reason);
}

void ConfigRules::power_of_two(const std::string& path) const {
  const double exponent = std::log2(number(path));
  require(exponent == std::floor(exponent), path, "must be a power of two");
}

void ConfigRules::at_most(const std::string& small, const std::string& large,
                          const std::string& reason) const {
  require(number(small) <= number(large), small, {large}, reason,
          "lower " + small + " to " + config_.values().at(large).text + " or raise " + large);
}

void ConfigRules::multiple(const std::string& large, const std::string& small,
                           const std::string& reason) const {
  require(std::fmod(number(large), number(small)) == 0, large, {small}, reason,
          "make " + large + " a multiple of " + config_.values().at(small).text);
}

void ConfigRules::whole_sets(const std::string& size, const std::string& ways,
                             const std::string& line, const std::vector<std::string>& parts) const {
  at_most(line, size, "a line is larger than its cache");
  double set = number(ways) * number(line);
  std::vector<std::string> others{ways, line};
  for (const std::string& part : parts) {
    set *= number(part);
    others.push_back(part);
  }
  require(std::fmod(number(size), set) == 0, size, others, "it is not a whole number of sets",
          "make " + size + " a multiple of " + std::to_string(static_cast<long long>(set)) + " B");
}

}  // namespace fm
