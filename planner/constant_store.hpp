#pragma once
// Constants too large to hold: where they lie in a file, or how they are computed from others when
// asked for.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "planner/host_tensor.hpp"

namespace fm {

/// ConstantData::initializer indexes this store. Contents are read or computed on every request and
/// never kept, so that a model is never in memory as a whole.
class ConstantStore {
 public:
  /// Computes the contents from other constants of the same store.
  using Recipe = std::function<HostTensor(const ConstantStore&)>;

  /// `bytes` bytes at `offset` of the file `path`, little-endian row-major.
  std::size_t add_file_slice(std::string path, std::uint64_t offset, std::uint64_t bytes,
                             ElementType type, Shape shape);
  std::size_t add_recipe(Recipe recipe);
  /// A constant without contents; load() throws UserError(`reason`).
  std::size_t add_missing(std::string reason);

  HostTensor load(std::size_t index) const;
  /// Contents of a constant tensor of a graph. Throws UserError when they are missing or the file
  /// is too short.
  HostTensor load(const GraphTensor& tensor) const;

 private:
  std::vector<Recipe> recipes_;
};

}  // namespace fm
