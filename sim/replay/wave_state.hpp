#pragma once
// What a wave cursor knows while it walks: variables, cached lane parts of expressions, loops and
// guards it is in.

#include <memory>
#include <new>
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

/// What every step reads comes first, and of the variable part again uniform variables, loop limits
/// and memos, all in one piece of memory: a walk touches few lines of the host's cache.
struct alignas(64) WaveCursor::State {
  static State* create(const CompiledProgram& program, PatternTable& table) {
    const CompiledProgram::Code& code = *program.code_;
    const std::size_t bytes = sizeof(State) +
                              (code.uniform_slots + code.loops.size()) * sizeof(std::int64_t) +
                              code.code_sites.size() * sizeof(SiteMemo);
    return new (::operator new (bytes, std::align_val_t{64})) State(program, table);
  }
  static void destroy(State* state) {
    state->~State();
    ::operator delete (state, std::align_val_t{64});
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void prefetch() const {
    const char* const begin = reinterpret_cast<const char*>(this);
    __builtin_prefetch(begin);
    __builtin_prefetch(begin + 64);
    __builtin_prefetch(begin + sizeof(State));
  }

  State(const CompiledProgram& program, PatternTable& table)
      : code(*program.code_), width(code.width), patterns(table) {
    uniform = reinterpret_cast<std::int64_t*>(this + 1);
    std::uninitialized_fill_n(uniform, code.uniform_slots, 0);
    limits = uniform + code.uniform_slots;
    std::uninitialized_fill_n(limits, code.loops.size(), 0);
    sites = reinterpret_cast<SiteMemo*>(limits + code.loops.size());
    std::uninitialized_value_construct_n(sites, code.code_sites.size());
    lanes.resize(std::size_t{code.lane_slots} * width);
    changed.resize(code.lane_slots);
    part_values.resize(std::size_t{code.caches} * width);
    parts.resize(code.caches);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].lanes = part_values.data() + i * width;
    derivations.resize(code.derivations.size());
    ends.resize(code.loops.size() * width);
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
  std::int64_t* lane_values(std::uint32_t slot) {
    return lanes.data() + static_cast<std::size_t>(slot) * width;
  }

  // ---- instructions
  void access(std::uint32_t index);
  void access_again(std::uint32_t index);
  void make_pattern(std::uint32_t index, const LaneValue& x, const LaneValue& y);
  void load_index(std::uint32_t index, const LaneValue& x);
  void derive(const CodeDerivation& derivation, DerivationMemo* state);
  bool begin_loop(std::uint32_t index);
  bool repeat_loop(std::uint32_t index);
  bool keep_lanes(std::uint32_t index);
  bool begin_guard(const CodeGuard& guard, GuardProgress* state);

  const CompiledProgram::Code& code;
  std::uint32_t program_counter = 0;
  std::uint32_t width;
  LaneMask mask;
  std::uint64_t clock = 0;          // counts changes of lane variables
  std::int64_t* uniform = nullptr;  // by uniform slot
  std::int64_t* limits = nullptr;   // by loop: uniform end, or the least end of the lanes in it
  SiteMemo* sites = nullptr;
  WaveStep step;
  LaneMask counted;  // whose lanes are counted_lanes
  std::uint32_t counted_lanes = 0;
  std::vector<std::int64_t> ends;  // by loop and lane, of divergent loops
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
