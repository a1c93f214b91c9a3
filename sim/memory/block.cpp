#include "sim/memory/block.hpp"

#include <algorithm>

#include "sim/replay/kernel_context.hpp"

namespace fm {

// The grid's step is `lookahead` less 1 ps. Blocks of kind `around` wake 1 ps before a point of it,
// every `period`, so that they never share an instant with a block of the grid. With L the latency
// of their links, ahead = L - 1 and period <= 2 L - 1 this holds: awake at k period - 1, a core
// handles events before k period + ahead. What another block sends at that instant or later arrives
// there or after, and blocks of the grid have handled everything before k period. The other way
// round, a block awake at m step, before the core's next point, needs what cores send before m step
// + step - L <= (k + 1) period - L <= k period + ahead.
Block::Block(sc_core::sc_module_name name, const Clock& clock, BlockWindow window)
    : sc_module(name),
      clock_(clock),
      window_(window),
      step_(clock.lookahead > 1 ? clock.lookahead - 1 : 1),
      ahead_(std::max(clock.lookahead, clock.core_link) - 1),
      period_((2 * ahead_ + 1) / step_ * step_) {
  SC_METHOD(activate);
  dont_initialize();
  sensitive << event_;
}

void Block::wake_by(Ticks time) {
  // The wake-up planned already lies on the grid, so an event at or after it adds nothing. Also
  // `never`.
  if (time >= wake_) return;
  Ticks wake = wake_for(time);
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
  KernelContext::guard([&] { wake_by(advance(start, end_of(start))); });
}

Ticks Block::wake_for(Ticks time) const {
  switch (window_) {
    case BlockWindow::ahead:
      return time / step_ * step_;
    case BlockWindow::around:
      return time < ahead_ ? 0 : ((time - ahead_) / period_ + 1) * period_ - 1;
    default:
      return time;
  }
}

Ticks Block::end_of(Ticks start) const {
  switch (window_) {
    case BlockWindow::ahead:
      return start / step_ * step_ + step_;
    case BlockWindow::around:
      return (start + 1) / period_ * period_ + ahead_;
    default:
      return start + 1;
  }
}

}  // namespace fm
