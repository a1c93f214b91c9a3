#pragma once
// What the host did, in the order it did it: the log behind the trace's host program, the memory
// accounting and the measured result. Always on; it costs a few hundred bytes an operation.

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/staged_piece.hpp"
#include "core/trace.pb.h"
#include "executor/memory_accountant.hpp"
#include "executor/opencl_objects.hpp"
#include "executor/streamer/gathered_rows.hpp"

namespace fm {

constexpr std::uint32_t main_thread = 0;
/// The `index`th of reader_threads.
constexpr std::uint32_t reader_thread(std::uint32_t index) { return 1 + index; }
/// Loads programs while the main thread makes memory.
constexpr std::uint32_t program_thread = 1 + reader_threads;
constexpr std::uint32_t compute_queue_number = 0;
constexpr std::uint32_t copy_queue_number = 1;

/// Ids of operations that another waits for.
using Causes = std::vector<std::uint64_t>;

trace::HostOperation release_operation(std::uint64_t object);

/// Thread-safe. Times are nanoseconds since the recorder was made.
class HostRecorder {
 public:
  HostRecorder() : origin_(Clock::now()) {}

  std::uint64_t now() const;
  std::uint64_t new_object();

  /// Logs an operation that `thread` began `since` (default: now); returns its id. Causes of 0
  /// ("nothing") are dropped. On the main thread the time since its last operation ended becomes a
  /// Think when it is long enough to matter.
  std::uint64_t begin(std::uint32_t thread, trace::HostOperation operation,
                      const Causes& after = {}, std::optional<std::uint64_t> since = std::nullopt);
  /// A host operation ended now; for launches and copies: the enqueue call returned.
  void end(std::uint64_t id);
  /// begin() and end() at once: for what is over already, or takes no time worth measuring.
  std::uint64_t note(std::uint32_t thread, trace::HostOperation operation, const Causes& after = {},
                     std::optional<std::uint64_t> since = std::nullopt);
  /// Logs what `make` creates on the main thread. What could not be made is logged as released, so
  /// that it does not count as memory. Returns the id.
  template <class Make>
  std::uint64_t create(trace::HostOperation creation, const Make& make) {
    const std::uint64_t object = creation.create().object();
    const std::uint64_t id = begin(main_thread, std::move(creation));
    try {
      make();
    } catch (...) {
      note(main_thread, release_operation(object));
      throw;
    }
    end(id);
    return id;
  }
  /// Times of a launch or copy, on this recorder's clock; queued stays when it was begun here.
  void measure(std::uint64_t id, const EventTimes& times);

  /// What the main thread did since its last operation is no part of the host program.
  void skip_idle();

  /// From here on memory is still accounted, but nothing is kept: warm repeats are not part of the
  /// trace.
  void stop_keeping();
  /// Complete once stop_keeping() was called and no thread is inside begin() or end().
  const std::vector<trace::HostOperation>& operations() const { return operations_; }
  ResultMemory memory() const;
  Bytes memory(trace::MemoryClass memory_class) const;
  /// What is there now.
  MemoryClaims held() const;

 private:
  using Clock = std::chrono::steady_clock;
  trace::HostOperation* find(std::uint64_t id);
  void append(std::uint32_t thread, trace::HostOperation operation, const Causes& after,
              std::uint64_t at);
  void account(const trace::HostOperation& operation, std::uint64_t at);

  const Clock::time_point origin_;
  mutable std::mutex mutex_;
  bool keeping_ = true;
  std::uint64_t last_id_ = 0;
  std::uint64_t last_object_ = 0;
  std::array<std::uint64_t, 1 + program_thread> last_end_{};  // by thread
  std::vector<trace::HostOperation> operations_;
  MemoryAccountant accountant_;
};

/// Preloaded for good, or in flight until released.
trace::MemoryClass class_when_preloaded(const WeightSlice& slice, const PlanTensor& tensor);

// Operations by kind.
trace::HostOperation create_buffer_operation(std::uint64_t object, trace::MemoryClass memory_class,
                                             Bytes bytes, const std::string& name);
trace::HostOperation create_image_operation(std::uint64_t object, trace::MemoryClass memory_class,
                                            GridExtent extent, Bytes texel,
                                            const std::string& name);
/// A gather's rows, read through the page cache, each to the first gathered row it is for.
trace::HostOperation rows_read_operation(const std::string& tensor,
                                         const std::vector<RowRead>& rows, Bytes row_bytes,
                                         std::uint64_t object);
trace::HostOperation map_operation(std::uint64_t object, Bytes bytes, bool write);
trace::HostOperation unmap_operation(std::uint64_t object, Bytes bytes);
trace::HostOperation wait_operation();
trace::HostOperation think_operation(trace::Think::Phase phase, std::uint64_t nanoseconds,
                                     std::uint32_t programs = 0);
trace::HostOperation change_class_operation(std::uint64_t object, trace::MemoryClass from,
                                            trace::MemoryClass to, Bytes bytes);
/// Where a tensor lies: its object in the host log, and where in it the tensor begins.
struct LoggedPlace {
  std::uint64_t object = 0;
  Bytes offset;
};
/// What a launch moves from the staging ring to an image, by slot.
struct LoggedStream {
  LoggedPlace source;  ///< the first texel to move
  std::uint64_t image = 0;
};
trace::HostOperation launch_operation(
    const PlanLaunch& launch, const std::function<LoggedPlace(const std::string& tensor)>& place_of,
    const std::vector<LoggedStream>& streams = {});
trace::HostOperation transfer_operation(std::uint64_t object, Bytes offset, Bytes bytes,
                                        bool to_device);

}  // namespace fm
