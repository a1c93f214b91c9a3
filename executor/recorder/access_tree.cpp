#include "executor/recorder/access_tree.hpp"

namespace fm {

AccessTree::AccessTree() {
  for (const trace::VariableKind kind : {trace::GROUP_X, trace::GROUP_Y, trace::GROUP_Z,
                                         trace::LOCAL_X, trace::LOCAL_Y, trace::LOCAL_Z}) {
    variables.emplace_back().kind = kind;
  }
}

std::uint32_t expression_count(RecordKind kind) {
  switch (kind) {
    case RecordKind::loop:
    case RecordKind::guard:
    case RecordKind::derivation:
    case RecordKind::image:
    case RecordKind::any_memory:
      return 2;
    case RecordKind::any_texel:
      return 3;
    case RecordKind::texel:
    case RecordKind::element:
    case RecordKind::index:
    case RecordKind::local:
      return 1;
    default:
      return 0;
  }
}

}  // namespace fm
