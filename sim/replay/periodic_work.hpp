#pragma once
// What happens again and again beside the run, without keeping it alive.

#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

#include "core/units.hpp"

namespace fm {

/// One SC_METHOD for all periodic actions: those due at once run in the order they were added. They
/// end when the run does or, as a deadlock leaves it, nothing can happen any more: a run drains,
/// and a deadlock is found, as without them.
class PeriodicWork : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(PeriodicWork);
  explicit PeriodicWork(sc_core::sc_module_name name);

  /// Whether the run still goes on; asked before actions run. To be given before the first is due.
  void run_while(std::function<bool()> goes_on) { goes_on_ = std::move(goes_on); }
  /// Another run begins: actions that ended with the one before are due one period from now.
  void resume();
  /// From now on, the first time after one `period` (above 0).
  void every(Picoseconds period, std::function<void()> action);

 private:
  struct Action {
    std::uint64_t period, next;
    std::function<void()> action;
  };
  void activate();
  void plan();

  std::function<bool()> goes_on_;
  std::vector<Action> actions_;
  sc_core::sc_event event_;
};

}  // namespace fm
