#pragma once
// The recording of this process: whether there is one.

#include <atomic>
#include <exception>
#include <string>

#include "executor/recorder_layer/api_recorder.hpp"

namespace fm {

/// One a process, never destroyed: programs call OpenCL until their very end.
class Recording {
 public:
  /// Null when nothing is recorded: FM_TRACE_FILE names no file, it cannot be written, it is
  /// complete, or this process was forked from the one that records.
  static ApiRecorder* recorder() { return active_.load(std::memory_order_acquire); }

  /// Reads FM_TRACE_FILE and says on standard error what is wrong with it.
  static void start(const RecorderTraits& traits);
  /// Says why on standard error. The file stays as it is: truncated.
  static void give_up(const std::string& why);

 private:
  static std::atomic<ApiRecorder*> active_;
};

/// Calls `body` with the recorder, if there is one; the program never sees what goes wrong there.
template <class Body>
void record(const Body& body) {
  ApiRecorder* const recorder = Recording::recorder();
  if (recorder == nullptr) return;
  try {
    body(*recorder);
  } catch (const std::exception& error) {
    Recording::give_up(error.what());
  }
}

/// Nanoseconds of the recording; 0 without one.
inline std::uint64_t record_time() {
  const ApiRecorder* const recorder = Recording::recorder();
  return recorder == nullptr ? 0 : recorder->now();
}

}  // namespace fm
