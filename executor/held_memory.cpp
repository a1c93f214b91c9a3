#include "executor/held_memory.hpp"

#include "core/figures_text.hpp"

namespace fm {
namespace {

constexpr std::pair<const char*, Bytes MemoryClaims::*> memory_classes[] = {
    {"preloaded", &MemoryClaims::preloaded},       {"UM in flight", &MemoryClaims::um_in_flight},
    {"TM in flight", &MemoryClaims::tm_in_flight}, {"activations", &MemoryClaims::activations},
    {"staging", &MemoryClaims::staging},
};

}  // namespace

std::string by_class(const MemoryClaims& claims) {
  std::string text;
  for (const auto& [name, bytes] : memory_classes) {
    text += (text.empty() ? "" : ", ") + (name + (" " + mebibytes(claims.*bytes)));
  }
  return text;
}

std::string held_text(const OpenClError& failure, const MemoryClaims& held) {
  std::string classes;
  for (const auto& [name, bytes] : memory_classes) {
    if (held.*bytes == Bytes(0)) continue;
    classes += (classes.empty() ? "" : ", ") + (name + (" " + mebibytes_up(held.*bytes)));
  }
  std::string text;
  if (failure.code() == CL_DEVICE_NOT_AVAILABLE) text += "\nthe device was lost";
  if (!classes.empty()) text += "\nheld on the device until then, now freed: " + classes;
  if (failure.is_exhaustion()) {
    text += "\nif its memory is too small: `fmplan --policy optimal --budget SIZE` plans for less";
  }
  return text;
}

}  // namespace fm
