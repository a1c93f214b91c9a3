#include "core/graph.hpp"

namespace fm {

std::string to_string(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "float32";
    case ElementType::float16:
      return "float16";
    case ElementType::int64:
      return "int64";
    case ElementType::int32:
      return "int32";
    case ElementType::int8:
      return "int8";
    case ElementType::uint8:
      return "uint8";
    case ElementType::boolean:
      return "boolean";
    case ElementType::float64:
      return "float64";
  }
  return "unknown";
}

}  // namespace fm
