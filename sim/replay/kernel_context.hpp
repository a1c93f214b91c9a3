#pragma once
// A SystemC simulation context with a beginning and an end.

#include <cstdint>
#include <exception>
#include <functional>
#include <systemc>

#include "core/units.hpp"

namespace fm {

/// SystemC 2.3 keeps modules, time and processes in one global context that cannot be reset, only
/// replaced. While this object lives, the global context is a fresh one of its own: create modules,
/// run(), destroy the modules, then this. One at a time. Time resolution is 1 ps:
/// sc_time::from_value(n) is n picoseconds.
class KernelContext {
 public:
  KernelContext();
  ~KernelContext();
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  /// Elaborates and runs until no event is left. Rethrows the first exception a guard() caught.
  void run();
  /// The same, stopping every `interval` from now on, before the end, for `on_interval`. Nothing
  /// simulated depends on it. The interval is above zero.
  void run(Picoseconds interval, const std::function<void(Picoseconds now)>& on_interval);

  /// From then on `progress` is looked at every `interval` activations of processes; when it has
  /// not changed, `stuck` is called with the simulation time at which it last had, and is to throw.
  void watch(std::function<std::uint64_t()> progress,
             std::function<void(std::uint64_t since_ps)> stuck, std::uint64_t interval);

  /// Calls `body` from a process. SystemC turns exceptions that leave a process into reports and
  /// loses their type, so every SC_METHOD works inside a guard: it stops the simulation and run()
  /// rethrows.
  template <class Body>
  static void guard(const Body& body) {
    try {
      if (--current_->activations_left_ == 0) current_->check_progress();
      body();
    } catch (...) {
      stop_with(std::current_exception());
    }
  }

 private:
  static void stop_with(std::exception_ptr error);
  void check_progress();
  static KernelContext* current_;
  sc_core::sc_simcontext* context_ = nullptr;
  sc_core::sc_simcontext* previous_ = nullptr;
  sc_core::sc_simcontext* previous_default_ = nullptr;
  std::exception_ptr error_;
  /// Until the next look at the progress; unwatched it never comes.
  std::uint64_t activations_left_ = ~std::uint64_t{0};
  std::uint64_t watch_interval_ = 0;
  std::function<std::uint64_t()> progress_;
  std::function<void(std::uint64_t)> stuck_;
  std::uint64_t last_progress_ = 0, progress_seen_at_ = 0;
};

/// Now, in picoseconds.
inline std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }

}  // namespace fm
