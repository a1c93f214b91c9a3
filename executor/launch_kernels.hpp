#pragma once
// The compiled kernel of every launch of a plan.

#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/program_cache.hpp"
#include "kernels/catalogue.hpp"

namespace fm {

/// By position in plan.launches; null for copies. Launches with one source and options share a
/// kernel of `cache`. Throws DeviceError when a kernel does not build or cannot run with the
/// planned work-group size.
std::vector<const OpenClKernel*> build_kernels(const Plan& plan, const OpenClContext& context,
                                               ProgramCache& cache, const KernelBuild& build = {});

}  // namespace fm
