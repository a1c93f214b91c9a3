#include "executor/finite_values.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

Shape index_at(std::uint64_t position, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(shape[d]);
    index[d] = static_cast<std::int64_t>(position % extent);
    position /= extent;
  }
  return index;
}

}  // namespace

std::string to_string(NonFinite kind) {
  switch (kind) {
    case NonFinite::nan:
      return "nan";
    case NonFinite::infinity:
      return "inf";
    case NonFinite::minus_infinity:
      return "-inf";
  }
  return "";
}

bool FiniteFacts::all_finite() const {
  return std::none_of(non_finite_kinds.begin(), non_finite_kinds.end(),
                      [this](NonFinite kind) { return has(kind); });
}

FiniteFacts finite_facts(const std::vector<float>& values) {
  FiniteFacts facts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    if (std::isfinite(value)) {
      facts.largest = std::max(facts.largest, std::abs(value));
      continue;
    }
    const NonFinite kind = std::isnan(value) ? NonFinite::nan
                           : value > 0       ? NonFinite::infinity
                                             : NonFinite::minus_infinity;
    const auto slot = static_cast<std::size_t>(kind);
    if (facts.counts[slot]++ == 0) facts.first[slot] = i;
  }
  return facts;
}

std::string describe(const FiniteFacts& facts, NonFinite kind, const Shape& shape) {
  const auto slot = static_cast<std::size_t>(kind);
  return to_string(kind) + " at " + to_string(index_at(facts.first[slot], shape)) + " (" +
         std::to_string(facts.counts[slot]) + " of " + std::to_string(element_count(shape)) +
         " values)";
}

std::string describe(const FiniteFacts& facts, const Shape& shape) {
  std::string text;
  for (const NonFinite kind : non_finite_kinds) {
    if (facts.has(kind)) text += (text.empty() ? "" : ", ") + describe(facts, kind, shape);
  }
  return text;
}

}  // namespace fm
