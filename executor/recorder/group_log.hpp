#pragma once
// Running the logging build for chosen work-groups.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "executor/opencl_objects.hpp"
#include "executor/program_cache.hpp"
#include "executor/recorder/log_walk.hpp"
#include "executor/recorder/recording_kernel.hpp"

namespace fm {

using GroupId = std::array<std::uint32_t, 3>;

/// The logs of one work-group's items, in linear local order.
class GroupLog {
 public:
  /// `slots`: items times `room` words as the device wrote them.
  GroupLog(GroupId group, std::array<std::uint32_t, 3> local_size, const std::uint32_t* slots,
           std::uint32_t room);
  const GroupId& group() const { return group_; }
  std::uint32_t items() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  ItemLog item(std::uint32_t linear) const;
  std::size_t bytes() const { return 4 * words_.size(); }

 private:
  GroupId group_;
  std::array<std::uint32_t, 3> local_size_;
  std::vector<std::uint32_t> words_;
  std::vector<std::size_t> first_;  // of each item, plus the end
};

/// Compiles once and runs as often as asked. No tensor is allocated: loads are stubbed, stores not
/// made; only index tensors are real.
class GroupRecorder {
 public:
  GroupRecorder(const OpenClContext& context, ProgramCache& cache, const RecordingKernel& kernel,
                const IndexBuffers& index);
  ~GroupRecorder();

  /// Hands over the groups' logs in order. The log buffer stays within 64 MiB, so groups run in
  /// batches.
  void record(const std::vector<GroupId>& groups, const std::function<void(GroupLog)>& take);

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
