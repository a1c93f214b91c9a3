#pragma once
// Which transfers of memory ports are simulated: the port asks, sampling answers.

#include <functional>

#include "sim/memory/line_request.hpp"

namespace fm {

struct MemoryTransfer;

class TransferPolicy {
 public:
  virtual ~TransferPolicy() = default;
  /// True: the port forgets the transfer, and the policy sees to it that `*done` runs when it would
  /// have ended. Else the port simulates it, and runs what `*done` then is.
  virtual bool take(MemoryClient client, const MemoryTransfer& transfer,
                    std::function<void()>* done) = 0;
};

}  // namespace fm
