#include "core/digest.hpp"

#include <xxhash.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr std::size_t read_block = std::size_t{1} << 20;

std::string to_text(const XXH128_hash_t& hash) {
  char text[40];
  std::snprintf(text, sizeof text, "xxh3:%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

}  // namespace

std::string digest_of(const void* data, std::size_t size) {
  return to_text(XXH3_128bits(data, size));
}

std::string digest_of(const std::string& text) { return digest_of(text.data(), text.size()); }

std::string digest_of_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UserError({path}, "is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError({path}, "cannot be opened for reading");
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                 &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> block(read_block);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) throw UserError({path}, "cannot be read to its end");
  return to_text(XXH3_128bits_digest(state.get()));
}

std::uint64_t checksum_of(const void* data, std::size_t size) { return XXH3_64bits(data, size); }

}  // namespace fm
