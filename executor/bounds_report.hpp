#pragma once
// What the checked build of kernels (kernels/access_checked.clh) says of accesses outside tensors.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan.hpp"
#include "executor/opencl_objects.hpp"
#include "kernels/catalogue.hpp"

namespace fm {

/// One launch at a time: the plan must run with enqueue_ahead = 1.
class BoundsReport {
 public:
  /// `ring`: of the staging ring. All references outlive it.
  BoundsReport(const OpenClContext& context, const OpenClQueue& queue, const Plan& plan, Bytes ring,
               const KernelBuild& build);

  /// The kernel's last argument, with the extents of what the launch uses.
  cl_mem begin(std::size_t launch);
  /// After the launch. Throws VerificationError naming launch, access, index and extent.
  void check(std::size_t launch);
  std::size_t launches() const { return launches_; }

 private:
  const OpenClQueue& queue_;
  const Plan& plan_;
  const Bytes ring_;
  const KernelBuild build_;
  OpenClMemory buffer_;
  std::vector<std::int32_t> words_;  // of the launch under way
  std::size_t launches_ = 0;
};

}  // namespace fm
