#pragma once
// What the DRAM channels count, and the laws their counts obey.

#include <vector>

#include "core/result.hpp"
#include "sim/memory/cache_level.hpp"
#include "sim/memory/dram_channel.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

void register_counters(const DramSystem& dram, CounterRegistry& registry);
void append_dram_checks(const DramSystem& dram, const CacheLevel& above,
                        std::vector<ResultCheck>* checks);

}  // namespace fm
