#include "sim/gpu/line_plan.hpp"

#include <algorithm>
#include <cmath>
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
    : parameters_(parameters) {
  for (const CompiledSite& site : launch.program->sites()) sites_.push_back(bind(site, launch));
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
  if (site.image && site.layout.order() != TexelOrder::linear) {
    return site.layout.tile_width() * site.layout.tile_height();
  }
  return site.line_bytes;
}

bool LinePlanner::inside(const SitePlan& site, const WaveStep& step) {
  if (!site.image) return true;
  const LanePattern& pattern = *step.pattern;
  return step.x + pattern.x_min >= 0 && step.y + pattern.y_min >= 0 &&
         step.x + pattern.x_max < site.layout.width() &&
         step.y + pattern.y_max < site.layout.height();
}

PlannedAccess LinePlanner::plan(const WaveStep& step, std::uint64_t local_base) {
  SitePlan& site = sites_[step.site];
  const std::uint64_t object = site.local ? local_base + site.address : site.address;
  PlannedAccess access;
  if (!inside(site, step) || step.pattern->id == LanePattern::not_interned) {
    scratch_.clear();
    const LinePlan plan = build(site, step, object, 0, &scratch_);
    access.lines = scratch_.data();
    access.count = plan.count;
    access.pipe_cycles = plan.pipe_cycles;
    access.quads = plan.quads;
    access.index = PlannedAccess::unkept;
    return access;
  }
  std::uint32_t phase = 0;
  if (site.image && site.layout.order() != TexelOrder::linear) {
    const auto x = static_cast<std::uint32_t>(step.x), y = static_cast<std::uint32_t>(step.y);
    const std::uint32_t width = site.layout.tile_width(), height = site.layout.tile_height();
    phase = y % height * width + x % width;
    access.base =
        object + y / height * site.layout.band_bytes() + x / width * site.layout.tile_bytes();
  } else {
    const std::uint64_t first = lane_address(site, step, object, step.pattern->mask.first());
    phase = static_cast<std::uint32_t>(first % site.line_bytes);
    access.base = first - phase;
  }
  if (site.kept.size() <= step.pattern->id) site.kept.resize(step.pattern->id + 1);
  std::vector<std::int32_t>& kept = site.kept[step.pattern->id];
  if (kept.empty()) kept.resize(phases(site));
  if (kept[phase] == 0) {
    plans_.push_back(build(site, step, object, access.base, &lines_));
    kept[phase] = static_cast<std::int32_t>(plans_.size());
  }
  const LinePlan& plan = plans_[static_cast<std::size_t>(kept[phase]) - 1];
  access.lines = lines_.data() + plan.first;
  access.index = plan.first;
  access.count = plan.count;
  access.pipe_cycles = plan.pipe_cycles;
  access.quads = plan.quads;
  return access;
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

LinePlan LinePlanner::build(const SitePlan& site, const WaveStep& step, std::uint64_t object,
                            std::uint64_t base, std::vector<PlannedLine>* lines) const {
  LinePlan plan;
  plan.first = static_cast<std::uint32_t>(lines->size());
  std::uint64_t last_quad = ~std::uint64_t{0};
  for (std::uint32_t lane = 0; lane < parameters_.wave_width; ++lane) {
    if (!step.pattern->mask.test(lane)) continue;
    if (lane / 4 != last_quad) {
      last_quad = lane / 4;
      ++plan.quads;
    }
    const std::uint64_t first = lane_address(site, step, object, lane);
    const std::uint64_t end = first + site.bytes;
    for (std::uint64_t piece = first; piece < end;) {
      const std::uint64_t line = piece / site.line_bytes * site.line_bytes;
      const std::uint64_t piece_end = std::min(end, line + site.line_bytes);
      const std::uint64_t mask =
          range_mask(piece, static_cast<std::uint32_t>(piece_end - piece), site.line_bytes);
      const auto offset = static_cast<std::int64_t>(line - base);
      const auto known =
          std::find_if(lines->begin() + plan.first, lines->end(),
                       [&](const PlannedLine& planned) { return planned.offset == offset; });
      if (known == lines->end()) {
        lines->push_back({offset, mask});
      } else {
        known->mask |= mask;
      }
      piece = piece_end;
    }
  }
  plan.count = static_cast<std::uint32_t>(lines->size()) - plan.first;
  if (site.unit == Unit::local) {
    plan.pipe_cycles = bank_cycles(site, step);
  } else if (site.unit == Unit::texture) {
    plan.pipe_cycles = texture_cycles(site, plan.quads, plan.count);
  } else {
    // Lanes that share a line share its cycle, a broadcast included (Arm Valhall shader core
    // guide).
    const auto data = static_cast<std::uint32_t>(ceil_div(
        std::uint64_t{plan.count} * site.line_bytes, parameters_.load_store.bytes_per_cycle));
    plan.pipe_cycles = std::max(
        data, static_cast<std::uint32_t>(
                  std::ceil(step.pattern->mask.count() / parameters_.load_store.lanes_per_cycle)));
  }
  plan.pipe_cycles = std::max(1u, plan.pipe_cycles);
  return plan;
}

std::uint32_t LinePlanner::texture_cycles(const SitePlan& site, std::uint32_t quads,
                                          std::uint32_t lines) const {
  const double cost = site.bytes > 4 ? parameters_.wide_texel_ratio : 1.0;
  const auto sample =
      static_cast<std::uint32_t>(std::ceil(quads * 4 * cost / parameters_.texels_per_cycle));
  const auto data = static_cast<std::uint32_t>(
      ceil_div(std::uint64_t{quads} * 4 * site.bytes, parameters_.texture.bytes_per_cycle));
  const auto look_ups = static_cast<std::uint32_t>(
      ceil_div(std::uint64_t{lines} * site.line_bytes,
               std::max(site.line_bytes, parameters_.texture.bytes_per_cycle)));
  return std::max({sample, data, look_ups});
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
