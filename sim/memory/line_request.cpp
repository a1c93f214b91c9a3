#include "sim/memory/line_request.hpp"

namespace fm {

std::string to_string(MemoryClient client) {
  switch (client) {
    case MemoryClient::load_store:
      return "load_store";
    case MemoryClient::texture:
      return "texture";
    case MemoryClient::copy_engine:
      return "copy_engine";
    case MemoryClient::storage:
      return "storage";
    case MemoryClient::host:
      return "host";
    case MemoryClient::display:
      return "display";
    case MemoryClient::mmu:
      return "mmu";
    case MemoryClient::background:
      return "background";
  }
  return "?";
}

std::string to_string(AccessKind kind) {
  switch (kind) {
    case AccessKind::read:
      return "read";
    case AccessKind::write:
      return "write";
    case AccessKind::atomic:
      return "atomic";
  }
  return "?";
}

std::uint64_t range_mask(std::uint64_t address, std::uint32_t bytes, std::uint32_t line_bytes) {
  if (bytes == line_bytes) return full_line_mask(line_bytes);
  const std::uint32_t granule = granule_bytes(line_bytes);
  const std::uint64_t offset = address % line_bytes;
  const std::uint64_t first = offset / granule;
  const std::uint64_t count = (offset + bytes + granule - 1) / granule - first;
  const std::uint64_t ones = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return ones << first;
}

std::uint64_t widen_mask(std::uint64_t mask, std::uint64_t address, std::uint32_t from_bytes,
                         std::uint32_t to_bytes) {
  if (from_bytes == to_bytes) return mask;
  const std::uint32_t granule = granule_bytes(from_bytes);
  std::uint64_t wide = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto bit = static_cast<std::uint32_t>(__builtin_ctzll(mask));
    wide |= range_mask(address + bit * granule, granule, to_bytes);
  }
  return wide;
}

}  // namespace fm
