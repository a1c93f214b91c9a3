#include "sim/replay/kernel_context.hpp"

#include <stdexcept>

/// libsystemc has a main() of its own that calls it. A program that starts here was linked with
/// that main() instead of its own, and must not look as if it had run.
extern "C" int sc_main(int, char**) { return 1; }

namespace fm {

KernelContext* KernelContext::current_ = nullptr;

KernelContext::KernelContext() {
  if (current_ != nullptr) throw std::logic_error("two simulations at once in one process");
  // SystemC may have made a context of its own before main(), for static objects.
  previous_ = sc_core::sc_curr_simcontext;
  previous_default_ = sc_core::sc_default_global_context;
  context_ = new sc_core::sc_simcontext();
  sc_core::sc_curr_simcontext = context_;
  sc_core::sc_default_global_context = context_;
  current_ = this;
  // Results go to standard output, so SystemC must not say there that it stopped.
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
  // An empty trace is no reason to warn.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                          sc_core::SC_DO_NOTHING);
}

KernelContext::~KernelContext() {
  delete context_;
  sc_core::sc_curr_simcontext = previous_;
  sc_core::sc_default_global_context = previous_default_;
  current_ = nullptr;
}

void KernelContext::run() {
  sc_core::sc_start();
  if (error_) std::rethrow_exception(error_);
}

void KernelContext::run(Picoseconds interval, const std::function<void(Picoseconds)>& on_interval) {
  // Never past the last event: time would end at another moment than without intervals.
  for (std::uint64_t end = now_ps() + interval.count(); sc_core::sc_pending_activity();) {
    if (now_ps() + sc_core::sc_time_to_pending_activity().value() > end) {
      on_interval(Picoseconds(end));
      end += interval.count();
      continue;
    }
    sc_core::sc_start(sc_core::sc_time::from_value(end - now_ps()), sc_core::SC_EXIT_ON_STARVATION);
    if (error_) std::rethrow_exception(error_);
  }
}

void KernelContext::watch(std::function<std::uint64_t()> progress,
                          std::function<void(std::uint64_t)> stuck, std::uint64_t interval) {
  progress_ = std::move(progress);
  stuck_ = std::move(stuck);
  activations_left_ = watch_interval_ = interval;
  last_progress_ = progress_();
}

void KernelContext::check_progress() {
  activations_left_ = watch_interval_;
  const std::uint64_t progress = progress_();
  if (progress == last_progress_) stuck_(progress_seen_at_);
  last_progress_ = progress;
  progress_seen_at_ = now_ps();
}

void KernelContext::stop_with(std::exception_ptr error) {
  if (current_->error_) return;
  current_->error_ = error;
  sc_core::sc_stop();
}

}  // namespace fm
