// Variables of a wave and the lane parts of its expressions.

#include <algorithm>

#include "core/diagnostics.hpp"
#include "sim/replay/wave_state.hpp"

namespace fm {

void WaveCursor::State::start(std::uint64_t linear_group, std::uint32_t wave) {
  program_counter = 0;
  uniform[0] = static_cast<std::int64_t>(linear_group % code.groups[0]);
  uniform[1] = static_cast<std::int64_t>(linear_group / code.groups[0] % code.groups[1]);
  uniform[2] = static_cast<std::int64_t>(linear_group / code.groups[0] / code.groups[1]);
  mask = {};
  const std::uint32_t first = wave * width;
  for (std::uint32_t lane = 0; lane < width; ++lane) {
    const std::uint64_t item = std::min(first + lane, code.items - 1);
    if (first + lane < code.items) mask.set(lane);
    lane_values(0)[lane] = static_cast<std::int64_t>(item % code.local[0]);
    lane_values(1)[lane] = static_cast<std::int64_t>(item / code.local[0] % code.local[1]);
    lane_values(2)[lane] = static_cast<std::int64_t>(item / code.local[0] / code.local[1]);
    for (std::size_t t = 0; t < code.tables.size(); ++t) {
      positions[t * width + lane] = code.tables[t].starts[linear_group * code.items + item];
    }
  }
  ++clock;
  std::fill(changed.begin(), changed.end(), clock);
  std::fill(derivations.begin(), derivations.end(), DerivationMemo{});
}

void WaveCursor::State::compute(const CodeExpression& expression, LanePart* part) {
  std::fill_n(part->lanes, width, 0);
  for (std::uint32_t i = expression.lane_begin; i != expression.lane_end; ++i) {
    const std::int64_t coefficient = code.lane_terms[i].coefficient;
    const std::int64_t* values = lane_values(code.lane_terms[i].slot);
    for (std::uint32_t lane = 0; lane < width; ++lane)
      part->lanes[lane] += coefficient * values[lane];
  }
  bound(part);
}

void WaveCursor::State::draw(const CodeExpression& expression, LanePart* part) {
  const CodeTable& table = code.tables[expression.table - 1];
  std::uint64_t* at = positions.data() + std::size_t{expression.table - 1} * width;
  for_each_lane(mask, [&](std::uint32_t lane) {
    if (at[lane] >= table.values.size()) {
      throw UserError("kernel " + code.kernel + ": an explicit table of the trace is too short");
    }
    part->lanes[lane] = table.values[at[lane]++];
  });
  ++clock;
  bound(part);
}

void WaveCursor::State::bound(LanePart* part) const {
  part->minimum = *std::min_element(part->lanes, part->lanes + width);
  part->maximum = *std::max_element(part->lanes, part->lanes + width);
  part->version = clock;
}

}  // namespace fm
