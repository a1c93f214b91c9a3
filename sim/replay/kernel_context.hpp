#pragma once
// A SystemC simulation context with a beginning and an end.

#include <cstdint>

#include <systemc>

namespace fm {

/// SystemC 2.3 keeps modules, time and processes in one global context that cannot be reset, only replaced. While
/// this object lives, the global context is a fresh one of its own: create modules, run(), destroy the modules, then
/// this. One at a time. Time resolution is 1 ps: sc_time::from_value(n) is n picoseconds.
class KernelContext {
 public:
  KernelContext();
  ~KernelContext();
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  /// Elaborates and runs until no event is left or sc_stop().
  void run();

 private:
  sc_core::sc_simcontext* context_ = nullptr;
};

/// Now, in picoseconds.
inline std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }

}  // namespace fm
