#pragma once
// Launches that repeat are simulated a few times, then only accounted for.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/gpu/launch_policy.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/sampling/counter_cells.hpp"
#include "sim/sampling/transfer_sampler.hpp"

namespace fm {

/// Two launches are of one class when they run the same access program (kernel, parameters,
/// geometry, scalar arguments) at the same clock, follow launches that do, and find their inputs in
/// caches to the same degree (touched by a recent launch, long ago, or never). The first ones of a
/// class are simulated and recorded; each later one takes the time of a recorded one, moves all
/// counters by as much, and leaves the shared caches as if it had touched its arguments.
///
/// Classes that are long to simulate are simulated once, unless lines that start-up left in the
/// caches were part of it; all others twice, the second being the model: how far two launches of a
/// class agree says how far those of another may be off.
class LaunchSampler : public LaunchPolicy {
 public:
  /// All outlive it; all blocks have registered their counters. The first launch stops `transfers`.
  LaunchSampler(MemorySystem& memory, const CounterRegistry& registry, TransferSampler& transfers);

  void before_measured() override { finish_record(); }
  void begin(const GpuLaunch& launch, Ticks now) override;
  LaunchStep next(Ticks now) override;

  /// From now on time_bound() counts what is skipped from now on.
  void count_from_here();
  /// Most by which the time of all launches together may be wrong.
  Ticks time_bound() const;

 private:
  struct Record {
    Ticks duration = 0;
    bool settled = false;  ///< what start-up had left in the caches played no part
    bool in_turn = false;  ///< the launch before it was simulated too
    CounterCells::Moves moves;
  };
  struct LaunchClass {
    std::vector<Record> records;
    std::uint64_t skipped = 0;
    /// The latest in turn; when none was, the latest.
    const Record& model() const;
  };
  /// A simulated launch whose last writes may still be on their way to memory.
  struct Pending {
    LaunchClass* of = nullptr;
    CounterCells::Moves before;
    Bytes start_up_left;  ///< in the shared caches, not used since
    std::uint64_t dram_bytes = 0;
    bool in_turn = false;
    std::uint64_t port_bytes = 0;
    Ticks duration = 0;
  };
  enum class Phase { begun, running, skipping };
  using Key = std::vector<std::uint64_t>;

  Key key_of(const GpuLaunch& launch);
  std::uint64_t recency(const TouchedRange& range) const;
  void finish_record();
  bool may_skip(const LaunchClass& one) const;
  bool settled(const Pending& launch) const;
  bool is_long(const Record& record) const;
  static double spread(const LaunchClass& one);
  double spread_of_others() const;
  void account();
  bool quiet() const { return memory_.idle(); }

  MemorySystem& memory_;
  TransferSampler& transfers_;
  CounterCells cells_;
  std::map<Key, LaunchClass> classes_;
  std::map<const CompiledProgram*, std::uint64_t> programs_;  ///< numbered as they come
  std::map<std::uint64_t, std::uint64_t> last_touch_;         ///< by address: number of a launch
  std::uint64_t launches_ = 0;
  std::uint64_t previous_program_ = 0;
  const GpuLaunch* launch_ = nullptr;
  LaunchClass* class_ = nullptr;
  Phase phase_ = Phase::begun;
  bool simulated_last_ = true;  ///< the launch before this one
  std::optional<Pending> pending_;
  Ticks start_ = 0;
  Ticks out_of_turn_ = 0;  ///< spent by simulated launches that follow a skipped one
  Ticks later_ = 0;        ///< by other simulated launches, after something was left out
  bool left_out_ = false;  ///< a launch was skipped
  std::uint64_t skip_port_bytes_ = 0, contended_bytes_ = 0;
};

}  // namespace fm
