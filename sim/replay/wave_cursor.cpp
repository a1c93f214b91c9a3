#include "sim/replay/wave_cursor.hpp"

#include <algorithm>
#include <limits>

#include "core/diagnostics.hpp"
#include "sim/replay/wave_state.hpp"

namespace fm {
namespace {

/// +1 when the relation holds for every left in [a, b] and right in [c, d], -1 for none, 0 when it
/// depends.
int holds_for_all(std::int64_t a, std::int64_t b, trace::Relation relation, std::int64_t c,
                  std::int64_t d) {
  switch (relation) {
    case trace::LT:
      return b < c ? 1 : (a >= d ? -1 : 0);
    case trace::LE:
      return b <= c ? 1 : (a > d ? -1 : 0);
    case trace::GT:
      return a > d ? 1 : (b <= c ? -1 : 0);
    case trace::GE:
      return a >= d ? 1 : (b < c ? -1 : 0);
    case trace::EQ:
      return a == b && c == d && a == c ? 1 : (b < c || a > d ? -1 : 0);
    case trace::NE:
      return b < c || a > d ? 1 : (a == b && c == d && a == c ? -1 : 0);
    default:
      return 0;
  }
}

}  // namespace

void WaveCursor::State::access(std::uint32_t index) {
  const CodeSite& site = code.code_sites[index];
  const SiteMemo& memo = sites[index];
  step.kind = WaveStep::Kind::access;
  step.site = index;
  if (memo.clock != clock || memo.pattern == nullptr || memo.pattern->mask != mask) {
    access_again(index);
    return;
  }
  step.pattern = memo.pattern;
  step.active_lanes = memo.pattern->active_lanes;
  step.x = memo.x_lane + scalar_of(site.x);
  step.y = memo.y_lane + (site.has_y ? scalar_of(site.y) : 0);
}

/// An access about which the memo may be out of date.
void WaveCursor::State::access_again(std::uint32_t index) {
  const CodeSite& site = code.code_sites[index];
  SiteMemo& memo = sites[index];
  const LaneValue x = value_of(site.x);
  const LaneValue y = site.has_y ? value_of(site.y) : LaneValue{};
  if (memo.pattern == nullptr || memo.pattern->mask != mask || memo.x_version != x.version() ||
      memo.y_version != y.version()) {
    make_pattern(index, x, y);
  }
  const std::uint32_t first = mask.first();
  step.pattern = memo.pattern != nullptr ? memo.pattern : &scratch;
  step.active_lanes = step.pattern->active_lanes;
  step.x = x.at(first);
  step.y = y.at(first);
  memo.clock = site.repeatable() ? clock : 0;
  memo.x_lane = step.x - x.scalar;
  memo.y_lane = step.y - y.scalar;
  if (site.index_load) load_index(index, x);
}

void WaveCursor::State::make_pattern(std::uint32_t index, const LaneValue& x, const LaneValue& y) {
  const CodeSite& site = code.code_sites[index];
  const std::uint32_t first = mask.first();
  const std::int64_t x_first = x.at(first), y_first = y.at(first);
  std::fill(scratch.x.begin(), scratch.x.end(), 0);
  std::fill(scratch.y.begin(), scratch.y.end(), 0);
  for_each_lane(mask, [&](std::uint32_t lane) {
    scratch.x[lane] = x.at(lane) - x_first;
    scratch.y[lane] = y.at(lane) - y_first;
  });
  // The first lane is at 0 and inactive ones are 0: the bounds over all lanes are those over the
  // active ones.
  const auto [x_low, x_high] = std::minmax_element(scratch.x.begin(), scratch.x.end());
  const auto [y_low, y_high] = std::minmax_element(scratch.y.begin(), scratch.y.end());
  scratch.x_min = *x_low, scratch.x_max = *x_high;
  scratch.y_min = *y_low, scratch.y_max = *y_high;
  scratch.mask = mask;
  scratch.active_lanes = mask.count();
  scratch.has_y = site.has_y;
  sites[index] = {patterns.intern(scratch), 0, 0, 0, x.version(), y.version()};
}

void WaveCursor::State::load_index(std::uint32_t index, const LaneValue& x) {
  const CodeSite& site = code.code_sites[index];
  const std::int64_t bytes = code.sites[index].bytes;
  if (site.values == nullptr) {
    throw UserError("kernel " + code.kernel + ": the contents of index buffer of site " +
                    std::to_string(index) + " are not in the trace");
  }
  std::int64_t* loaded = lane_values(site.data_slot);
  for_each_lane(mask, [&](std::uint32_t lane) {
    const std::int64_t element = fm::derive(trace::Derivation::QUOTIENT, x.at(lane), bytes);
    if (element < 0 || static_cast<std::size_t>(element) >= site.values->size()) {
      throw UserError("kernel " + code.kernel + ": site " + std::to_string(index) +
                      " loads index " + std::to_string(element) + " of " +
                      std::to_string(site.values->size()));
    }
    loaded[lane] = (*site.values)[static_cast<std::size_t>(element)];
  });
  changed[site.data_slot] = ++clock;
}

void WaveCursor::State::derive(const CodeDerivation& derivation, DerivationMemo* state) {
  const LaneValue left = value_of(derivation.left), right = value_of(derivation.right);
  if (!derivation.lanes) {
    uniform[derivation.slot] = fm::derive(derivation.operation, left.scalar, right.scalar);
    return;
  }
  const bool same_operands = left.version() == state->left_version && left.scalar == state->left &&
                             right.version() == state->right_version &&
                             right.scalar == state->right;
  if (same_operands && !without(mask, state->mask).any()) return;
  *state = {mask, left.version(), right.version(), left.scalar, right.scalar};
  std::int64_t* values = lane_values(derivation.slot);
  bool differs = false;
  for_each_lane(mask, [&](std::uint32_t lane) {
    const std::int64_t value = fm::derive(derivation.operation, left.at(lane), right.at(lane));
    differs |= value != values[lane];
    values[lane] = value;
  });
  if (differs) changed[derivation.slot] = ++clock;
}

/// Sets up the counter and the lanes of the first iteration; false when there is none.
bool WaveCursor::State::begin_loop(std::uint32_t index) {
  const CodeLoop& loop = code.loops[index];
  const LaneValue begin = value_of(loop.begin), end = value_of(loop.end);
  if (!loop.divergent()) {
    uniform[loop.slot] = begin.scalar;
    limits[index] = end.scalar;
    return begin.scalar < end.scalar;
  }
  saved[loop.depth] = mask;
  std::int64_t* const lane_ends = ends.data() + std::size_t{index} * width;
  for_each_lane(mask, [&](std::uint32_t lane) { lane_ends[lane] = end.at(lane); });
  if (loop.lane_counter) {
    for_each_lane(mask, [&](std::uint32_t lane) { lane_values(loop.slot)[lane] = begin.at(lane); });
    changed[loop.slot] = ++clock;
  } else {
    uniform[loop.slot] = begin.scalar;
  }
  return keep_lanes(index);
}

/// Steps the counter; false when the loop is over.
bool WaveCursor::State::repeat_loop(std::uint32_t index) {
  const CodeLoop& loop = code.loops[index];
  if (loop.lane_counter) {
    for_each_lane(mask, [&](std::uint32_t lane) { lane_values(loop.slot)[lane] += loop.step; });
    changed[loop.slot] = ++clock;
    return keep_lanes(index);
  }
  uniform[loop.slot] += loop.step;
  if (uniform[loop.slot] < limits[index]) return true;
  return loop.lane_end && keep_lanes(index);
}

/// Drops lanes whose counter reached their end; when none is left, restores the mask from before
/// the loop.
bool WaveCursor::State::keep_lanes(std::uint32_t index) {
  const CodeLoop& loop = code.loops[index];
  const std::int64_t* const lane_ends = ends.data() + std::size_t{index} * width;
  LaneMask kept;
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  for_each_lane(mask, [&](std::uint32_t lane) {
    const std::int64_t counter =
        loop.lane_counter ? lane_values(loop.slot)[lane] : uniform[loop.slot];
    if (counter >= lane_ends[lane]) return;
    kept.set(lane);
    limit = std::min(limit, lane_ends[lane]);
  });
  limits[index] = limit;
  mask = kept.any() ? kept : saved[loop.depth];
  return kept.any();
}

/// Whether any lane takes the body; the others wait in `state`.
bool WaveCursor::State::begin_guard(const CodeGuard& guard, GuardProgress* state) {
  const LaneValue left = value_of(guard.left), right = value_of(guard.right);
  if (!guard.lanes) {
    const bool taken = holds(left.scalar, guard.relation, right.scalar);
    state->others = taken ? LaneMask{} : mask;
    return taken;
  }
  saved[guard.depth] = mask;
  const int all = holds_for_all(left.minimum(), left.maximum(), guard.relation, right.minimum(),
                                right.maximum());
  LaneMask taken = all > 0 ? mask : LaneMask{};
  if (all == 0) {
    for_each_lane(mask, [&](std::uint32_t lane) {
      if (holds(left.at(lane), guard.relation, right.at(lane))) taken.set(lane);
    });
  }
  state->others = without(mask, taken);
  if (taken.any()) mask = taken;
  return taken.any();
}

const WaveStep& WaveCursor::State::next() {
  for (;;) {
    const Instruction instruction = code.instructions[program_counter++];
    const std::uint32_t operand = instruction.operand;
    switch (instruction.operation) {
      case Operation::access:
        access(operand);
        return step;
      case Operation::arithmetic: {
        const CodeArithmetic& given = code.arithmetic[operand];
        step.kind = WaveStep::Kind::arithmetic;
        step.arithmetic = given.kind;
        step.count = given.count;
        step.loads_in_flight = given.loads_in_flight;
        if (counted != mask) {
          counted = mask;
          counted_lanes = mask.count();
        }
        step.active_lanes = counted_lanes;
        return step;
      }
      case Operation::barrier:
        step.kind = WaveStep::Kind::barrier;
        return step;
      case Operation::derive:
        derive(code.derivations[operand], &derivations[operand]);
        break;
      case Operation::loop_begin:
        if (!begin_loop(operand)) program_counter = instruction.jump;
        break;
      case Operation::loop_end:
        if (repeat_loop(operand)) program_counter = instruction.jump;
        break;
      case Operation::guard_begin:
        if (!begin_guard(code.guards[operand], &guards[operand]))
          program_counter = instruction.jump;
        break;
      case Operation::guard_else:
        if (guards[operand].others.any()) {
          mask = guards[operand].others;
        } else {
          program_counter = instruction.jump;
        }
        break;
      case Operation::guard_end:
        if (code.guards[operand].lanes) mask = saved[code.guards[operand].depth];
        break;
      case Operation::finish:
        --program_counter;
        step.kind = WaveStep::Kind::end;
        return step;
    }
  }
}

WaveCursor::WaveCursor(const CompiledProgram& program, PatternTable& patterns)
    : state_(State::create(program, patterns)) {}
void WaveCursor::Destroy::operator()(State* state) const { State::destroy(state); }
WaveCursor::~WaveCursor() = default;
WaveCursor::WaveCursor(WaveCursor&&) noexcept = default;
WaveCursor& WaveCursor::operator=(WaveCursor&&) noexcept = default;

void WaveCursor::start(std::uint64_t linear_group, std::uint32_t wave) {
  state_->start(linear_group, wave);
}
const WaveStep& WaveCursor::next() { return state_->next(); }
void WaveCursor::prefetch() const { state_->prefetch(); }

}  // namespace fm
