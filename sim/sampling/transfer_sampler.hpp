#pragma once
// Disk reads and copies before the first launch: a part is simulated line by line, the rest of the
// lines only accounted for.

#include <array>
#include <cstdint>
#include <functional>

#include "core/trace_file.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/memory/transfer_policy.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/sampling/counter_cells.hpp"

namespace fm {

/// Preloading is one long stream of pages from the disk and pieces of copies. Once the caches are
/// full of it, two windows are measured, each between two moments with nothing in flight. From then
/// on disk and copy engine work as ever, but their transfers end after the mean time of those in
/// the windows, and all counters move by as much as a window did whenever another has gone by. The
/// first launch ends it: its traffic is not to be mixed with a stream that is not simulated.
class TransferSampler : public TransferPolicy {
 public:
  /// All arguments outlive it; all blocks have registered their counters.
  TransferSampler(MemorySystem& memory, const CounterRegistry& registry, Agenda& agenda,
                  const Trace& trace, std::uint64_t cache_bytes);

  bool take(MemoryClient client, const MemoryTransfer& transfer,
            std::function<void()>* done) override;
  /// No more sampling.
  void stop() { phase_ = Phase::stopped; }
  /// Whether any transfer was accounted for and not simulated.
  bool left_out() const { return accounted_bytes_ != 0; }
  /// Most by which the time of the transfers that were not simulated may be wrong.
  Ticks time_bound() const;

 private:
  enum class Phase { filling, first_window, second_window, accounting, stopped };
  enum Kind : std::size_t { disk_write, copy_read, copy_write, kind_count };
  using ByKind = std::array<std::uint64_t, kind_count>;

  void note_idle(Ticks now);
  void open_window(Ticks now);
  void grant();
  void count_windows();
  Picoseconds mean_time(Kind kind) const;

  MemorySystem& memory_;
  CounterCells cells_;
  Agenda& agenda_;
  std::uint64_t fill_bytes_;
  ByKind
      remaining_{};  ///< of the whole trace, not yet transferred; copies write as much as they read
  Phase phase_ = Phase::filling;
  ByKind moved_{};              ///< in this phase, bytes
  ByKind counted_{}, time_{};   ///< transfers that ended in the windows, and how long they took
  CounterCells::Moves before_;  ///< at the start of the window
  CounterCells::Moves moves_;   ///< of both windows
  ByKind window_bytes_{};       ///< of both windows
  Ticks window_start_ = 0;
  std::uint64_t window_port_bytes_ = 0;
  std::array<double, 2> pace_{};  ///< ps a byte from the disk, by window
  ByKind credit_{};               ///< bytes that may still go without being simulated
  ByKind uncounted_{};            ///< of those that went, not yet in the counters
  std::uint64_t accounted_bytes_ = 0;
};

}  // namespace fm
