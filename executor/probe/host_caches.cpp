#include "executor/probe/host_caches.hpp"

#include <fstream>

namespace fm {
namespace {

std::string first_word(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// "48K" -> 49152; 0 for what is no size.
std::uint64_t bytes_of(const std::string& text) {
  std::size_t digits = 0;
  while (digits < text.size() && digits < 12 && text[digits] >= '0' && text[digits] <= '9') {
    ++digits;
  }
  if (digits == 0) return 0;
  const std::uint64_t number = std::stoull(text.substr(0, digits));
  const std::string unit = text.substr(digits);
  if (unit == "K") return number << 10;
  if (unit == "M") return number << 20;
  return unit.empty() ? number : 0;
}

}  // namespace

std::map<std::string, std::string> host_cache_facts(const std::filesystem::path& folder) {
  std::map<std::string, std::string> facts;
  constexpr int most_caches = 16;
  for (int i = 0; i < most_caches; ++i) {
    const std::filesystem::path cache = folder / ("index" + std::to_string(i));
    const std::string level = first_word(cache / "level");
    const std::uint64_t bytes = bytes_of(first_word(cache / "size"));
    if (level.empty() || bytes == 0 || first_word(cache / "type") == "Instruction") continue;
    const std::string name = "l" + level + "_";
    facts[name + "bytes"] = std::to_string(bytes);
    for (const auto& [fact, file] :
         {std::pair("ways", "ways_of_associativity"), std::pair("line", "coherency_line_size")}) {
      const std::string number = first_word(cache / file);
      if (bytes_of(number) > 0) facts[name + fact] = number;
    }
  }
  return facts;
}

}  // namespace fm
