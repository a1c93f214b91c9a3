#pragma once
// Times of one launch with other tiles, alone on the device.

#include "core/plan.hpp"
#include "executor/launch_memory.hpp"
#include "executor/program_cache.hpp"
#include "kernels/tile_file.hpp"

namespace fm {

class TileTuner {
 public:
  /// Both outlive it.
  TileTuner(const OpenClContext& context, ProgramCache& cache);

  /// The launch's own tile and the best candidates by estimate are measured in turn, several times:
  /// what else the computer does then meets all of them. The fastest wins.
  TunedTile tune(const Plan& plan, const PlanLaunch& launch);
  /// Some run was timed by the host's clock: the driver gave no times.
  bool host_timed() const { return host_timed_; }

 private:
  struct Contestant {
    PlanLaunch launch;
    const OpenClKernel* kernel = nullptr;  // of the cache
    double best_ns = 0;
    std::size_t repetitions = 1;  // of a run
  };
  Contestant prepare(const Plan& plan, const PlanLaunch& launch,
                     const std::vector<KernelValue>& arguments);
  LaunchTime run(const Contestant& contestant);

  const OpenClContext& context_;
  ProgramCache& cache_;
  OpenClQueue queue_;
  bool host_timed_ = false;
};

}  // namespace fm
