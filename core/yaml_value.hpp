#pragma once
// YAML values that know their place in the file, read with errors a user can act on. Used by the
// plan and the device config.

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/diagnostics.hpp"
#include "core/units.hpp"

namespace fm {

class YamlMap;

/// One node and what it is called in messages. All readers throw UserError at the node's place.
class YamlValue {
 public:
  YamlValue(const YAML::Node& node, std::shared_ptr<const std::string> file, std::string what)
      : node_(node), file_(std::move(file)), what_(std::move(what)) {}

  const std::string& what() const { return what_; }
  YamlValue renamed(const std::string& what) const { return YamlValue(node_, file_, what); }
  SourceLocation where() const;
  [[noreturn]] void fail(const std::string& message) const;

  bool is_null() const { return node_.IsNull(); }
  bool is_map() const { return node_.IsMap(); }
  bool is_scalar() const { return node_.IsScalar(); }
  std::string text() const;
  std::uint64_t unsigned_integer(std::uint64_t minimum = 0,
                                 std::uint64_t maximum = UINT64_MAX) const;
  std::int64_t integer(std::int64_t minimum = INT64_MIN, std::int64_t maximum = INT64_MAX) const;
  float real() const;
  Bytes bytes() const;
  std::vector<YamlValue> sequence() const;
  std::vector<std::string> texts() const;
  YamlMap map() const;

 private:
  friend class YamlMap;
  YAML::Node node_;
  std::shared_ptr<const std::string> file_;
  std::string what_;
};

/// A mapping whose keys are asked for one by one; reject_unknown() then refuses the rest, naming
/// the accepted ones.
class YamlMap {
 public:
  /// Throws UserError for a node that is no mapping, a key that is no word, a key given twice.
  explicit YamlMap(const YamlValue& value);

  YamlValue required(const std::string& key);
  /// nullptr when absent.
  const YamlValue* optional(const std::string& key);
  void reject_unknown() const;
  const std::map<std::string, YamlValue>& entries() const { return entries_; }
  SourceLocation where_key(const std::string& key) const;
  SourceLocation where() const { return value_.where(); }

 private:
  YamlValue value_;
  std::map<std::string, YamlValue> entries_;
  std::map<std::string, YAML::Mark> key_marks_;
  std::vector<std::string> asked_;
};

/// The single document of `yaml`. Throws UserError for a syntax error or several documents.
YamlValue parse_yaml_document(const std::string& yaml, const std::string& file_name);

/// The whole of a text file. Throws UserError when it cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace fm
