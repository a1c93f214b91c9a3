#pragma once
// When what was enqueued is handed to the device.

#include <cstddef>

#include "executor/opencl_device.hpp"

namespace fm {

/// Launches after which a queue is flushed: drivers of phones pay for every submission, and their
/// habits differ. Whoever waits, or lets another queue wait, flushes before.
std::size_t flush_period(const OpenClDevice& device);

}  // namespace fm
