#include "planner/overlap/setting_candidates.hpp"

#include <algorithm>
#include <set>

#include "planner/overlap/read_pieces.hpp"

namespace fm {
namespace {

using PreloadSet = std::vector<char>;

/// Shares of the weights, the first of them, that are tried as preloads: from all down to a few, as
/// a budget may hold any of them before the first launch.
constexpr double smallest_share = 0.01;
constexpr double share_step = 0.85;

class PreloadSets {
 public:
  explicit PreloadSets(const OverlapModel& model) : model_(model) {
    sets_.insert(model.least_preload().preloaded);
  }

  /// The first weights, as many as are read and copied within `share` of the programs' loading.
  void add_by_time(double share) {
    OverlapSetting setting = model_.least_preload();
    const double limit = share * static_cast<double>(model_.program_load().count());
    for (const std::size_t w : model_.streamable()) {
      setting.preloaded[w] = 1;
      if (static_cast<double>(model_.preload_time(setting).count()) > limit) {
        setting.preloaded[w] = 0;
        break;
      }
    }
    sets_.insert(std::move(setting.preloaded));
  }

  void add_first(double share) {
    PreloadSet set = model_.least_preload().preloaded;
    const double limit = share * static_cast<double>(model_.streamable_bytes().count());
    double bytes = 0;
    for (const std::size_t w : model_.streamable()) {
      bytes += bytes_of(w);
      if (bytes > limit) break;
      set[w] = 1;
    }
    sets_.insert(std::move(set));
  }

  /// Evenly over the network: whenever the share of the bytes so far calls for another weight.
  void add_spread(double share) {
    PreloadSet set = model_.least_preload().preloaded;
    double passed = 0, taken = 0;
    for (const std::size_t w : model_.streamable()) {
      passed += bytes_of(w);
      if (taken + bytes_of(w) > share * passed) continue;
      taken += bytes_of(w);
      set[w] = 1;
    }
    sets_.insert(std::move(set));
  }

  const std::set<PreloadSet>& sets() const { return sets_; }

 private:
  double bytes_of(std::size_t w) const {
    return static_cast<double>(model_.plan().weights[w].bytes.count());
  }

  const OverlapModel& model_;
  std::set<PreloadSet> sets_;
};

/// Two chunks, or two of the widest rows, up to all images.
std::vector<Bytes> ring_sizes(const OverlapModel& model) {
  if (!model.streams_images()) return {Bytes(0)};
  const Plan& plan = model.plan();
  // Blocks that pieces take beside their bytes.
  const Bytes beside = Bytes(staging_block) * 4;
  Bytes smallest = plan.chunk_bytes * 2 + beside, all;
  for (const std::size_t w : model.streamable()) {
    const PlanTensor& tensor = plan.tensor(plan.weights[w].tensor);
    if (tensor.placement != Placement::image2d) continue;
    const std::uint64_t width = grid_extent(tensor.layout, tensor.shape).width;
    smallest = std::max(smallest, size_of(tensor.dtype) * 4 * width * 2 + beside);
    all += plan.weights[w].bytes;
  }
  std::vector<Bytes> rings;
  for (Bytes ring = smallest; ring < all; ring = ring * 2) {
    rings.push_back(ring);
    rings.push_back(round_up(ring * 3 / 2, Bytes(staging_block)));
  }
  rings.push_back(std::max(smallest, all));
  return rings;
}

}  // namespace

std::vector<OverlapSetting> setting_candidates(const OverlapModel& model, std::uint64_t runs) {
  PreloadSets sets(model);
  for (const double share : {0.25, 0.5, 0.75, 1.0}) sets.add_by_time(share);
  for (double share = 1; share > smallest_share; share *= share_step) sets.add_first(share);
  for (int eighths = 1; runs > 1 && eighths < 8; ++eighths) {
    sets.add_first(eighths / 8.0);
    sets.add_spread(eighths / 8.0);
  }
  std::vector<OverlapSetting> settings;
  for (const PreloadSet& set : sets.sets()) {
    const bool streams = std::any_of(model.streamable().begin(), model.streamable().end(),
                                     [&](std::size_t w) { return !set[w]; });
    for (const Bytes ring : streams ? ring_sizes(model) : std::vector<Bytes>{Bytes(0)}) {
      for (const int ahead : {2, 1, 4}) settings.push_back({set, runs > 1, ring, ahead, {}});
    }
  }
  return settings;
}

}  // namespace fm
