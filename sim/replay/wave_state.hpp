#pragma once
// What a wave cursor knows while it walks: variables, cached lane parts of expressions, loops and
// guards it is in.

#include <vector>

#include "sim/replay/program_code.hpp"
#include "sim/replay/wave_cursor.hpp"

namespace fm {

/// The lane part of one expression, kept until a variable of it changes.
struct LanePart {
  std::uint64_t version = 0;  // of the cursor's clock when computed; 0 = never
  std::int64_t minimum = 0, maximum = 0;
  std::int64_t* lanes = nullptr;
};

/// A value of an expression: scalar + lanes[l], with bounds over all lanes.
struct LaneValue {
  std::int64_t scalar = 0;
  const LanePart* part = nullptr;
  std::int64_t at(std::uint32_t lane) const { return part ? scalar + part->lanes[lane] : scalar; }
  std::int64_t minimum() const { return part ? scalar + part->minimum : scalar; }
  std::int64_t maximum() const { return part ? scalar + part->maximum : scalar; }
  std::uint64_t version() const { return part ? part->version : 0; }
};

/// The pattern of a site's last access and what it was made from. While the clock stands still (no
/// lane variable changed), pattern and lane parts are as they were.
struct SiteMemo {
  const LanePattern* pattern = nullptr;  ///< not interned: nullptr
  std::uint64_t clock = 0;               ///< when the rest was last known to hold; 0: never
  std::int64_t x_lane = 0, y_lane = 0;   ///< lane parts of the first active lane
  std::uint64_t x_version = 0, y_version = 0;
};
/// The operands a derivation was last evaluated for.
struct DerivationMemo {
  LaneMask mask;
  std::uint64_t left_version = 0, right_version = 0;
  std::int64_t left = 0, right = 0;
};
struct LoopProgress {
  std::int64_t limit = 0;  // uniform end, or the least end of the lanes in the loop
  std::vector<std::int64_t> ends;
};
struct GuardProgress {
  LaneMask others;
};

template <class Body>
void for_each_lane(LaneMask mask, Body body) {
  for (std::uint32_t word = 0; word < 2; ++word) {
    for (std::uint64_t bits = mask.words[word]; bits != 0; bits &= bits - 1) {
      body(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
    }
  }
}

struct WaveCursor::State {
  State(const CompiledProgram& program, PatternTable& table)
      : code(*program.code_), width(code.width), patterns(table) {
    uniform.resize(code.uniform_slots);
    lanes.resize(std::size_t{code.lane_slots} * width);
    changed.resize(code.lane_slots);
    part_values.resize(std::size_t{code.caches} * width);
    parts.resize(code.caches);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].lanes = part_values.data() + i * width;
    sites.resize(code.code_sites.size());
    derivations.resize(code.derivations.size());
    loops.resize(code.loops.size());
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (code.loops[i].divergent()) loops[i].ends.resize(width);
    }
    guards.resize(code.guards.size());
    saved.resize(code.mask_depth);
    positions.resize(code.tables.size() * width);
    scratch.x.resize(width);
    scratch.y.resize(width);
  }

  void start(std::uint64_t linear_group, std::uint32_t wave);
  const WaveStep& next();

  // ---- values
  std::int64_t scalar_of(const CodeExpression& expression) const {
    std::int64_t value = expression.constant;
    for (std::uint32_t i = expression.uniform_begin; i != expression.uniform_end; ++i) {
      value += code.uniform_terms[i].coefficient * uniform[code.uniform_terms[i].slot];
    }
    return value;
  }
  LaneValue value_of(const CodeExpression& expression) {
    if (expression.is_uniform()) return {scalar_of(expression), nullptr};
    LanePart& part = parts[expression.cache];
    if (expression.table != 0) {
      draw(expression, &part);
      return {0, &part};
    }
    for (std::uint32_t i = expression.lane_begin; i != expression.lane_end; ++i) {
      if (changed[code.lane_terms[i].slot] > part.version) {
        compute(expression, &part);
        break;
      }
    }
    return {scalar_of(expression), &part};
  }
  void compute(const CodeExpression& expression, LanePart* part);
  void draw(const CodeExpression& expression, LanePart* part);
  void bound(LanePart* part) const;
  std::int64_t* lane_values(std::uint32_t slot) { return lanes.data() + std::size_t{slot} * width; }

  // ---- instructions
  void access(std::uint32_t index);
  void access_again(std::uint32_t index);
  void make_pattern(std::uint32_t index, const LaneValue& x, const LaneValue& y);
  void load_index(std::uint32_t index, const LaneValue& x);
  void derive(const CodeDerivation& derivation, DerivationMemo* state);
  bool begin_loop(const CodeLoop& loop, LoopProgress* state);
  bool repeat_loop(const CodeLoop& loop, LoopProgress* state);
  bool keep_lanes(const CodeLoop& loop, LoopProgress* state);
  bool begin_guard(const CodeGuard& guard, GuardProgress* state);

  // What every step reads comes first, so that a walk touches few lines of the host's cache.
  const CompiledProgram::Code& code;
  std::uint32_t program_counter = 0;
  std::uint32_t width;
  LaneMask mask;
  std::uint64_t clock = 0;            // counts changes of lane variables
  std::vector<std::int64_t> uniform;  // by uniform slot
  std::vector<SiteMemo> sites;
  WaveStep step;
  LaneMask counted;  // whose lanes are counted_lanes
  std::uint32_t counted_lanes = 0;
  std::vector<LoopProgress> loops;
  std::vector<GuardProgress> guards;
  std::vector<LaneMask> saved;
  PatternTable& patterns;
  std::vector<std::int64_t> lanes;        // by lane slot and lane
  std::vector<std::uint64_t> changed;     // by lane slot: clock of its last change
  std::vector<std::int64_t> part_values;  // by cache and lane
  std::vector<LanePart> parts;
  std::vector<DerivationMemo> derivations;
  std::vector<std::uint64_t> positions;  // by table and lane
  LanePattern scratch;
};

}  // namespace fm
