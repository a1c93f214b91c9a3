// Capacities, lines, ways and latencies of the levels of memory, from pointer chases.
#include <algorithm>
#include <cmath>
#include <optional>

#include "executor/probe/figures.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {
namespace {

/// Of medians, whose error is about 0.7 of the spread of what they are taken of: three times that.
constexpr double least_tolerance = 0.005;

/// Latency over footprint at one stride.
struct Chase {
  std::vector<CurveSample> samples;
  std::vector<Plateau> plateaus;
  double spread = 0, tolerance = least_tolerance;
};

Chase chase_of(const ProbeData& data, const std::vector<std::string>& names, std::int64_t stride) {
  std::vector<MicrobenchPoint> points;
  for (const std::string& name : names) {
    if (data.curve(name) == nullptr) continue;
    for (MicrobenchPoint& point : points_at(*data.curve(name), {{"stride", stride}})) {
      points.push_back(std::move(point));
    }
  }
  Chase chase;
  for (const MicrobenchPoint& point : points) {
    chase.samples.push_back({static_cast<double>(point.axis("footprint")), point.value});
  }
  std::sort(chase.samples.begin(), chase.samples.end(),
            [](const CurveSample& a, const CurveSample& b) { return a.x < b.x; });
  chase.spread = typical_spread(points);
  chase.tolerance = std::max(least_tolerance, 2 * chase.spread);
  chase.plateaus = plateaus_of(chase.samples, chase.tolerance);
  return chase;
}

/// Footprints a few elements or a 32nd beyond a power of two still look flat where one set of many
/// misses.
double capacity_of(const Plateau& plateau) {
  const double power = std::exp2(std::floor(std::log2(plateau.last)));
  return plateau.last <= power * (1 + 1.0 / 32) ? power : plateau.last;
}

struct Level {
  double capacity = 0, next = 0;  ///< flat up to, not any more at
  std::string where;              ///< of which curve
};

/// Fine steps first; where only the coarse stride reaches, its knees. Of a shuffled ring, the
/// elements of a line come far apart: only a line a hop makes sharp knees.
std::vector<Level> levels_of(const Chase& fine, const Chase& coarse, RingOrder order) {
  std::vector<Level> levels;
  for (const Plateau& plateau : fine.plateaus) {
    if (plateau.next == 0 || order == RingOrder::shuffled) continue;
    levels.push_back({capacity_of(plateau), plateau.next, "stride 16"});
  }
  for (const Plateau& plateau : coarse.plateaus) {
    const double capacity = capacity_of(plateau);
    if (plateau.next == 0 || (!levels.empty() && capacity < 1.5 * levels.back().capacity)) continue;
    levels.push_back({capacity, plateau.next, "stride 64"});
  }
  return levels;
}

/// Capacities that are known already; the second level is shared out among the cores.
std::vector<Level> known_levels(const Figures& figures, double cores) {
  std::vector<Level> levels;
  for (const auto& [path, parts] :
       {std::pair("load_store.cache_size", 1.0), {"l2.size", cores}, {"slc.size", 1.0}}) {
    if (const Figure* size = figures.find(path)) levels.push_back({size->number / parts, 0, ""});
  }
  return levels;
}

/// Well inside a level's capacity, well beyond that of the level before, but not so far beyond that
/// translations miss.
std::optional<double> median_within(const Chase& chase, double above, double up_to) {
  std::vector<double> values;
  for (const CurveSample& sample : chase.samples) {
    const bool near = above == 0 || sample.x <= 6 * above;
    if (sample.x >= 1.5 * above && sample.x <= 0.75 * up_to && near) values.push_back(sample.y);
  }
  if (values.empty()) return {};
  return median(values);
}

/// The plateau that lies between two footprints.
const Plateau* plateau_within(const Chase& chase, double above, double up_to) {
  for (const Plateau& plateau : chase.plateaus) {
    if (plateau.first > above && plateau.first <= up_to) return &plateau;
  }
  return nullptr;
}

double nearest_power(double number) { return std::exp2(std::round(std::log2(number))); }

/// The first line too many shows at the first element beyond, the second one a line later.
std::optional<double> line_by_steps(const Chase& chase, double capacity) {
  std::vector<CurveSample> beyond;
  for (const CurveSample& sample : chase.samples) {
    if (sample.x > capacity && sample.x <= capacity + 64) beyond.push_back(sample);
  }
  const Plateau& before = chase.plateaus.front();
  if (beyond.size() < 4 || beyond[0].y < before.level * (1 + 2 * chase.tolerance)) return {};
  for (std::size_t i = 1; i < beyond.size(); ++i) {
    if (beyond[i].y > beyond[0].y * (1 + 2 * chase.tolerance)) return beyond[i].x - beyond[0].x;
  }
  return {};
}

/// A miss takes as long at every stride, and comes 16/line times a hop at a stride of 16.
std::optional<double> line_by_strides(const Chase& fine, double fine_rise, double coarse_rise,
                                      double level) {
  if (fine_rise < 3 * fine.tolerance * level || coarse_rise <= 0) return {};
  const double line = 16 * coarse_rise / fine_rise;
  const double power = nearest_power(line);
  if (std::abs(std::log2(line / power)) > 0.2 || power < 16 || power > 64) return {};
  return power;
}

/// LRU misses everywhere in a set that has one line too many: all is flat again a way later.
std::optional<double> ways_of(const Chase& chase, const Level& level) {
  const Plateau* after = plateau_within(chase, level.capacity, 2 * level.capacity);
  const Plateau* before = plateau_within(chase, 0, level.capacity);
  if (after == nullptr || before == nullptr) return {};
  const double rise = after->level - before->level;
  double least = level.capacity;
  for (const CurveSample& sample : chase.samples) {
    if (sample.x <= level.capacity) continue;
    if (sample.y < after->level - 0.05 * rise - chase.tolerance * after->level) {
      least = sample.x;
      continue;
    }
    const double ways = level.capacity / (sample.x - level.capacity);
    const double power = nearest_power(ways);
    // One line short of all sets is as good as all; anything else is too coarse to tell.
    if (least == level.capacity || ways < power * 0.7 || ways > power * 1.4) return {};
    return power;
  }
  return {};
}

class BufferLevels {
 public:
  BufferLevels(const ProbeData& data, const DeviceConfig& base, Figures* figures)
      : base_(base), figures_(*figures), order_(data.order), clock_(data.clock_hertz) {
    fine_ = chase_of(data, {"pointer_chase_buffer"}, 16);
    coarse_ = chase_of(data, {"pointer_chase_buffer", "pointer_chase_lines"}, 64);
    if (order_ == RingOrder::shuffled) drop_short_plateaus();
    known_ = computes_one_by_one(base) && figures->find("load_store.cache_size") != nullptr;
    levels_ = known_ ? known_levels(*figures, data.cores) : levels_of(fine_, coarse_, order_);
    for (const char* room : {"load_store", "cluster", "l2", "slc"}) {
      const bool there =
          std::string(room) == "slc" ||
          base.bytes(std::string(room) +
                     (std::string(room) == "load_store" ? ".cache_size" : ".size")) > Bytes(0);
      if (there) rooms_.emplace_back(room);
    }
  }

  void add() {
    add_first_latency();
    if (levels_.size() > rooms_.size()) return add_too_many();
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      if (known_) {
        if (i > 0) add_latency(i);
        continue;
      }
      if (i < levels_.size()) {
        add_capacity(i);
        add_line(i);
        add_ways(i);
      } else {
        absent(rooms_[i] + (rooms_[i] == "load_store" ? ".cache_size" : ".size"),
               "the pointer chase shows " + std::to_string(levels_.size()) +
                   " capacities, fewer than the base has levels");
      }
      if (i > 0) add_latency(i);
    }
    add_last();
  }

 private:
  /// Between the levels of a CPU, translations and shared caches make slopes.
  void drop_short_plateaus() {
    auto& all = coarse_.plateaus;
    all.erase(
        std::remove_if(all.begin(), all.end(),
                       [](const Plateau& plateau) { return plateau.last < 2 * plateau.first; }),
        all.end());
  }
  void absent(const std::string& path, const std::string& reason) {
    figures_.not_visible.push_back({path, reason});
  }
  void found(const std::string& path, double number, double spread, const std::string& how) {
    Figure figure;
    figure.path = path;
    figure.number = number;
    figure.spread = spread;
    figure.how = "pointer_chase_buffer, " + how;
    figures_.found.push_back(std::move(figure));
  }
  double base_number(const std::string& path) const {
    return figures_.number_or(path, base_.values().at(path).number);
  }
  double cycles(double nanoseconds) const { return nanoseconds * clock_ / 1e9; }
  /// Of hits in level `i`, every hop a line of it; nothing where no plateau shows it.
  std::optional<double> level_ns(std::size_t i) const {
    if (known_) {
      if (i >= levels_.size()) return {};
      return median_within(coarse_, i == 0 ? 0 : levels_[i - 1].capacity, levels_[i].capacity);
    }
    if (i == 0) {
      const Chase& chase = order_ == RingOrder::shuffled ? coarse_ : fine_;
      if (chase.plateaus.empty()) return {};
      return chase.plateaus.front().level;
    }
    if (i > levels_.size()) return {};
    const double up_to = i < levels_.size() ? levels_[i].capacity : 1e18;
    const Plateau* plateau = plateau_within(coarse_, levels_[i - 1].capacity, up_to);
    if (plateau == nullptr) return {};
    return plateau->level;
  }

  void add_first_latency() {
    if (!level_ns(0)) return absent("load_store.latency", "the pointer chase has no flat start");
    const double loop = base_number("gpu.arithmetic_latency") + 1;
    found("load_store.latency", std::max(1.0, std::round(cycles(*level_ns(0)) - loop)),
          fine_.spread,
          short_number(*level_ns(0)) + " ns a hop in the first level, less " + short_number(loop) +
              " cycles of the loop");
  }

  void add_capacity(std::size_t i) {
    const bool shared = rooms_[i] == "slc";
    const double share = shared ? base_number("slc.gpu_share") : 1;
    const std::string name =
        rooms_[i] == "load_store" ? "load_store.cache_size" : rooms_[i] + ".size";
    found(name, std::round(levels_[i].capacity / share), i == 0 ? fine_.spread : coarse_.spread,
          levels_[i].where + ": flat up to " + bytes_text(levels_[i].capacity) + ", higher at " +
              bytes_text(levels_[i].next) + (shared ? ", over slc.gpu_share" : ""));
  }

  void add_line(std::size_t i) {
    if (i >= 3 || rooms_[i] == "slc") return;
    const std::string path = rooms_[i] + ".line";
    if (order_ == RingOrder::shuffled) {
      return absent(path, "a shuffled ring's hops are lines whatever the line");
    }
    if (const auto line = i == 0 ? line_by_steps(fine_, levels_[0].capacity) : std::nullopt) {
      return found(path, *line, fine_.spread, "steps of latency beyond the capacity");
    }
    const double end = i + 1 < levels_.size() ? levels_[i + 1].capacity : 1e18;
    const Plateau* after = plateau_within(fine_, levels_[i].capacity, end);
    const Plateau* before =
        plateau_within(fine_, i == 0 ? 0 : levels_[i - 1].capacity, levels_[i].capacity);
    const auto line = after == nullptr || before == nullptr || !level_ns(i + 1) || !level_ns(i)
                          ? std::nullopt
                          : line_by_strides(fine_, after->level - before->level,
                                            *level_ns(i + 1) - *level_ns(i), before->level);
    if (!line) return absent(path, "no steps beyond the capacity, and no ratio between strides");
    found(path, *line, fine_.spread,
          std::string("rise at a stride of 64 B over that at 16 B") +
              (*line == 64 ? ": 64 B or more" : ""));
  }

  void add_ways(std::size_t i) {
    if (rooms_[i] == "slc") return;
    const auto ways = order_ == RingOrder::shuffled ? std::nullopt : ways_of(fine_, levels_[i]);
    if (!ways) return absent(rooms_[i] + ".ways", "latency does not rise within one way of LRU");
    found(rooms_[i] + ".ways", *ways, fine_.spread,
          "all misses one way beyond " + bytes_text(levels_[i].capacity));
  }

  /// What a hit adds to that of the level before, less the ways there and back.
  void add_latency(std::size_t i) {
    const std::string path = rooms_[i] + ".latency";
    if (!level_ns(i) || !level_ns(i - 1)) {
      return absent(path, "no plateau at a stride of 64 B lies between the capacities");
    }
    if (i >= levels_.size()) return absent(path, "the level has no end: it may be memory");
    const double more = *level_ns(i) - *level_ns(i - 1);
    if (rooms_[i] == "slc") {
      return found(path, more * 1e3, coarse_.spread, short_number(more) + " ns more than the L2");
    }
    const double line = base_number(rooms_[i - 1] + ".line");
    const double transfer = std::ceil(line / base_number(rooms_[i] + ".bytes_per_clock"));
    const double way = rooms_[i] == "l2" ? 2 * base_number("noc.latency") : 0;
    const double left = std::round(cycles(more) - transfer - way - 1);
    if (left < 1) return absent(path, "less than the ways there and back");
    found(path, left, coarse_.spread,
          short_number(*level_ns(i)) + " ns a hop, less " + short_number(*level_ns(i - 1)) +
              " ns before it and " + short_number(transfer + way + 1) + " cycles of transfer");
  }

  /// Which of them the base lacks is not to be told from the curve.
  void add_too_many() {
    std::string capacities;
    for (const Level& level : levels_) {
      capacities += (capacities.empty() ? "" : ", ") + bytes_text(level.capacity);
    }
    for (const std::string& room : rooms_) {
      absent(room + (room == "load_store" ? ".cache_size" : ".size"),
             "the pointer chase shows capacities of " + capacities + ", the base has " +
                 std::to_string(rooms_.size()) + " levels: choose a base of as many");
    }
    add_last();
  }

  void add_last() {
    if (coarse_.plateaus.empty() || levels_.empty()) return;
    const Plateau& last = coarse_.plateaus.back();
    if (last.next != 0 || last.first <= levels_.back().capacity) return;
    figures_.observations.push_back(
        {"latency beyond all caches", short_number(last.level) + " ns a hop"});
  }

  const DeviceConfig& base_;
  Figures& figures_;
  RingOrder order_;
  double clock_;
  bool known_ = false;  ///< capacities are; only latencies are sought
  Chase fine_, coarse_;
  std::vector<Level> levels_;
  std::vector<std::string> rooms_;
};

void add_image_levels(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  const Chase chase = chase_of(data, {"pointer_chase_image"}, 16);
  const auto found = [&](const std::string& path, double number, const std::string& how) {
    figures->found.push_back({path, number, {}, chase.spread, "pointer_chase_image, " + how});
  };
  if (chase.plateaus.empty()) {
    figures->not_visible.push_back({"texture.latency", "the image chase has no flat start"});
    return;
  }
  const Plateau& first = chase.plateaus.front();
  const double loop = base.values().at("gpu.arithmetic_latency").number + 1;
  found(
      "texture.latency", std::max(1.0, std::round(first.level * data.clock_hertz / 1e9 - loop)),
      short_number(first.level) + " ns a hop, less " + short_number(loop) + " cycles of the loop");
  if (figures->find("texture.cache_size") != nullptr) return;
  if (first.next == 0) {
    figures->not_visible.push_back(
        {"texture.cache_size", "latency is flat up to " + bytes_text(first.last)});
    return;
  }
  const Level level{capacity_of(first), first.next, ""};
  found("texture.cache_size", level.capacity,
        "flat up to " + bytes_text(level.capacity) + ", higher at " + bytes_text(level.next));
  const bool in_order = data.order == RingOrder::sequential;
  if (const auto line = in_order ? line_by_steps(chase, level.capacity) : std::nullopt) {
    found("texture.line", *line, "steps of latency beyond the capacity");
  } else {
    figures->not_visible.push_back({"texture.line", "no steps of latency beyond the capacity"});
  }
  if (const auto ways = in_order ? ways_of(chase, level) : std::nullopt) {
    found("texture.ways", *ways, "all misses one way beyond the capacity");
  } else {
    figures->not_visible.push_back({"texture.ways", "latency does not rise within one way of LRU"});
  }
}

void add_tile_shape(const ProbeData& data, Figures* figures) {
  const MicrobenchCurve* curve = data.curve("block_walk_image");
  if (curve == nullptr) return;
  const auto less = [](const MicrobenchPoint& a, const MicrobenchPoint& b) {
    return a.value < b.value;
  };
  const auto [least, most] = std::minmax_element(curve->points.begin(), curve->points.end(), less);
  const auto shape = [](const MicrobenchPoint& point) {
    return std::to_string(point.axis("across")) + " x " + std::to_string(point.axis("down"));
  };
  figures->observations.push_back(
      {"walks over an image", "quickest in blocks of " + shape(*least) + " (" +
                                  short_number(least->value) + " ns a hop), slowest of " +
                                  shape(*most) + " (" + short_number(most->value) + " ns)"});
  figures->not_visible.push_back(
      {"texture.block_bytes", "which blocks share a line shows, how lines lie together does not"});
}

}  // namespace

void add_latency_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  if (data.curve("pointer_chase_buffer") != nullptr) BufferLevels(data, base, figures).add();
  if (data.curve("pointer_chase_image") != nullptr) add_image_levels(data, base, figures);
  if (!computes_one_by_one(base)) add_tile_shape(data, figures);
}

}  // namespace fm
