#pragma once
// The .cl and .clh files of this folder, embedded at build time (cmake/embed_sources.cmake).

#include <map>
#include <string>

namespace fm {
/// File name ("matmul.cl") -> contents.
const std::map<std::string, std::string>& embedded_sources();
}  // namespace fm
