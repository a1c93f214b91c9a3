#include "sim/replay/agenda.hpp"

#include "sim/replay/kernel_context.hpp"

namespace fm {

Agenda::Agenda(sc_core::sc_module_name name) : sc_module(name) {
  SC_METHOD(activate);
  dont_initialize();
  sensitive << event_;
}

void Agenda::after(Picoseconds delay, std::function<void()> action) {
  entries_.push({now_ps() + delay.count(), sequence_++, std::move(action)});
  // An earlier notification of this event stands: SystemC keeps the sooner of the two.
  event_.notify(sc_core::sc_time::from_value(delay.count()));
}

void Agenda::activate() {
  const std::uint64_t now = now_ps();
  KernelContext::guard([&] {
    while (!entries_.empty() && entries_.top().time <= now) {
      // top() is const only to protect the order, which action does not take part in.
      const std::function<void()> action = std::move(const_cast<Entry&>(entries_.top()).action);
      entries_.pop();
      action();
    }
  });
  if (!entries_.empty()) event_.notify(sc_core::sc_time::from_value(entries_.top().time - now));
}

}  // namespace fm
