#pragma once
// What shader cores count, and the laws their counts obey.

#include <memory>
#include <vector>

#include "core/result.hpp"
#include "sim/gpu/shader_core.hpp"
#include "sim/memory/cache_level.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

void register_counters(const ShaderCore& core, CounterRegistry& registry);
void append_core_checks(const std::vector<std::unique_ptr<ShaderCore>>& cores,
                        const TrafficCounts& arrived, const Mmu& mmu,
                        std::vector<ResultCheck>* checks);

}  // namespace fm
