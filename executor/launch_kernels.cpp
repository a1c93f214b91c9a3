#include "executor/launch_kernels.hpp"

#include <map>
#include <utility>

#include "core/diagnostics.hpp"
#include "executor/plan_names.hpp"

namespace fm {
namespace {

void check_work_group(const OpenClKernel& kernel, const PlanLaunch& launch,
                      const OpenClDevice& device) {
  std::size_t limit = 0;
  check_opencl(opencl().clGetKernelWorkGroupInfo(kernel.get(), device.id, CL_KERNEL_WORK_GROUP_SIZE,
                                                 sizeof limit, &limit, nullptr),
               "clGetKernelWorkGroupInfo", "reading the work-group limit of " + launch.kernel);
  const std::uint64_t items = launch.local[0] * launch.local[1] * launch.local[2];
  if (items > limit) {
    throw DeviceError(named(launch) + ": " + device.name + " can run kernel " + launch.kernel +
                      " with at most " + std::to_string(limit) +
                      " work-items a group, the plan has " + std::to_string(items));
  }
}

}  // namespace

std::vector<const OpenClKernel*> build_kernels(const Plan& plan, const OpenClContext& context,
                                               ProgramCache& cache, const KernelBuild& build) {
  std::vector<const OpenClKernel*> kernels;
  std::map<std::pair<std::string, std::string>, const OpenClKernel*> built;
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind == LaunchKind::copy) {
      kernels.push_back(nullptr);
      continue;
    }
    const std::string options = compile_options(plan, launch, build);
    const OpenClKernel*& kernel = built[{launch.kernel, options}];
    if (!kernel) kernel = &cache.kernel(launch.kernel, kernel_source(plan, launch, build), options);
    check_work_group(*kernel, launch, context.device());
    kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace fm
