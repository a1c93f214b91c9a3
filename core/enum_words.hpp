#pragma once
// Enumerations as words in files: from a word to its value, or an error that lists the words.

#include <array>
#include <string>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {

/// The value whose to_string() is `word`. Throws UserError(where) naming the accepted words.
template <class Enum, std::size_t count>
Enum enum_from_word(const std::string& word, const std::array<Enum, count>& values,
                    const std::string& what, const SourceLocation& where = {}) {
  std::vector<std::string> words;
  for (const Enum value : values) {
    words.push_back(to_string(value));
    if (words.back() == word) return value;
  }
  throw UserError(where, what + ": unknown word '" + word + "': " + accepted_words(word, words));
}

}  // namespace fm
