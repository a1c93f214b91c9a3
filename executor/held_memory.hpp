#pragma once
// What a failure of the device costs: the memory that the plan held on it.

#include <string>

#include "executor/host_recorder.hpp"

namespace fm {

/// "preloaded 1.00 MiB, UM in flight ..".
std::string by_class(const MemoryClaims& claims);

/// What there is to free, by class, and what to do where the device is exhausted; begins a line.
std::string held_text(const OpenClError& failure, const MemoryClaims& held);

/// Returns what `work` returns. A failure of OpenCL in it is thrown as DeviceError that also tells
/// what was held when it came; whoever owns the memory frees it on the way out.
template <class Work>
auto telling_held_memory(const HostRecorder& recorder, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const OpenClError& failure) {
    throw DeviceError(failure.what() + held_text(failure, recorder.held()));
  }
}

}  // namespace fm
