#include "core/yaml_value.hpp"

#include <yaml-cpp/depthguard.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "core/device_config.hpp"
#include "core/real_number.hpp"

namespace fm {
namespace {

SourceLocation location(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return {file};
  return {file, mark.line + 1, mark.column + 1};
}

template <class Number>
bool parse_whole(const std::string& text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc{} && stop == end;
}

/// No plan or config is near it; a device file would have no end.
constexpr std::size_t largest_text_file = std::size_t{256} << 20;

/// The parser knows a tab only as a character out of place.
bool is_indented_by_tab(const std::string& yaml, int line) {
  std::size_t begin = 0;
  for (int i = 0; i < line; ++i) {
    begin = yaml.find('\n', begin);
    if (begin == std::string::npos) return false;
    ++begin;
  }
  const std::size_t text = yaml.find_first_not_of(" \t", begin);
  const std::size_t tab = yaml.find('\t', begin);
  return tab != std::string::npos && tab < text;
}

}  // namespace

SourceLocation YamlValue::where() const { return location(*file_, node_.Mark()); }

void YamlValue::fail(const std::string& message) const {
  throw UserError(where(), what_.empty() ? message : what_ + ": " + message);
}

std::string YamlValue::text() const {
  if (!node_.IsScalar()) fail("needs a single value, not a list, mapping or nothing");
  return node_.Scalar();
}

std::uint64_t YamlValue::unsigned_integer(std::uint64_t minimum, std::uint64_t maximum) const {
  std::uint64_t number = 0;
  if (parse_whole(text(), &number) && number >= minimum && number <= maximum) return number;
  std::string needed = "needs an integer of at least " + std::to_string(minimum);
  if (maximum != UINT64_MAX) needed += " and at most " + std::to_string(maximum);
  fail(needed + ", not '" + text() + "'");
}

std::int64_t YamlValue::integer(std::int64_t minimum, std::int64_t maximum) const {
  std::int64_t number = 0;
  if (parse_whole(text(), &number) && number >= minimum && number <= maximum) return number;
  fail("needs an integer between " + std::to_string(minimum) + " and " + std::to_string(maximum) +
       ", not '" + text() + "'");
}

float YamlValue::real() const {
  const std::string word = text();
  if (word == ".inf") return std::numeric_limits<float>::infinity();
  if (word == "-.inf") return -std::numeric_limits<float>::infinity();
  if (word == ".nan") return std::numeric_limits<float>::quiet_NaN();
  double number = 0;
  const auto [end, error] = read_real(word, number);
  const auto rounded = static_cast<float>(number);
  if (error != std::errc{} || *end != '\0' || !std::isfinite(rounded)) {
    fail("needs a number, '.inf', '-.inf' or '.nan', not '" + word + "'");
  }
  return rounded;
}

Bytes YamlValue::bytes() const {
  const double number = parse_quantity(text(), QuantityKind::bytes, where());
  if (number < 0 || number > 0x1p53)
    fail("needs a size between 0 B and 8 PiB, not '" + text() + "'");
  return Bytes(static_cast<std::uint64_t>(number));
}

std::vector<YamlValue> YamlValue::sequence() const {
  if (!node_.IsSequence()) fail("needs a list");
  std::vector<YamlValue> items;
  items.reserve(node_.size());
  for (const YAML::Node& item : node_) items.emplace_back(item, file_, what_);
  return items;
}

std::vector<std::string> YamlValue::texts() const {
  std::vector<std::string> words;
  for (const YamlValue& item : sequence()) words.push_back(item.text());
  return words;
}

YamlMap YamlValue::map() const { return YamlMap(*this); }

YamlMap::YamlMap(const YamlValue& value) : value_(value) {
  if (!value.node_.IsMap()) value.fail("needs a mapping of keys to values");
  for (const auto& entry : value.node_) {
    const SourceLocation where = location(*value.file_, entry.first.Mark());
    if (!entry.first.IsScalar()) throw UserError(where, value.what_ + ": a key must be a word");
    const std::string key = entry.first.Scalar();
    const std::string what = value.what_.empty() ? key : value.what_ + ": " + key;
    if (!entries_.emplace(key, YamlValue(entry.second, value.file_, what)).second) {
      throw UserError(where, what + ": given twice");
    }
    key_marks_[key] = entry.first.Mark();
  }
}

YamlValue YamlMap::required(const std::string& key) {
  const YamlValue* value = optional(key);
  if (value == nullptr) value_.fail("the key '" + key + "' is missing");
  return *value;
}

const YamlValue* YamlMap::optional(const std::string& key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? nullptr : &entry->second;
}

void YamlMap::reject_unknown() const {
  for (const auto& [key, value] : entries_) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    throw UserError(where_key(key), value.what_ + ": unknown key: " + accepted_words(key, asked_));
  }
}

SourceLocation YamlMap::where_key(const std::string& key) const {
  return location(*value_.file_, key_marks_.at(key));
}

YamlValue parse_yaml_document(const std::string& yaml, const std::string& file_name) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(yaml);
    if (documents.size() != 1) {
      throw UserError({file_name},
                      "needs one YAML document, has " + std::to_string(documents.size()));
    }
    return YamlValue(documents.front(), std::make_shared<const std::string>(file_name), "");
  } catch (const YAML::DeepRecursion& error) {
    throw UserError(location(file_name, error.mark),
                    "not valid YAML: nested more than " + std::to_string(error.depth()) + " deep");
  } catch (const YAML::Exception& error) {
    if (!error.mark.is_null() && is_indented_by_tab(yaml, error.mark.line)) {
      throw UserError(location(file_name, error.mark),
                      "not valid YAML: lines are indented by spaces, this one by a tab");
    }
    throw UserError(location(file_name, error.mark), "not valid YAML: " + error.msg);
  }
}

std::string read_text_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UserError({path}, "is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError({path}, "cannot be opened for reading");
  std::string text;
  std::vector<char> piece(std::size_t{1} << 16);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > largest_text_file) {
      throw UserError({path}, "is too large for a text file: more than 256 MiB");
    }
  }
  if (file.bad()) throw UserError({path}, "cannot be read");
  return text;
}

}  // namespace fm
