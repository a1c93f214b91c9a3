#include "sim/memory/block.hpp"

#include "sim/replay/kernel_context.hpp"

namespace fm {

Block::Block(sc_core::sc_module_name name, const Clock& clock, bool exact)
    : sc_module(name), clock_(clock), exact_(exact) {
  SC_METHOD(activate);
  dont_initialize();
  sensitive << event_;
}

void Block::wake_by(Ticks time) {
  // The wake-up planned already lies on the grid, so an event at or after it adds nothing. Also
  // `never`.
  if (time >= wake_) return;
  Ticks wake = exact_ ? time : time / clock_.lookahead * clock_.lookahead;
  // Inside a window that already began (a message sent from outside the grid): wake in what is left
  // of it.
  if (wake < now()) wake = now();
  if (wake >= wake_) return;
  wake_ = wake;
  event_.notify(sc_core::sc_time::from_value(wake - now()));
}

void Block::activate() {
  const Ticks start = now();
  wake_ = never;
  const Ticks end =
      exact_ ? start + 1 : start / clock_.lookahead * clock_.lookahead + clock_.lookahead;
  KernelContext::guard([&] { wake_by(advance(start, end)); });
}

}  // namespace fm
