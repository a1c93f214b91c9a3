#pragma once
// Little-endian integers in files, on any host.

#include <cstddef>
#include <cstdint>
#include <string>

namespace fm {

template <class Integer>
void append_little_endian(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    out += static_cast<char>((value >> (8 * i)) & 0xff);
  }
}

/// Reads sizeof(Integer) bytes at `bytes`.
template <class Integer>
Integer little_endian_at(const char* bytes) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |=
        static_cast<Integer>(static_cast<Integer>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  }
  return value;
}

}  // namespace fm
