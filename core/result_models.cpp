#include <algorithm>

#include "core/result.hpp"

namespace fm {
namespace {

Bytes resident(const MemorySample& sample) { return sample.claims.total() + sample.driver; }

Bytes peak_between(const std::vector<MemorySample>& samples, Nanoseconds start, Nanoseconds end) {
  Bytes before, peak;
  for (const MemorySample& sample : samples) {
    if (sample.time <= start) {
      before = resident(sample);
    } else if (sample.time <= end) {
      peak = std::max(peak, resident(sample));
    }
  }
  return std::max(before, peak);
}

bool is_kernel(const ResultLaunch& launch) {
  return !launch.kernel.empty() && launch.kernel != "copy";
}

}  // namespace

std::vector<ResultModel> models_of(const Result& result) {
  std::vector<ResultModel> models;
  for (const ResultLaunch& launch : result.launches) {
    if (launch.model.empty() || !is_kernel(launch)) continue;
    const auto known = std::find_if(models.begin(), models.end(), [&](const ResultModel& model) {
      return model.name == launch.model;
    });
    if (known == models.end()) {
      models.push_back({launch.model, launch.start, launch.end, launch.end, Bytes(0)});
      continue;
    }
    known->start = std::min(known->start, launch.start);
    known->integrated = known->end = std::max(known->end, launch.end);
  }
  for (ResultModel& model : models) {
    model.peak = peak_between(result.memory.over_time, model.start, model.end);
  }
  std::stable_sort(models.begin(), models.end(),
                   [](const ResultModel& a, const ResultModel& b) { return a.start < b.start; });
  return models;
}

}  // namespace fm
