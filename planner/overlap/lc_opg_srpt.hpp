#pragma once
// The best schedule for a given W: shortest remaining work first, in reversed
// time.
//
// Read backwards, weight w is a job of T(w) chunks released when its consumer
// is passed, layer l a slot of C_l chunks, and the loading distance the time
// from release to completion. All deadlines are the first layer, so a rule that
// never idles meets them whenever one can; shortest remaining work first has
// the most jobs finished at every instant, hence the least sum of distances
// (Schrage 1968, for one machine; a slot of C_l chunks is C_l unit steps at one
// instant).

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/overlap/lc_opg_instance.hpp"

namespace fm {

/// Chunks of one weight in one layer.
struct LcOpgShare {
  std::int64_t layer = 0;
  std::int64_t chunks = 0;
};

/// By weight of the instance: its shares in ascending layers, none for a
/// preloaded one. Its z_w is the layer of the first share.
using LcOpgShares = std::vector<std::vector<LcOpgShare>>;

/// nullopt when the weights outside W do not fit the layers before their
/// consumers.
std::optional<LcOpgShares> srpt_schedule(const LcOpgInstance& instance,
                                         const std::vector<char>& preloaded);

/// chunk_cost * chunks in W + layer_cost * sum of distances.
std::int64_t cost_of(const LcOpgInstance& instance, const std::vector<char>& preloaded,
                     const LcOpgShares& shares);

}  // namespace fm
