#include "core/yaml_text.hpp"

namespace fm {
namespace {

bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-';
}

/// Words that a YAML reader may take for something else than text.
bool is_reserved(const std::string& text) {
  for (const char* word :
       {"null", "Null", "NULL", "true", "false", "yes", "no", "-", ".", "/", "..."}) {
    if (text == word) return true;
  }
  return text.rfind("--", 0) == 0;
}

}  // namespace

std::string yaml_quoted(const std::string& text) {
  static const char* digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string yaml_word(const std::string& text) {
  bool plain = !text.empty() && !is_reserved(text) && text[0] != '-';
  for (const char c : text) plain = plain && is_plain_character(c);
  return plain ? text : yaml_quoted(text);
}

}  // namespace fm
