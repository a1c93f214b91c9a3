#pragma once
// Content digests: XXH3 (libxxhash). They detect mistakes and damage, not malice.

#include <cstddef>
#include <cstdint>
#include <string>

namespace fm {

/// "xxh3:<32 hex digits>" of the bytes (XXH3-128).
std::string digest_of(const void* data, std::size_t size);
std::string digest_of(const std::string& text);
/// Digest of a file's contents. Throws UserError when it cannot be read.
std::string digest_of_file(const std::string& path);
/// XXH3-64, the checksum of a weight slice and of a trace frame.
std::uint64_t checksum_of(const void* data, std::size_t size);

}  // namespace fm
