#pragma once
// Coalescing: which lines one access of a wave touches, and how long it occupies its unit.

#include <cstdint>
#include <vector>

#include "sim/gpu/core_parameters.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/memory/image_layout.hpp"
#include "sim/replay/wave_cursor.hpp"

namespace fm {

enum class Unit : std::uint8_t { load_store, texture, local };
constexpr std::size_t unit_count = 3;

struct PlannedLine {
  std::int64_t offset = 0;  ///< from the plan's base; base + offset is a multiple of the line
  std::uint64_t mask = 0;   ///< bytes wanted or written, as in LineRequest
};

struct LinePlan {
  std::uint32_t first = 0, count = 0;  ///< in LinePlanner::lines()
  std::uint32_t pipe_cycles = 1;
  std::uint32_t quads = 0;  ///< texture: groups of 4 lanes with an active one
};

/// One access, planned. `lines` is valid until the planner plans again.
struct PlannedAccess {
  const PlannedLine* lines = nullptr;
  std::uint32_t count = 0;
  std::uint32_t pipe_cycles = 1;
  std::uint32_t quads = 0;
  std::uint64_t base = 0;
  std::uint32_t index = 0;  ///< of the first line in LinePlanner::line(); `unkept`: in none
  static constexpr std::uint32_t unkept = 0xffffffff;
};

/// Plans are kept by (site, lane pattern, position modulo the layout's period), so that a repeated
/// pattern costs a table look-up. One planner a launch, shared by its cores.
class LinePlanner {
 public:
  /// Throws UserError when a site's argument is not bound, bound as the wrong kind, or misaligned.
  LinePlanner(const CoreParameters& parameters, const GpuLaunch& launch);

  Unit unit_of(std::uint32_t site) const { return sites_[site].unit; }
  bool is_write(std::uint32_t site) const { return sites_[site].write; }
  bool is_atomic(std::uint32_t site) const { return sites_[site].atomic; }
  bool is_local(std::uint32_t site) const { return sites_[site].local; }
  /// Written straight to the L2.
  bool is_uncached(std::uint32_t site) const { return sites_[site].uncached; }
  /// `local_base`: where the work-group's local memory begins (cache-backed local memory only).
  PlannedAccess plan(const WaveStep& step, std::uint64_t local_base);
  /// Of a kept plan, by PlannedAccess::index.
  const PlannedLine& line(std::uint32_t index) const { return lines_[index]; }

 private:
  struct SitePlan {
    Unit unit = Unit::load_store;
    bool write = false, atomic = false, image = false, local = false, uncached = false;
    std::uint32_t bytes = 0;
    std::uint32_t line_bytes = 64;
    std::uint64_t address = 0;  ///< of the object; LOCAL: offset of the array
    ImageLayout layout;
    std::vector<std::vector<std::int32_t>>
        kept;  ///< [pattern][phase]: 1 + index into plans_, 0: none yet
  };

  SitePlan bind(const CompiledSite& site, const GpuLaunch& launch) const;
  static bool inside(const SitePlan& site, const WaveStep& step);
  static std::uint32_t phases(const SitePlan& site);
  static std::uint64_t lane_address(const SitePlan& site, const WaveStep& step,
                                    std::uint64_t object, std::uint32_t lane);
  LinePlan build(const SitePlan& site, const WaveStep& step, std::uint64_t object,
                 std::uint64_t base, std::vector<PlannedLine>* lines) const;
  std::uint32_t bank_cycles(const SitePlan& site, const WaveStep& step) const;
  std::uint32_t texture_cycles(const SitePlan& site, std::uint32_t quads,
                               std::uint32_t lines) const;
  const CoreParameters parameters_;
  std::vector<SitePlan> sites_;
  std::vector<LinePlan> plans_;
  std::vector<PlannedLine> lines_;
  std::vector<PlannedLine> scratch_;
};

}  // namespace fm
