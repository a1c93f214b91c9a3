#pragma once
// The host program as Oclgrind shows it: objects by address, transfers piece by piece.

#include <CL/cl.h>

#include <cstdint>
#include <map>
#include <optional>

#include "executor/oclgrind_plugin/launch_objects.hpp"
#include "executor/recorder_layer/api_recorder.hpp"

namespace oclgrind {
class Memory;
}

namespace fm {

/// Of one context. All its commands go to one queue in the order in which Oclgrind runs them.
class HostMemory {
 public:
  explicit HostMemory(ApiRecorder& recorder);

  void allocated(std::size_t address, std::uint64_t bytes, bool filled);
  void freed(std::size_t address);
  void load(const oclgrind::Memory& memory, std::size_t address, std::uint64_t bytes);
  void store(const oclgrind::Memory& memory, std::size_t address, std::uint64_t bytes,
             const std::uint8_t* data);
  void map(const oclgrind::Memory& memory, std::size_t address, std::uint64_t bytes,
           cl_map_flags flags);
  void unmap(std::size_t address, const void* pointer);
  /// `launch`: without its arguments.
  void launch(trace::Launch launch, const LaunchObjects& objects);
  /// Nothing is to follow.
  void finish();

 private:
  /// A transfer, or several that continue each other.
  struct Transfer {
    cl_mem object = nullptr;
    std::uint64_t offset = 0, bytes = 0, last_bytes = 0;
    const std::uint8_t* data = nullptr;  ///< where its last piece is
    bool to_device = false;
    std::uint32_t pieces = 0;
    bool same_data = true;           ///< all pieces: a pattern
    std::optional<MemoryView> from;  ///< a copy's source
  };
  cl_mem handle(std::size_t address) const;
  void add(const Transfer& piece);
  void flush();
  void record(trace::HostOperation operation, CommandKind kind,
              const std::vector<MemoryView>& uses);
  void decide(cl_mem handle, const std::optional<ImageArgument>& image);
  void decide_all();

  ApiRecorder& recorder_;
  const cl_command_queue queue_;
  std::map<std::size_t, cl_mem> handles_;  // by address of the beginning
  std::map<cl_mem, std::uint64_t> ids_;
  std::map<cl_mem, CreatedObject> undecided_;
  std::optional<Transfer> pending_;
  std::uint64_t waiting_ = 0;  // operations behind undecided objects
};

}  // namespace fm
