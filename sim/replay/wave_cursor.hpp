#pragma once
// What one wave does next: a resumable walk over an access program in lockstep order, without
// allocation per step.
//
// A program is compiled once (CompiledProgram), a cursor is started per wave and reused. Each
// address splits into a lane pattern (what differs between lanes, relative to the first active
// lane) and one position (where that lane is). Patterns are interned by content, so an inner loop
// repeats one pattern at moving positions and a coalescer may cache its result by (pattern id,
// alignment of the position), across waves and work-groups of the program.
//
// Equal to fm::expand_wave (core/access_program.hpp), which is the reference it is tested against.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/access_program.hpp"

namespace fm {

constexpr std::uint32_t maximum_wave_width = 128;

/// Set of lanes of one wave; lane l is bit l % 64 of word l / 64.
struct LaneMask {
  std::array<std::uint64_t, 2> words{0, 0};
  bool test(std::uint32_t lane) const { return (words[lane >> 6] >> (lane & 63)) & 1; }
  void set(std::uint32_t lane) { words[lane >> 6] |= std::uint64_t{1} << (lane & 63); }
  bool any() const { return (words[0] | words[1]) != 0; }
  std::uint32_t count() const {
    return static_cast<std::uint32_t>(__builtin_popcountll(words[0]) +
                                      __builtin_popcountll(words[1]));
  }
  /// Lowest lane in the set; undefined when empty.
  std::uint32_t first() const {
    return static_cast<std::uint32_t>(words[0] ? __builtin_ctzll(words[0])
                                               : 64 + __builtin_ctzll(words[1]));
  }
  friend LaneMask operator&(LaneMask a, LaneMask b) {
    return {{a.words[0] & b.words[0], a.words[1] & b.words[1]}};
  }
  friend LaneMask operator|(LaneMask a, LaneMask b) {
    return {{a.words[0] | b.words[0], a.words[1] | b.words[1]}};
  }
  /// Lanes of `a` that are not in `b`.
  friend LaneMask without(LaneMask a, LaneMask b) {
    return {{a.words[0] & ~b.words[0], a.words[1] & ~b.words[1]}};
  }
  friend bool operator==(const LaneMask& a, const LaneMask& b) { return a.words == b.words; }
  friend bool operator!=(const LaneMask& a, const LaneMask& b) { return !(a == b); }
};

/// How the lanes of one access lie relative to its first active lane. Immutable while its table
/// lives.
struct LanePattern {
  static constexpr std::uint32_t not_interned = 0xffffffff;
  std::uint32_t id = not_interned;  ///< dense from 0, unique in its PatternTable; `not_interned`:
                                    ///< do not cache by it
  std::uint32_t active_lanes = 0;
  LaneMask mask;
  std::int64_t x_min = 0, x_max = 0, y_min = 0, y_max = 0;  ///< over active lanes
  bool has_y = false;                                       ///< image sites
  std::vector<std::int64_t> x;  ///< per lane, width entries; 0 for inactive lanes
  std::vector<std::int64_t> y;  ///< empty unless has_y
};

/// Interned patterns of one program. Beyond `capacity` distinct patterns (data-dependent
/// addresses), further ones are handed out as `not_interned`, in the cursor's own scratch.
class PatternTable {
 public:
  explicit PatternTable(std::uint32_t capacity = 8192);
  ~PatternTable();
  PatternTable(PatternTable&&) noexcept;
  PatternTable& operator=(PatternTable&&) noexcept;
  /// The table's copy of `candidate`, or nullptr when it is new and the table is full.
  const LanePattern* intern(const LanePattern& candidate);
  std::size_t size() const;
  const LanePattern& at(std::uint32_t id) const;

 private:
  struct Index;
  std::unique_ptr<Index> index_;
};

/// A site's facts that do not change from access to access.
struct CompiledSite {
  trace::Space space = trace::GLOBAL;
  bool write = false;
  bool atomic = false;
  std::uint32_t bytes = 0;     ///< of one lane's access
  std::uint32_t argument = 0;  ///< kernel argument index; for LOCAL the index of the local array
  std::uint64_t local_offset =
      0;  ///< LOCAL: first byte of its array in the work-group's local memory
};

/// An access program flattened for one wave width.
class CompiledProgram {
 public:
  struct Code;  ///< the flat form, for the cursor (sim/replay/program_code.hpp)

  /// `width`: 1 to maximum_wave_width lanes. Throws UserError for a program that does not
  /// validate().
  CompiledProgram(const trace::AccessProgram& program, const IndexValues& index,
                  std::uint32_t width);
  ~CompiledProgram();
  CompiledProgram(CompiledProgram&&) noexcept;
  CompiledProgram& operator=(CompiledProgram&&) noexcept;

  const std::vector<CompiledSite>& sites() const;
  std::uint32_t width() const;
  std::uint64_t group_total() const;
  std::uint32_t items_per_group() const;
  std::uint32_t waves_per_group() const;  ///< ceil(items_per_group / width)
  /// Of all local arrays together, bytes of one work-group.
  std::uint64_t local_bytes() const;

 private:
  friend class WaveCursor;
  std::unique_ptr<const Code> code_;
};

/// One step of a wave.
struct WaveStep {
  enum class Kind : std::uint8_t { access, arithmetic, barrier, end };
  Kind kind = Kind::end;

  // access
  std::uint32_t site = 0;                ///< index into CompiledProgram::sites()
  const LanePattern* pattern = nullptr;  ///< valid until the cursor's next step when not interned
  std::int64_t x = 0;  ///< of the first active lane: byte offset, or texel x before clamping
  std::int64_t y = 0;  ///< texel y; lane l is at (x + pattern->x[l], y + pattern->y[l])

  // arithmetic
  trace::ArithmeticKind arithmetic = trace::FMA;
  std::uint32_t count = 0;  ///< scalar operations a lane
  std::uint32_t loads_in_flight =
      0;  ///< wait until at most so many of the newest loads are outstanding
  std::uint32_t active_lanes = 0;  ///< also set for access
};

/// Walks one wave. Reusable: start() again for the next wave; allocates only on construction.
class WaveCursor {
 public:
  /// Both must outlive the cursor.
  WaveCursor(const CompiledProgram& program, PatternTable& patterns);
  ~WaveCursor();
  WaveCursor(WaveCursor&&) noexcept;
  WaveCursor& operator=(WaveCursor&&) noexcept;

  /// `linear_group` < group_total() (x fastest), `wave` < waves_per_group().
  void start(std::uint64_t linear_group, std::uint32_t wave);
  /// The next step, valid until the next call; `end` once finished, for ever.
  const WaveStep& next();
  /// Brings what next() will read into the host's caches.
  void prefetch() const;

 private:
  struct State;
  struct Destroy {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Destroy> state_;
};

}  // namespace fm
