#pragma once
// Where the plan's tensors are on the device: pools with their sub-buffers, and weights as they
// come and go.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/host_filled_buffer.hpp"
#include "executor/host_recorder.hpp"
#include "executor/opencl_objects.hpp"

namespace fm {

class TensorMemory {
 public:
  /// Creates the pools (class ACTIVATIONS) and a view of each tensor in them. A buffer pool that
  /// is larger than the device allows becomes several buffers.
  TensorMemory(const OpenClContext& context, const Plan& plan, HostRecorder& recorder);
  ~TensorMemory();
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;

  /// Memory object of a tensor; null for a weight that is not resident.
  cl_mem of(const std::string& tensor) const;
  /// Its object in the host log, and where in it the tensor begins.
  std::uint64_t object(const std::string& tensor) const;
  Bytes offset(const std::string& tensor) const;

  /// Creates a weight's buffer or image.
  void create_weight(const PlanTensor& tensor, trace::MemoryClass memory_class);
  /// `to`, of the same extent and type, takes over the memory of `from`.
  void hand_over(const std::string& from, const std::string& to);
  /// A weight's buffer; lives until release_weight().
  HostFilledBuffer& weight(const std::string& tensor) { return places_.at(tensor).buffer; }
  /// Host operation that created the weight.
  std::uint64_t created_by(const std::string& tensor) const;
  void release_weight(const std::string& tensor, std::uint64_t cause);

  // Blocking transfers of a pooled tensor's bytes in its layout.
  void write(const OpenClQueue& queue, const PlanTensor& tensor,
             const std::vector<std::uint8_t>& bytes);
  std::vector<std::uint8_t> read(const OpenClQueue& queue, const PlanTensor& tensor);
  /// Fills all pools with NaN, so that whatever no launch writes shows.
  void poison(const OpenClQueue& queue);

 private:
  /// A pool, or one of the buffers that it is made of where it is too large for one.
  struct PoolMemory {
    const Pool* pool = nullptr;
    Bytes bytes;
    OpenClMemory memory;
    std::uint64_t object = 0;
  };
  struct Place {
    OpenClMemory own;                  // sub-buffer or a weight's image
    HostFilledBuffer buffer;           // of a weight
    cl_mem memory = nullptr;           // own, or the pool itself; not for `buffer`
    const PoolMemory* pool = nullptr;  // not for a weight
    std::uint64_t object = 0;
    Bytes offset;  // in that
    std::uint64_t created_by = 0;
  };
  void create_image_pool(const Plan& plan, const Pool& pool);
  void create_buffer_pool(const Plan& plan, const Pool& pool);
  /// At `offset` of it.
  void create_view(const PlanTensor& tensor, const PoolMemory& pool, Bytes offset);

  const OpenClContext& context_;
  HostRecorder& recorder_;
  std::deque<PoolMemory> pools_;         // places point into it
  std::map<std::string, Place> places_;  // by tensor
};

}  // namespace fm
