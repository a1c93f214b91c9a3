// Keeping caches as they would be after work that is accounted for but not simulated.

#include <algorithm>

#include "sim/memory/cache_level.hpp"
#include "sim/memory/memory_system.hpp"

namespace fm {

Touch CacheSlice::touch(std::uint64_t address, MemoryClient client, bool write) {
  Touch result;
  const std::uint64_t number = line_size_.quotient(address), local = slices_.local(number);
  const std::uint32_t ways = parameters_.ways_for[index_of(client)];
  std::uint32_t place = array_.find(local);
  if (place == none) {
    result.fetched = !write;
    if (array_.size() == 0 || ways == 0) {
      if (write) result.written_back = number * parameters_.line_bytes;
      return result;
    }
    place = array_.victim(local, ways);
    if (place == none) return result;
    if (array_.is_dirty(place)) {
      result.written_back = address_of(array_.local(place));
    }
    array_.take(place, local);
    array_.validate(place, full_mask_);
  }
  array_.touch(place);
  // A line being fetched keeps its state: its own answer completes it.
  if (write && !array_.is_fetched(place)) array_.write(place, full_mask_, client);
  return result;
}

Touch CacheLevel::touch(std::uint64_t address, MemoryClient client, bool write) {
  return slices_[interleave_.part(line_size_.quotient(address))].touch(address, client, write);
}

void CacheLevel::mark_uses() {
  for (CacheSlice& slice : slices_) slice.mark_uses();
}

Bytes CacheLevel::bytes_unused_since_mark() const {
  std::uint64_t lines = 0;
  for (const CacheSlice& slice : slices_) lines += slice.lines_unused_since_mark();
  return Bytes(lines * parameters_.line_bytes);
}

void MemorySystem::touch(Address address, Bytes bytes, MemoryClient client, bool write) {
  const bool at_l2 = client == MemoryClient::load_store || client == MemoryClient::texture ||
                     client == MemoryClient::copy_engine;
  CacheLevel& level = at_l2 ? *l2_ : *slc_;
  const std::uint64_t line = level.line_bytes(), end = address.count() + bytes.count();
  for (std::uint64_t at = address.count() / line * line; at < end; at += line) {
    const Touch touched = level.touch(at, client, write);
    if (!at_l2) continue;
    if (touched.written_back != Touch::nothing) slc_->touch(touched.written_back, client, true);
    if (touched.fetched) slc_->touch(at, client, false);
  }
}

void MemorySystem::mark_uses() {
  l2_->mark_uses();
  slc_->mark_uses();
}

Bytes MemorySystem::bytes_unused_since_mark() const {
  return Bytes(l2_->bytes_unused_since_mark().count() + slc_->bytes_unused_since_mark().count());
}

std::uint64_t MemorySystem::cache_bytes() const {
  return l2_->parameters().bytes + slc_->parameters().bytes;
}

std::uint64_t MemorySystem::port_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& port : ports_) bytes += port->bytes_submitted();
  return bytes;
}

}  // namespace fm
