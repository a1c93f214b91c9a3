#include "sim/replay/kernel_context.hpp"

#include <stdexcept>

/// libsystemc refers to it; nothing here starts through it.
extern "C" int sc_main(int, char**) { return 0; }

namespace fm {

KernelContext* KernelContext::current_ = nullptr;

KernelContext::KernelContext() {
  if (sc_core::sc_curr_simcontext != nullptr) {
    throw std::logic_error("two simulations at once in one process");
  }
  context_ = new sc_core::sc_simcontext();
  sc_core::sc_curr_simcontext = context_;
  sc_core::sc_default_global_context = context_;
  current_ = this;
  // Results go to standard output, so SystemC must not say there that it stopped.
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
}

KernelContext::~KernelContext() {
  delete context_;
  sc_core::sc_curr_simcontext = nullptr;
  sc_core::sc_default_global_context = nullptr;
  current_ = nullptr;
}

void KernelContext::run() {
  sc_core::sc_start();
  if (error_) std::rethrow_exception(error_);
}

void KernelContext::stop_with(std::exception_ptr error) {
  if (current_->error_) return;
  current_->error_ = error;
  sc_core::sc_stop();
}

}  // namespace fm
