#pragma once
// Text as YAML scalars.

#include <string>

namespace fm {

/// Always in double quotes, special characters escaped.
std::string yaml_quoted(const std::string& text);
/// Plain where every YAML reader takes it as this text, quoted otherwise.
std::string yaml_word(const std::string& text);

}  // namespace fm
