#pragma once
// Running the logging build for chosen work-groups.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/opencl_objects.hpp"
#include "executor/program_cache.hpp"
#include "executor/recorder/group_log.hpp"
#include "executor/recorder/recording_kernel.hpp"

namespace fm {

/// Compiles once and runs as often as asked. No tensor is allocated: loads are stubbed, stores not
/// made; only index tensors are real.
class GroupRecorder : public GroupSource {
 public:
  GroupRecorder(const OpenClContext& context, ProgramCache& cache, const RecordingKernel& kernel,
                const IndexBuffers& index);
  ~GroupRecorder() override;

  /// Hands over the groups' logs in order. The log buffer stays within 4 MiB, so groups run in
  /// batches.
  void record(const std::vector<GroupId>& groups,
              const std::function<void(GroupLog)>& take) override;

 private:
  struct Objects;
  std::uint32_t run_batch(const std::vector<GroupId>& groups);
  void bind_arguments(const IndexBuffers& index);
  std::string title() const;  // for messages
  void ensure_log(std::size_t groups);

  const OpenClContext& context_;
  const RecordingKernel& kernel_;
  std::unique_ptr<Objects> objects_;
  std::uint32_t room_ = 1024;  // words a work-item
  std::vector<std::uint32_t> log_;
};

}  // namespace fm
