#pragma once
// What the recorder knows of a program's OpenCL objects. Handles are never forgotten, only given to
// new objects: a driver that reuses a handle makes a new entry of it.

#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fm {

/// Id of a host operation in the trace; 0: none.
using OperationId = std::uint64_t;

/// Memory of its own: a buffer or an image, not a part or a view of one.
struct MemoryObject {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
  bool image = false;  ///< two-dimensional
  bool alive = true;
  OperationId created = 0;
  std::uint32_t thread = 0;  ///< that created it
  /// The last operation that used it on each queue lane or thread.
  std::map<std::uint64_t, OperationId> last_uses;
  std::map<const void*, std::uint64_t> mapped;  ///< bytes by pointer
};

/// What a cl_mem handle stands for.
struct MemoryView {
  std::shared_ptr<MemoryObject> object;
  std::uint64_t offset = 0;  ///< sub-buffers: bytes into the object
  std::uint64_t bytes = 0;
  // Images
  std::uint64_t element = 1, width = 0, height = 0;
};

struct QueueFacts {
  cl_command_queue_properties properties = 0;  ///< as the program asked
  bool in_order = true;
  bool timed = false;          ///< its commands have profiling times
  bool forced = false;         ///< only because the recorder asked for them
  std::string property_array;  ///< CL_QUEUE_PROPERTIES_ARRAY, as the program asked
};

/// Commands of an out-of-order queue go to lanes in turn: a trace's queues are in order.
constexpr std::uint32_t lanes_of_a_queue = 8;

struct ApiQueue {
  QueueFacts facts;
  std::uint32_t number = 0;
  std::uint32_t commands = 0;
  std::uint32_t last_thread = 0;
  OperationId barrier = 0;               ///< out of order: all later commands wait for it
  std::vector<OperationId> outstanding;  ///< since the barrier; in order: the last command
  bool last_is_host_operation = false;   ///< in order: of the last command
};

struct ApiKernel {
  std::string name, program_digest;
  std::map<std::uint32_t, MemoryView> arguments;  ///< memory objects by argument
};

/// A box of a transfer in a buffer or an image.
struct Region {
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t first_row = 0, rows = 0;  ///< images
};

/// `origin` and `region` as the API takes them, in elements of `view`; pitches in bytes.
Region region_of(const MemoryView& view, const std::size_t* origin, const std::size_t* region);
Region rectangle(const std::size_t* origin, const std::size_t* region, std::size_t row_pitch,
                 std::size_t slice_pitch);

}  // namespace fm
