#pragma once
// Which texel a read_image or write_image call is about.

#include <cstdint>

namespace llvm {
class CallInst;
}
namespace oclgrind {
struct Image;
class WorkItem;
}  // namespace oclgrind

namespace fm {

struct Texel {
  std::int64_t x = 0, y = 0;
};

/// Before clamping; slices and layers lie below each other. Of a filtered read the one with the
/// lowest coordinates.
Texel texel_of(const llvm::CallInst& call, const oclgrind::WorkItem& item,
               const oclgrind::Image& image, bool write);

}  // namespace fm
