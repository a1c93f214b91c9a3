#include "sim/replay/address_space.hpp"

#include <algorithm>

namespace fm {

AddressSpace::AddressSpace(Bytes size, HoleChoice choice) : choice_(choice), free_(size) {
  holes_[0] = size.count();
}

AddressSpace::Holes::iterator AddressSpace::find(std::uint64_t bytes, std::uint64_t alignment) {
  auto found = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    const std::uint64_t skipped = round_up(hole->first, alignment) - hole->first;
    if (hole->second < skipped + bytes) continue;
    if (choice_ == HoleChoice::first_fit) return hole;
    if (found == holes_.end() || hole->second < found->second) found = hole;
  }
  return found;
}

std::optional<Address> AddressSpace::allocate(Bytes bytes, Bytes alignment) {
  const auto hole = find(bytes.count(), alignment.count());
  if (hole == holes_.end()) return std::nullopt;
  const auto [begin, size] = *hole;
  const std::uint64_t address = round_up(begin, alignment.count());
  holes_.erase(hole);
  if (address > begin) holes_[begin] = address - begin;
  const std::uint64_t end = address + bytes.count();
  if (begin + size > end) holes_[end] = begin + size - end;
  free_ -= bytes;
  return Address(address);
}

void AddressSpace::free(Address address, Bytes bytes) {
  free_ += bytes;
  auto hole = holes_.emplace(address.count(), bytes.count()).first;
  const auto next = std::next(hole);
  if (next != holes_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return;
  const auto previous = std::prev(hole);
  if (previous->first + previous->second == hole->first) {
    previous->second += hole->second;
    holes_.erase(hole);
  }
}

Bytes AddressSpace::largest_hole() const {
  std::uint64_t largest = 0;
  for (const auto& [address, bytes] : holes_) largest = std::max(largest, bytes);
  return Bytes(largest);
}

}  // namespace fm
