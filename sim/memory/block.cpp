#include "sim/memory/block.hpp"

#include "sim/replay/kernel_context.hpp"

namespace fm {

// The grid's step is `lookahead` less 1 ps, and blocks of kind `around` wake 1 ps before every
// other point of it, so that they never share an instant with a neighbour. With links of latency L
// > step this holds: awake at 2k step - 1, a core may handle events before 2k step + step. What
// another block sends later than that instant arrives there or after; a block of the grid has
// handled everything before 2k step, and what it sends from then on arrives after 2k step + step.
// The other way round, awake at m step, a block needs what cores send before m step + step - L < m
// step, and they are past that.
Block::Block(sc_core::sc_module_name name, const Clock& clock, BlockWindow window)
    : sc_module(name),
      clock_(clock),
      window_(window),
      step_(clock.lookahead > 1 ? clock.lookahead - 1 : 1) {
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
    case BlockWindow::around: {
      const Ticks middle = (time + step_) / (2 * step_) * (2 * step_);
      return middle == 0 ? 0 : middle - 1;
    }
    default:
      return time;
  }
}

Ticks Block::end_of(Ticks start) const {
  switch (window_) {
    case BlockWindow::ahead:
      return start / step_ * step_ + step_;
    case BlockWindow::around:
      return (start + 1) / (2 * step_) * (2 * step_) + step_;
    default:
      return start + 1;
  }
}

}  // namespace fm
