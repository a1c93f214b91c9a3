#pragma once
// What the parts of a summary are made of: titled lines in columns, for a terminal of 80 columns.

#include <algorithm>
#include <array>
#include <iomanip>
#include <sstream>
#include <string>

#include "core/result.hpp"
#include "sim/stats/quantity_text.hpp"

namespace fm::summary {

constexpr std::size_t terminal_columns = 80;

inline double nanoseconds(Nanoseconds time) { return static_cast<double>(time.count()); }

inline std::string percent(double share) { return three_digits(100 * share) + " %"; }

inline std::string joules(double nanojoules) { return text_with_prefix(nanojoules * 1e-9, "J"); }

/// GMAC/s, or "-" without arithmetic.
inline std::string mac_rate(std::uint64_t macs, Nanoseconds time) {
  if (macs == 0 || time.count() == 0) return "-";
  return three_digits(static_cast<double>(macs) / nanoseconds(time));
}

/// What begins with what tells it apart.
inline std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 2) + "..";
}

/// What ends with what tells it apart: files, and models of a queue ("NAME.2").
inline std::string last_part(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : ".." + text.substr(text.size() - (most - 2));
}

/// 0 where the run has no such counter.
inline double counter(const Result& result, const std::string& name) {
  const auto found = result.counters.find(name);
  return found == result.counters.end() ? 0 : found->second.value;
}

/// A level that answers reads: how its counters and config paths begin, and its name.
struct CacheLevelName {
  const char *prefix, *name;
};
constexpr std::array<CacheLevelName, 5> cache_levels{{{"load_store", "load/store L1"},
                                                      {"texture", "texture cache"},
                                                      {"cluster", "cluster cache"},
                                                      {"l2", "L2"},
                                                      {"slc", "system-level cache"}}};

/// Lines of "  name     value  note", the names and values in columns.
class Section {
 public:
  Section(std::ostringstream* out, const std::string& title) : out_(*out) {
    out_ << "\n" << title << "\n";
  }
  void line(const std::string& name, const std::string& value, const std::string& note = "") {
    out_ << "  " << std::left << std::setw(24) << shortened(name, 24) << std::right << std::setw(12)
         << value;
    if (!note.empty()) out_ << "  " << note;
    out_ << "\n";
  }

 private:
  std::ostringstream& out_;
};

}  // namespace fm::summary
