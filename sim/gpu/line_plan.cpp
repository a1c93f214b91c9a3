#include "sim/gpu/line_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace fm {
namespace {

const ArgumentBinding* find_binding(const GpuLaunch& launch, std::uint32_t argument) {
  for (const ArgumentBinding& binding : launch.arguments) {
    if (binding.argument == argument) return &binding;
  }
  return nullptr;
}

}  // namespace

LinePlanner::LinePlanner(const CoreParameters& parameters, const GpuLaunch& launch)
    : parameters_(parameters), half_results_(launch.half_arithmetic) {
  for (const CompiledSite& site : launch.program->sites()) {
    sites_.push_back(bind(site, launch));
    SitePlan& plan = sites_.back();
    plan.tiled = plan.image && plan.layout.order() != TexelOrder::linear;
    plan.line = Divider(plan.line_bytes);
    plan.tile_width = Divider(plan.layout.tile_width());
    plan.tile_height = Divider(plan.layout.tile_height());
    const AccessKind kind = site.atomic  ? AccessKind::atomic
                            : site.write ? AccessKind::write
                                         : AccessKind::read;
    const bool wide = plan.unit == Unit::texture && plan.bytes > 4;
    traits_.push_back({plan.unit, kind, plan.local, plan.uncached, wide});
  }
}

LinePlanner::SitePlan LinePlanner::bind(const CompiledSite& site, const GpuLaunch& launch) const {
  SitePlan plan;
  plan.write = site.write;
  plan.atomic = site.atomic;
  plan.bytes = site.bytes;
  const UnitParameters& load_store = parameters_.load_store;
  const bool past_cache = site.write && !site.atomic && !load_store.write_back;
  plan.line_bytes = past_cache ? load_store.write_line_bytes : load_store.line_bytes;
  plan.local = site.space == trace::LOCAL;
  plan.image = site.space == trace::IMAGE;
  if (plan.local) {
    const bool banked = parameters_.local_backing == LocalBacking::banks;
    plan.unit = banked ? Unit::local : Unit::load_store;
    plan.address = site.local_offset;
    return plan;
  }
  const std::string where =
      "launch " + launch.id + ": argument " + std::to_string(site.argument) + " ";
  const ArgumentBinding* binding = find_binding(launch, site.argument);
  if (binding == nullptr) throw UserError(where + "is accessed but bound to no memory");
  if (binding->image != plan.image) {
    throw UserError(where + (plan.image ? "is read as an image but bound to a buffer"
                                        : "is accessed as a buffer but bound to an image"));
  }
  plan.address = binding->address.count();
  if (!plan.image) return plan;
  plan.layout =
      ImageLayout(parameters_.texels, binding->width, binding->height, binding->texel_bytes);
  plan.bytes = binding->texel_bytes;
  plan.uncached = site.write && !parameters_.image_writes_cached;
  if (plan.uncached) plan.line_bytes = load_store.write_line_bytes;
  if (!site.write) {
    plan.unit = Unit::texture;
    plan.line_bytes = parameters_.texture.line_bytes;
  }
  if (plan.address % 256 != 0) throw UserError(where + "is an image not aligned to 256 bytes");
  return plan;
}

std::uint32_t LinePlanner::phases(const SitePlan& site) {
  return site.tiled ? site.layout.tile_width() * site.layout.tile_height() : site.line_bytes;
}

bool LinePlanner::inside(const SitePlan& site, const WaveStep& step) {
  if (!site.image) return true;
  const LanePattern& pattern = *step.pattern;
  return step.x + pattern.x_min >= 0 && step.y + pattern.y_min >= 0 &&
         step.x + pattern.x_max < site.layout.width() &&
         step.y + pattern.y_max < site.layout.height();
}

const LinePlan** LinePlanner::kept_plans(SitePlan& site, std::uint32_t pattern) {
  if (site.kept.size() <= pattern) site.kept.resize(pattern + 1);
  auto& kept = site.kept[pattern];
  if (!kept) kept = std::make_unique<const LinePlan*[]>(phases(site));
  return kept.get();
}

const LinePlan* LinePlanner::keep(const LinePlan& plan) {
  constexpr std::size_t chunk = 4096;
  if (chunk_left_ < plan.count) {
    chunk_left_ = std::max<std::size_t>(chunk, plan.count);
    chunks_.push_back(std::make_unique<PlannedLine[]>(chunk_left_));
    chunk_next_ = chunks_.back().get();
  }
  plans_.push_back(plan);
  plans_.back().lines = chunk_next_;
  chunk_next_ = std::copy(scratch_.begin(), scratch_.end(), chunk_next_);
  chunk_left_ -= plan.count;
  return &plans_.back();
}

PlannedAccess LinePlanner::plan(const WaveStep& step, std::uint64_t local_base) {
  SitePlan& site = sites_[step.site];
  const std::uint64_t object = site.local ? local_base + site.address : site.address;
  if (!inside(site, step) || step.pattern->id == LanePattern::not_interned) {
    return {build(site, step, object, 0), 0, false};
  }
  std::uint64_t phase = 0, base = 0;
  if (site.tiled) {
    const auto x = static_cast<std::uint64_t>(step.x), y = static_cast<std::uint64_t>(step.y);
    phase = site.tile_height.remainder(y) * site.layout.tile_width() + site.tile_width.remainder(x);
    base = object + site.tile_height.quotient(y) * site.layout.band_bytes() +
           site.tile_width.quotient(x) * site.layout.tile_bytes();
  } else {
    const std::uint64_t first = site.image
                                    ? lane_address(site, step, object, step.pattern->mask.first())
                                    : object + static_cast<std::uint64_t>(step.x);
    phase = site.line.remainder(first);
    base = first - phase;
  }
  const std::uint32_t pattern = step.pattern->id;
  const bool known = pattern < site.kept.size() && site.kept[pattern] != nullptr;
  const LinePlan*& kept = (known ? site.kept[pattern].get() : kept_plans(site, pattern))[phase];
  if (kept == nullptr) kept = keep(build(site, step, object, base));
  return {*kept, base, true};
}

std::uint64_t LinePlanner::lane_address(const SitePlan& site, const WaveStep& step,
                                        std::uint64_t object, std::uint32_t lane) {
  const std::int64_t x = step.x + step.pattern->x[lane];
  if (!site.image) return object + static_cast<std::uint64_t>(x);
  // CLK_ADDRESS_CLAMP_TO_EDGE and CLAMP both read inside; writes outside are dropped by the kernels
  // themselves.
  const std::int64_t y = step.y + step.pattern->y[lane];
  const auto column = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(x, 0, static_cast<std::int64_t>(site.layout.width()) - 1));
  const auto row = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(y, 0, static_cast<std::int64_t>(site.layout.height()) - 1));
  return object + site.layout.offset_of(column, row);
}

void LinePlanner::touch(const SitePlan& site, const WaveStep& step, std::uint64_t object,
                        std::uint64_t base, std::uint32_t first, std::uint32_t end) {
  const std::size_t begin = scratch_.size();
  for (std::uint32_t lane = 0; lane < parameters_.wave_width; ++lane) {
    if (!step.pattern->mask.test(lane)) continue;
    std::uint64_t piece = lane_address(site, step, object, lane) + first;
    for (std::uint32_t left = end - first; left != 0;) {
      const std::uint64_t line = piece / site.line_bytes * site.line_bytes;
      const auto inside = static_cast<std::uint32_t>(piece - line);
      const std::uint32_t bytes = std::min(left, site.line_bytes - inside);
      const std::uint64_t mask = range_mask(piece, bytes, site.line_bytes);
      const auto offset = static_cast<std::int64_t>(line - base);
      const auto known =
          std::find_if(scratch_.begin() + static_cast<std::ptrdiff_t>(begin), scratch_.end(),
                       [&](const PlannedLine& planned) { return planned.offset == offset; });
      if (known == scratch_.end()) {
        scratch_.push_back({offset, mask});
      } else {
        known->mask |= mask;
      }
      piece += bytes;
      left -= bytes;
    }
  }
}

LinePlan LinePlanner::build(const SitePlan& site, const WaveStep& step, std::uint64_t object,
                            std::uint64_t base) {
  LinePlan plan;
  scratch_.clear();
  const LaneMask& mask = step.pattern->mask;
  for (std::uint32_t lane = 0; lane < parameters_.wave_width; lane += 4) {
    plan.quads += (mask.words[lane / 64] >> (lane % 64) & 0xf) != 0 ? 1 : 0;
  }
  // A load/store access wider than the unit takes from a lane is several accesses.
  const bool split = site.unit == Unit::load_store && !site.image;
  const std::uint32_t part = split ? parameters_.load_store.lane_bytes : site.bytes;
  for (std::uint32_t first = 0; first < site.bytes; first += part) {
    touch(site, step, object, base, first, std::min(site.bytes, first + part));
  }
  plan.lines = scratch_.data();
  plan.count = static_cast<std::uint32_t>(scratch_.size());
  if (site.unit == Unit::local) {
    plan.pipe_cycles = bank_cycles(site, step);
  } else if (site.unit == Unit::texture) {
    const std::uint32_t texels =
        parameters_.skips_inactive_lanes ? step.pattern->active_lanes : plan.quads * 4;
    plan.pipe_cycles = texture_cycles(site, texels, plan.count);
  } else {
    time_load_store(site, step, object, &plan);
  }
  plan.pipe_cycles = std::max(1u, plan.pipe_cycles);
  return plan;
}

void LinePlanner::time_load_store(const SitePlan& site, const WaveStep& step, std::uint64_t object,
                                  LinePlan* plan) const {
  const UnitParameters& unit = parameters_.load_store;
  // Lanes that share a line share its cycle, a broadcast included (Arm Valhall shader core guide);
  // addresses are taken from a bounded number of lanes a cycle.
  const auto data = static_cast<std::uint32_t>(
      ceil_div(std::uint64_t{plan->count} * site.line_bytes, unit.bytes_per_cycle));
  const std::uint32_t parts = site.image ? 1 : ceil_div(site.bytes, unit.lane_bytes);
  const auto addresses = static_cast<std::uint32_t>(
      std::ceil(parts * step.pattern->active_lanes / unit.lanes_per_cycle));
  plan->pipe_cycles = std::max({1u, data, addresses});
  if (site.atomic) {
    plan->pipe_cycles = std::max(plan->pipe_cycles, atomic_cycles(site, step, object));
  }
  std::uint64_t bytes = 0;
  for (const PlannedLine& line : scratch_) {
    bytes += static_cast<std::uint64_t>(__builtin_popcountll(line.mask)) *
             granule_bytes(site.line_bytes);
  }
  plan->full = bytes == std::uint64_t{plan->pipe_cycles} * unit.bytes_per_cycle;
}

std::uint32_t LinePlanner::atomic_cycles(const SitePlan& site, const WaveStep& step,
                                         std::uint64_t object) const {
  std::map<std::uint64_t, std::uint32_t> lanes_of_word;
  std::uint32_t most = 0;
  for (std::uint32_t lane = 0; lane < parameters_.wave_width; ++lane) {
    if (!step.pattern->mask.test(lane)) continue;
    most = std::max(most, ++lanes_of_word[lane_address(site, step, object, lane) / 4]);
  }
  return most * parameters_.load_store.atomic_cycles;
}

std::uint32_t LinePlanner::texture_cycles(const SitePlan& site, std::uint32_t texels,
                                          std::uint32_t lines) const {
  const double cost = site.bytes > 4 ? parameters_.wide_texel_ratio : 1.0;
  const auto sample =
      static_cast<std::uint32_t>(std::ceil(texels * cost / parameters_.texels_per_cycle));
  const auto data = static_cast<std::uint32_t>(
      ceil_div(std::uint64_t{texels} * site.bytes, parameters_.texture.bytes_per_cycle));
  // Results are four components, whatever the format holds (OpenCL read_imagef, read_imageh).
  const auto results =
      static_cast<std::uint32_t>(ceil_div(std::uint64_t{texels} * (half_results_ ? 8 : 16),
                                          parameters_.texture.return_bytes_per_cycle));

  const auto look_ups = static_cast<std::uint32_t>(
      ceil_div(std::uint64_t{lines} * site.line_bytes,
               std::max(site.line_bytes, parameters_.texture.bytes_per_cycle)));
  return std::max({sample, data, results, look_ups});
}

std::uint32_t LinePlanner::bank_cycles(const SitePlan& site, const WaveStep& step) const {
  // Words of 4 bytes; lanes that read one word share it, different words of one bank follow one
  // another.
  std::vector<std::uint64_t> words;
  for (std::uint32_t lane = 0; lane < parameters_.wave_width; ++lane) {
    if (!step.pattern->mask.test(lane)) continue;
    const std::uint64_t first = lane_address(site, step, site.address, lane) / 4;
    const std::uint64_t last = (lane_address(site, step, site.address, lane) + site.bytes - 1) / 4;
    for (std::uint64_t word = first; word <= last; ++word) words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::vector<std::uint32_t> load(parameters_.local_banks);
  std::uint32_t most = 0;
  for (const std::uint64_t word : words) {
    most = std::max(most, ++load[static_cast<std::size_t>(word % parameters_.local_banks)]);
  }
  const auto port =
      static_cast<std::uint32_t>(ceil_div(words.size() * 4, parameters_.local.bytes_per_cycle));
  return std::max(most, port);
}

}  // namespace fm
