#pragma once
// Coalescing: which lines one access of a wave touches, and how long it occupies its unit.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/gpu/core_parameters.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/memory/divider.hpp"
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
  const PlannedLine* lines = nullptr;
  std::uint32_t count = 0;
  std::uint32_t pipe_cycles = 1;
  std::uint32_t quads = 0;  ///< texture: groups of 4 lanes with an active one
  bool full = false;        ///< load/store: every cycle moves as many bytes as the datapath is wide
};

/// One access, planned.
struct PlannedAccess : LinePlan {
  std::uint64_t base = 0;
  /// `lines` stays valid as long as the planner; else until the planner plans again.
  bool kept = false;
};

/// What issuing an access of a site hangs on.
struct SiteTraits {
  Unit unit = Unit::load_store;
  AccessKind kind = AccessKind::read;
  bool local = false;
  bool uncached = false;  ///< written straight to the L2
  bool wide = false;      ///< texels above 32 bits
};

/// Plans are kept by (site, lane pattern, position modulo the layout's period), so that a repeated
/// pattern costs a table look-up. One planner a launch, shared by its cores.
class LinePlanner {
 public:
  /// Throws UserError when a site's argument is not bound, bound as the wrong kind, or misaligned.
  LinePlanner(const CoreParameters& parameters, const GpuLaunch& launch);

  const SiteTraits& traits(std::uint32_t site) const { return traits_[site]; }
  /// `local_base`: where the work-group's local memory begins (cache-backed local memory only).
  PlannedAccess plan(const WaveStep& step, std::uint64_t local_base);

 private:
  struct SitePlan {
    Unit unit = Unit::load_store;
    bool write = false, atomic = false, image = false, local = false, uncached = false;
    std::uint32_t bytes = 0;
    std::uint32_t line_bytes = 64;
    std::uint64_t address = 0;  ///< of the object; LOCAL: offset of the array
    bool tiled = false;
    ImageLayout layout;
    Divider line, tile_width, tile_height;
    /// [pattern][phase]; nullptr: none yet
    std::vector<std::unique_ptr<const LinePlan*[]>> kept;
  };

  SitePlan bind(const CompiledSite& site, const GpuLaunch& launch) const;
  static bool inside(const SitePlan& site, const WaveStep& step);
  static std::uint32_t phases(const SitePlan& site);
  /// The table of a pattern's plans, made when it is the first time.
  static const LinePlan** kept_plans(SitePlan& site, std::uint32_t pattern);
  const LinePlan* keep(const LinePlan& plan);
  static std::uint64_t lane_address(const SitePlan& site, const WaveStep& step,
                                    std::uint64_t object, std::uint32_t lane);
  /// Its lines are in scratch_.
  LinePlan build(const SitePlan& site, const WaveStep& step, std::uint64_t object,
                 std::uint64_t base);
  /// Adds to scratch_ the lines that bytes [first, end) of every active lane's access touch.
  void touch(const SitePlan& site, const WaveStep& step, std::uint64_t object, std::uint64_t base,
             std::uint32_t first, std::uint32_t end);
  void time_load_store(const SitePlan& site, const WaveStep& step, std::uint64_t object,
                       LinePlan* plan) const;
  std::uint32_t atomic_cycles(const SitePlan& site, const WaveStep& step,
                              std::uint64_t object) const;
  std::uint32_t bank_cycles(const SitePlan& site, const WaveStep& step) const;
  std::uint32_t texture_cycles(const SitePlan& site, std::uint32_t texels,
                               std::uint32_t lines) const;
  const CoreParameters parameters_;
  const bool half_results_;  ///< texels are returned in half precision
  std::vector<SitePlan> sites_;
  std::vector<SiteTraits> traits_;  ///< by site, close together: they are read at every step
  std::deque<LinePlan> plans_;
  std::vector<std::unique_ptr<PlannedLine[]>> chunks_;  ///< lines of kept plans
  std::size_t chunk_left_ = 0;                          ///< free places in the last chunk
  PlannedLine* chunk_next_ = nullptr;
  std::vector<PlannedLine> scratch_;
};

}  // namespace fm
