#include "core/figures_text.hpp"

#include <iomanip>
#include <sstream>

namespace fm {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// Whole and fraction apart, so that no product overflows.
std::uint64_t hundredths(Bytes bytes, std::uint64_t rounding) {
  const std::uint64_t whole = bytes.count() / mebibyte;
  const std::uint64_t rest = bytes.count() % mebibyte;
  return whole * 100 + (rest * 100 + rounding) / mebibyte;
}

std::string text(std::uint64_t hundredths) {
  const std::string fraction = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (fraction.size() < 2 ? ".0" : ".") + fraction + " MiB";
}

std::string fixed_text(double value, int digits, const char* unit) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value << ' ' << unit;
  return out.str();
}

}  // namespace

std::string mebibytes(Bytes bytes) {
  return fixed_text(static_cast<double>(bytes.count()) / static_cast<double>(mebibyte), 2, "MiB");
}
std::string milliseconds(Nanoseconds time) {
  return milliseconds(static_cast<double>(time.count()));
}
std::string milliseconds(double nanoseconds) { return fixed_text(nanoseconds * 1e-6, 3, "ms"); }
std::string percent(double share) { return fixed_text(share * 100, 2, "%"); }

std::string mebibytes_down(Bytes bytes) { return text(hundredths(bytes, 0)); }
std::string mebibytes_up(Bytes bytes) { return text(hundredths(bytes, mebibyte - 1)); }

std::string least_budget_text(Bytes bytes) {
  return mebibytes_up(bytes) + " (--budget " + std::to_string(ceil_div(bytes.count(), 1024)) +
         "KiB)";
}

}  // namespace fm
