#include "sim/stats/counter_registry.hpp"

#include <set>
#include <stdexcept>

namespace fm {
namespace {

std::uint64_t sum(const CounterEntry& entry) {
  std::uint64_t total = 0;
  for (const std::uint64_t* cell : entry.cells) total += *cell;
  return total - entry.before;
}

}  // namespace

void CounterRegistry::add(const std::string& name, const std::string& unit,
                          const std::string& description, const std::uint64_t* cell) {
  CounterEntry& entry = entries_[name];
  if (entry.cells.empty()) {
    entry.name = name;
    entry.unit = unit;
    entry.description = description;
  } else if (entry.unit != unit || entry.description != description) {
    throw std::logic_error("counter " + name + " is registered with two meanings");
  }
  entry.cells.push_back(cell);
}

void CounterRegistry::count_from_here() {
  for (auto& [name, entry] : entries_) entry.before += sum(entry);
}

std::uint64_t CounterRegistry::value(const std::string& name) const {
  return sum(entries_.at(name));
}

std::vector<std::uint64_t> CounterRegistry::snapshot() const {
  std::vector<std::uint64_t> values;
  values.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) values.push_back(sum(entry));
  return values;
}

std::uint64_t CounterRegistry::work_done() const {
  static const std::set<std::string> units{"accesses", "bytes", "bursts",   "copies", "groups",
                                           "launches", "lines", "requests", "steps",  "waves"};
  std::uint64_t work = 0;
  for (const auto& [name, entry] : entries_) {
    if (units.count(entry.unit) != 0) work += sum(entry);
  }
  return work;
}

std::map<std::string, ResultCounter> CounterRegistry::results() const {
  std::map<std::string, ResultCounter> results;
  for (const auto& [name, entry] : entries_) {
    results[name] = {static_cast<double>(sum(entry)), entry.unit, entry.description};
  }
  return results;
}

}  // namespace fm
