#include "sim/replay/uniformity.hpp"

namespace fm {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<trace::Node>;

void mark(const trace::AccessProgram& program, const Nodes& body, LaneVariables* found) {
  for (const auto& node : body) {
    if (node.has_loop()) {
      const auto& loop = node.loop();
      if (loop.id() >= found->loops.size()) found->loops.resize(loop.id() + 1);
      found->loops[loop.id()] = found->in(loop.begin());
      mark(program, loop.body(), found);
    } else if (node.has_guard()) {
      mark(program, node.guard().body(), found);
      mark(program, node.guard().otherwise(), found);
    } else if (node.node_case() == trace::Node::kDerive) {
      const auto& derivation = program.derivations(static_cast<int>(node.derive()));
      found->derivations[node.derive()] =
          found->in(derivation.left()) || found->in(derivation.right());
    }
  }
}

}  // namespace

bool LaneVariables::in(const trace::Expression& expression) const {
  if (expression.explicit_table() != 0) return true;
  for (const auto& term : expression.terms()) {
    switch (term.variable()) {
      case trace::LOCAL_X:
      case trace::LOCAL_Y:
      case trace::LOCAL_Z:
      case trace::DATA:
        return true;
      case trace::LOOP:
        if (loops.at(term.index())) return true;
        break;
      case trace::DERIVED:
        if (derivations.at(term.index())) return true;
        break;
      default:
        break;
    }
  }
  return false;
}

LaneVariables find_lane_variables(const trace::AccessProgram& program) {
  LaneVariables found;
  found.derivations.resize(static_cast<std::size_t>(program.derivations_size()));
  mark(program, program.body(), &found);
  return found;
}

}  // namespace fm
