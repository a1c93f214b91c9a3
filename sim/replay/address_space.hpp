#pragma once
// The address space that memory objects are placed in.

#include <cstdint>
#include <map>
#include <optional>

#include "core/units.hpp"

namespace fm {

/// first_fit: the lowest address; best_fit: the smallest hole (the lowest of equal ones).
enum class HoleChoice { first_fit, best_fit };

/// [0, size) with holes, neighbouring holes joined.
class AddressSpace {
 public:
  AddressSpace(Bytes size, HoleChoice choice);

  /// At a multiple of `alignment` (a power of two); nothing when no hole takes it.
  std::optional<Address> allocate(Bytes bytes, Bytes alignment);
  /// A range as it was allocated.
  void free(Address address, Bytes bytes);

  Bytes free_bytes() const { return free_; }
  Bytes largest_hole() const;

 private:
  using Holes = std::map<std::uint64_t, std::uint64_t>;  // address -> bytes
  Holes::iterator find(std::uint64_t bytes, std::uint64_t alignment);

  const HoleChoice choice_;
  Holes holes_;
  Bytes free_;
};

}  // namespace fm
