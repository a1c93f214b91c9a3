#pragma once
// A SystemC simulation context with a beginning and an end.

#include <cstdint>
#include <exception>
#include <systemc>

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

  /// Calls `body` from a process. SystemC turns exceptions that leave a process into reports and
  /// loses their type, so every SC_METHOD works inside a guard: it stops the simulation and run()
  /// rethrows.
  template <class Body>
  static void guard(const Body& body) {
    try {
      body();
    } catch (...) {
      stop_with(std::current_exception());
    }
  }

 private:
  static void stop_with(std::exception_ptr error);
  static KernelContext* current_;
  sc_core::sc_simcontext* context_ = nullptr;
  sc_core::sc_simcontext* previous_ = nullptr;
  sc_core::sc_simcontext* previous_default_ = nullptr;
  std::exception_ptr error_;
};

/// Now, in picoseconds.
inline std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }

}  // namespace fm
