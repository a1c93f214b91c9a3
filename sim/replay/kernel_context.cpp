#include "sim/replay/kernel_context.hpp"

#include <stdexcept>

/// libsystemc refers to it; nothing here starts through it.
extern "C" int sc_main(int, char**) { return 0; }

namespace fm {

KernelContext::KernelContext() {
  if (sc_core::sc_curr_simcontext != nullptr) {
    throw std::logic_error("two simulations at once in one process");
  }
  context_ = new sc_core::sc_simcontext();
  sc_core::sc_curr_simcontext = context_;
  sc_core::sc_default_global_context = context_;
}

KernelContext::~KernelContext() {
  delete context_;
  sc_core::sc_curr_simcontext = nullptr;
  sc_core::sc_default_global_context = nullptr;
}

void KernelContext::run() { sc_core::sc_start(); }

}  // namespace fm
