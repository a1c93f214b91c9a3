#pragma once
// What travels between the levels of the memory hierarchy.

#include <array>
#include <cstdint>
#include <string>

namespace fm {

/// Simulated time in picoseconds.
using Ticks = std::uint64_t;
constexpr Ticks never = ~Ticks{0};

/// On whose behalf a line moves. Order is part of results: append only.
enum class MemoryClient : std::uint8_t {
  load_store,
  texture,
  copy_engine,
  storage,
  host,
  display,
  mmu,
  background
};
constexpr std::size_t memory_client_count = 8;
std::string to_string(MemoryClient client);

enum class AccessKind : std::uint8_t { read, write, atomic };
constexpr std::size_t access_kind_count = 3;
std::string to_string(AccessKind kind);

/// A request for at most one line of the level it travels to.
///
/// Copied member by member: a request is written and handed on at once, and a host that copies it
/// in wider pieces has to wait until the single members have left its store buffer.
struct LineRequest {
  LineRequest() = default;
  LineRequest(const LineRequest& other) { *this = other; }
  LineRequest& operator=(const LineRequest& other) {
    time = other.time;
    address = other.address;
    byte_mask = other.byte_mask;
    sequence = other.sequence;
    bytes = other.bytes;
    tag = other.tag;
    source = other.source;
    client = other.client;
    kind = other.kind;
    return *this;
  }

  Ticks time = 0;             ///< of arrival
  std::uint64_t address = 0;  ///< first byte wanted, aligned to `bytes`
  std::uint64_t byte_mask =
      0;  ///< bytes written or wanted: bit i is granule i of the receiving level's line
  std::uint64_t sequence = 0;  ///< of its source, ascending: breaks ties after (time, source)
  std::uint32_t bytes = 0;     ///< of the answer (reads) or of the line the writer holds
  std::uint32_t tag = 0;       ///< the source's own, returned with the answer
  std::uint16_t source = 0;    ///< port number at the receiving level
  MemoryClient client = MemoryClient::load_store;
  AccessKind kind = AccessKind::read;
};

/// Byte masks have 64 bits: one a byte for lines up to 64 bytes, else one a 1/64 of the line.
constexpr std::uint32_t granule_bytes(std::uint32_t line_bytes) {
  return line_bytes <= 64 ? 1 : line_bytes / 64;
}
/// All granules of a line.
constexpr std::uint64_t full_line_mask(std::uint32_t line_bytes) {
  return line_bytes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << line_bytes) - 1;
}
/// Granules touched by [address, address + bytes) inside its line of `line_bytes`.
std::uint64_t range_mask(std::uint64_t address, std::uint32_t bytes, std::uint32_t line_bytes);
/// A mask over the line of `from_bytes` at `address`, seen as part of the larger line of
/// `to_bytes`.
std::uint64_t widen_mask(std::uint64_t mask, std::uint64_t address, std::uint32_t from_bytes,
                         std::uint32_t to_bytes);

/// Requests and answers over one edge by client and kind; both ends count, the laws compare.
struct TrafficCounts {
  using Table = std::array<std::array<std::uint64_t, access_kind_count>, memory_client_count>;
  Table requests{};
  Table answers{};
  std::uint64_t& requests_of(MemoryClient client, AccessKind kind) {
    return requests[static_cast<std::size_t>(client)][static_cast<std::size_t>(kind)];
  }
  std::uint64_t& answers_of(MemoryClient client, AccessKind kind) {
    return answers[static_cast<std::size_t>(client)][static_cast<std::size_t>(kind)];
  }
};

}  // namespace fm
