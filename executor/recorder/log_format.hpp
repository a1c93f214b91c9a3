#pragma once
// What kernels/access_recording.clh and the Oclgrind plugin write: headers of records and the words
// that follow them.

#include <cstdint>

namespace fm {

enum class RecordKind : std::uint32_t {
  loop = 1,         ///< begin, end, step; then iterations and an end
  iteration = 2,    ///< one begins
  end = 3,          ///< of a loop or a guard
  guard = 4,        ///< left, right; detail: relation
  derivation = 5,   ///< left, right; detail: operator
  texel = 6,        ///< texel index in a buffer; detail: argument
  element = 7,      ///< element index in a buffer; detail: argument
  image = 8,        ///< texel x, y; detail: argument
  index = 9,        ///< element index, value; detail: argument
  local = 10,       ///< element index, id of the local array
  arithmetic = 11,  ///< count, loads in flight; detail: kind
  barrier = 12,
  local_array = 13,  ///< bytes, bytes of an element, length of the name, the name's characters
  // Of kernels that were not written with the access macros; detail: a trace::Space and flags
  any_memory = 14,  ///< byte offset, argument or number of the local array, bytes
  any_texel = 15    ///< texel x, y, argument, bytes of a texel
};

/// Set in the detail of an access that writes.
constexpr std::uint32_t log_writes = 128;
constexpr std::uint32_t log_atomic = 64;  ///< any_memory

struct LogHeader {
  explicit LogHeader(std::uint32_t word)
      : kind(static_cast<RecordKind>(word & 15)), detail(word >> 4 & 255), id(word >> 12) {}
  RecordKind kind;
  std::uint32_t detail;
  std::uint32_t id;
};

}  // namespace fm
