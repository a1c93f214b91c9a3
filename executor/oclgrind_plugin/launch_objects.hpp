#pragma once
// Which kernel argument or local array an address of Oclgrind's belongs to.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace.pb.h"

namespace oclgrind {
class KernelInvocation;
class Memory;
class WorkGroup;
}  // namespace oclgrind

namespace fm {

struct Place {
  trace::Space space = trace::GLOBAL;
  std::uint32_t object = 0;  ///< argument or number of the local array
  std::int64_t offset = 0;
};

/// An image that a kernel is given.
struct ImageArgument {
  std::size_t address = 0;
  std::uint64_t width = 0, height = 0, texel_bytes = 0;  ///< slices and layers below each other
};

class LaunchObjects {
 public:
  explicit LaunchObjects(const oclgrind::KernelInvocation& invocation);

  struct Argument {
    std::uint32_t index = 0;
    std::size_t address = 0;
    bool constant = false;
    std::optional<ImageArgument> image;
  };
  /// Memory objects in the order of arguments. Constants of program scope that the kernel reached
  /// come behind the kernel's own arguments.
  const std::vector<Argument>& arguments() const { return arguments_; }

  /// None for addresses outside all objects.
  std::optional<Place> find(const oclgrind::Memory& memory, std::size_t address);
  /// Argument of the image with that address.
  std::optional<std::uint32_t> image(std::size_t address) const;

  struct LocalArray {
    std::string name;
    std::uint32_t bytes = 0;
  };
  /// By number.
  static std::vector<LocalArray> local_arrays(const oclgrind::KernelInvocation& invocation,
                                              const oclgrind::WorkGroup& group);

 private:
  std::vector<Argument> arguments_;
  std::uint32_t next_index_ = 0;
};

}  // namespace fm
