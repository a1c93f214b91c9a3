#pragma once
// The commands whose end the layer awaits.

#include <CL/cl_layer.h>

#include <deque>
#include <mutex>

#include "executor/recorder_layer/recording.hpp"

namespace fm {

/// The functions between this layer and the driver.
extern const cl_icd_dispatch* below;

/// Keeps an event of every command until it is complete, then asks for its times. The driver is
/// asked now and then and when the program has waited, never from a callback.
class CommandWatch {
 public:
  static CommandWatch& instance();
  /// Takes a reference of `event`.
  void add(OperationId id, cl_event event, bool timed);
  /// Closes the commands that are complete, in their order.
  void collect();

 private:
  struct Watched {
    OperationId id;
    cl_event event;
    bool timed;
  };
  bool take_first();
  std::mutex mutex_, collecting_;
  std::deque<Watched> watched_;
  std::size_t added_ = 0;
};

}  // namespace fm
