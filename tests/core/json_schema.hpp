#pragma once
// The part of JSON Schema that core/result.schema.json uses, as a list of violations.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fm {

using SchemaErrors = std::vector<std::string>;

inline bool has_type(const nlohmann::json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

inline void check_schema(const nlohmann::json& value, const nlohmann::json& schema,
                         const std::string& path, SchemaErrors& errors) {
  if (schema.contains("const") && value != schema["const"])
    errors.push_back(path + ": not the constant");
  if (schema.contains("type") && !has_type(value, schema["type"])) {
    errors.push_back(path + ": not of type " + schema["type"].get<std::string>());
    return;
  }
  if (schema.contains("enum")) {
    bool found = false;
    for (const auto& word : schema["enum"]) found = found || word == value;
    if (!found) errors.push_back(path + ": not among the accepted words");
  }
  if (schema.contains("minimum") && value < schema["minimum"])
    errors.push_back(path + ": too small");
  for (const auto& key : schema.value("required", nlohmann::json::array())) {
    if (!value.contains(key.get<std::string>())) {
      errors.push_back(path + ": lacks " + key.get<std::string>());
    }
  }
  if (value.is_object()) {
    const auto properties = schema.value("properties", nlohmann::json::object());
    for (const auto& [key, item] : value.items()) {
      if (properties.contains(key)) {
        check_schema(item, properties[key], path + "/" + key, errors);
      } else if (schema.contains("additionalProperties")) {
        const auto& rest = schema["additionalProperties"];
        if (rest.is_object()) check_schema(item, rest, path + "/" + key, errors);
        if (rest.is_boolean() && !rest) errors.push_back(path + ": has the unknown key " + key);
      }
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      check_schema(value[i], schema["items"], path + "/" + std::to_string(i), errors);
    }
  }
}

}  // namespace fm
