// Read latencies of all levels as a result shows them.

#include <algorithm>

#include "sim/memory/cache_level.hpp"
#include "sim/memory/memory_system.hpp"

namespace fm {
namespace {

template <class Histogram>
void append(const std::string& name, const std::string& description,
            const std::array<Histogram, memory_client_count>& by_client,
            std::vector<ResultHistogram>* histograms) {
  for (std::size_t client = 0; client < memory_client_count; ++client) {
    const auto& counts = by_client[client].counts();
    if (std::all_of(counts.begin(), counts.end(), [](std::uint64_t count) { return count == 0; })) {
      continue;
    }
    ResultHistogram histogram;
    histogram.name = name;
    histogram.client = to_string(static_cast<MemoryClient>(client));
    histogram.unit = "GPU cycles";
    histogram.description = description;
    histogram.bounds = Histogram::bounds();
    histogram.counts.assign(counts.begin(), counts.end());
    histograms->push_back(std::move(histogram));
  }
}

void append_level(const std::string& name, const std::vector<const CacheLevel*>& levels,
                  std::vector<ResultHistogram>* histograms) {
  CacheLevel::ReadLatencies reads{};
  CacheLevel::ExternalLatencies external{};
  for (const CacheLevel* level : levels) {
    for (std::size_t client = 0; client < memory_client_count; ++client) {
      reads[client].add(level->read_latencies()[client]);
      external[client].add(level->external_latencies()[client]);
    }
  }
  append(name + ".read_latency", "Reads, from their arrival to the answer's leaving", reads,
         histograms);
  append(name + ".external_read_latency",
         "Reads of the level below, there and back (Arm L2_EXT_RRESP_0_127 to _320_383)", external,
         histograms);
}

}  // namespace

std::vector<ResultHistogram> MemorySystem::latency_histograms() const {
  std::vector<ResultHistogram> histograms;
  std::vector<const CacheLevel*> clusters;
  for (const auto& cluster : clusters_) clusters.push_back(cluster.get());
  append_level("cluster", clusters, &histograms);
  append_level("l2", {l2_.get()}, &histograms);
  append_level("slc", {slc_.get()}, &histograms);
  return histograms;
}

}  // namespace fm
