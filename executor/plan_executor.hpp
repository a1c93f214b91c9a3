#pragma once
// A plan made ready on a device: context, pools, preloaded weights and compiled kernels; then run,
// any number of times.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/weights_file.hpp"
#include "executor/bounds_report.hpp"
#include "executor/host_recorder.hpp"
#include "executor/plan_run.hpp"
#include "executor/program_cache.hpp"

namespace fm {

struct ExecutorOptions {
  std::optional<double> disk_bytes_per_second;  ///< throttle
  std::string cache_folder;                     ///< of program binaries; "" = none
  bool check_bounds = false;  ///< checked kernels; the plan must have enqueue_ahead = 1
  std::optional<Nanoseconds> launch_cap = std::nullopt;  ///< how long a launch may keep the device
};

class PlanExecutor {
 public:
  /// Checks the plan against the device, then preloads while a thread of its own loads programs.
  /// `plan` and `index` must outlive this. Throws UserError for what does not fit, DeviceError for
  /// what fails.
  PlanExecutor(const Plan& plan, const WeightsIndex& index, const std::string& weights_path,
               const OpenClDevice& device, const ExecutorOptions& options);

  /// Fills all activation memory with NaN; leaves no mark in the host log.
  void poison();
  /// Bytes in the tensor's layout.
  void write_input(const PlanTensor& tensor, const std::vector<std::uint8_t>& bytes);
  /// An output, or any other tensor in a pool, in its layout.
  std::vector<std::uint8_t> read_tensor(const PlanTensor& tensor);
  /// A tensor in a pool, in its layout.
  void write_tensor(const PlanTensor& tensor, const std::vector<std::uint8_t>& bytes);
  /// Fills a tensor in a pool with zeros.
  void clear(const PlanTensor& tensor);
  /// Reads first what an earlier run released of the preloaded weights.
  RunTimes run(const RunProgress& progress, LaunchObserver* observer = nullptr);

  const OpenClContext& context() const { return context_; }
  HostRecorder& recorder() { return recorder_; }
  const ProgramCache& programs() const { return programs_; }
  /// Null unless bounds are checked.
  const BoundsReport* bounds() const { return bounds_.get(); }
  Bytes bytes_read() const { return streamer_->bytes_read(); }
  /// When context and programs were ready, on the recorder's clock.
  std::uint64_t startup_ns() const { return startup_ns_; }

 private:
  OpenClContext open_context(const OpenClDevice& device);
  /// Memory, programs, preloaded weights.
  void make_ready(const WeightsIndex& index);
  /// The host operation that loaded them.
  std::uint64_t load_programs();
  void make_ring();
  /// Of preloaded weights that are not there.
  std::vector<ReadTicket> post_preloads();
  void await_preloads(const std::vector<ReadTicket>& tickets);

  HostRecorder recorder_;  // first: its clock starts here
  const Plan& plan_;
  const ReadSchedule schedule_;
  std::uint64_t context_made_ = 0;  // host operation
  OpenClContext context_;
  OpenClQueue compute_queue_;
  WeightsReader reader_;
  ProgramCache programs_;
  std::vector<std::vector<RowRead>> gathered_rows_;  // by plan.gathers, from the inputs written
  std::unique_ptr<TensorMemory> memory_;
  std::unique_ptr<StagingRing> ring_;
  std::unique_ptr<Streamer> streamer_;  // stops its thread before the memory it fills goes
  const KernelBuild build_;
  std::optional<LaunchCap> cap_;
  std::vector<const OpenClKernel*> kernels_;
  std::unique_ptr<BoundsReport> bounds_;
  std::uint64_t startup_ns_ = 0;
};

}  // namespace fm
