#include "sim/replay/periodic_work.hpp"

#include <algorithm>

#include "sim/replay/kernel_context.hpp"

namespace fm {

PeriodicWork::PeriodicWork(sc_core::sc_module_name name) : sc_module(name) {
  SC_METHOD(activate);
  dont_initialize();
  sensitive << event_;
}

void PeriodicWork::every(Picoseconds period, std::function<void()> action) {
  actions_.push_back({period.count(), now_ps() + period.count(), std::move(action)});
  plan();
}

void PeriodicWork::resume() {
  if (actions_.empty()) return;
  for (Action& action : actions_) {
    if (action.next <= now_ps()) action.next = now_ps() + action.period;
  }
  plan();
}

void PeriodicWork::activate() {
  if (!goes_on_()) return;
  const std::uint64_t now = now_ps();
  KernelContext::guard([&] {
    for (Action& action : actions_) {
      if (action.next > now) continue;
      action.next = now + action.period;
      action.action();
    }
  });
  plan();
}

void PeriodicWork::plan() {
  std::uint64_t next = actions_.front().next;
  for (const Action& action : actions_) next = std::min(next, action.next);
  event_.notify(sc_core::sc_time::from_value(next - now_ps()));
}

}  // namespace fm
