#pragma once
// Times of one launch with other tiles, alone on the device.

#include "core/plan.hpp"
#include "executor/program_cache.hpp"
#include "kernels/tile_file.hpp"

namespace fm {

class TileTuner {
 public:
  /// Both outlive it.
  TileTuner(const OpenClContext& context, ProgramCache& cache);

  /// The launch's own tile and the best candidates by estimate are measured; the fastest wins.
  TunedTile tune(const Plan& plan, const PlanLaunch& launch);

 private:
  /// Nanoseconds of the fastest of several runs.
  double measure(const Plan& plan, const PlanLaunch& launch,
                 const std::vector<KernelValue>& arguments);

  const OpenClContext& context_;
  ProgramCache& cache_;
  OpenClQueue queue_;
};

}  // namespace fm
