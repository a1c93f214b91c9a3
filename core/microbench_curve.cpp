#include "core/microbench_curve.hpp"

#include <stdexcept>

#include "core/diagnostics.hpp"

namespace fm {

std::int64_t MicrobenchPoint::axis(const std::string& name) const {
  for (const auto& [known, place] : axes) {
    if (known == name) return place;
  }
  throw std::out_of_range("no axis " + name);
}

double microbench_value(double nanoseconds, double work, const std::string& unit,
                        double clock_hertz) {
  const std::string below = unit.substr(unit.find('/') + 1);
  if (unit.compare(0, 3, "ns/") == 0) return nanoseconds / work;
  const double rate = work / nanoseconds;
  if (below == "ns") return rate;
  if (below == "clk") return rate * 1e9 / clock_hertz;
  throw UserError("a microbenchmark measures in '" + unit +
                  "'; known are ns/<work>, <work>/ns and <work>/clk");
}

}  // namespace fm
