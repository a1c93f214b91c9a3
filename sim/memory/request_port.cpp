#include "sim/memory/request_port.hpp"

#include "core/diagnostics.hpp"

namespace fm {

RequestPort parse_request_port(const std::string& option, const std::string& word) {
  static const std::vector<std::string> words = {"core-cluster", "core-l2", "l2-slc", "slc-dram"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<RequestPort>(i);
  }
  throw UserError(option + " " + word + ": " + accepted_words(word, words));
}

}  // namespace fm
