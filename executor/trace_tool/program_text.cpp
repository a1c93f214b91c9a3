#include "executor/trace_tool/program_text.hpp"

#include <sstream>

namespace fm {
namespace {

std::string variable_text(const trace::LinearTerm& term) {
  static const char* const ids[] = {"group.x", "group.y", "group.z",
                                    "local.x", "local.y", "local.z"};
  const std::string index = std::to_string(term.index());
  switch (term.variable()) {
    case trace::LOOP:
      return "i" + index;
    case trace::DATA:
      return "data" + index;
    case trace::DERIVED:
      return "d" + index;
    default:
      return ids[term.variable()];
  }
}

std::string derivation_text(const trace::Derivation& derivation) {
  const std::string left = expression_text(derivation.left());
  const std::string right = expression_text(derivation.right());
  switch (derivation.operator_()) {
    case trace::Derivation::QUOTIENT:
      return "(" + left + ") / (" + right + ")";
    case trace::Derivation::REMAINDER:
      return "(" + left + ") % (" + right + ")";
    case trace::Derivation::MINIMUM:
      return "min(" + left + ", " + right + ")";
    case trace::Derivation::MAXIMUM:
      return "max(" + left + ", " + right + ")";
    case trace::Derivation::SHIFT_LEFT:
      return "(" + left + ") << (" + right + ")";
    case trace::Derivation::SHIFT_RIGHT:
      return "(" + left + ") >> (" + right + ")";
    default:
      return "(" + left + ") * (" + right + ")";
  }
}

class Printer {
 public:
  explicit Printer(const trace::AccessProgram& program) : program_(program) {}

  std::string print() {
    block(program_.body(), 1);
    return out_.str();
  }

 private:
  using Block = google::protobuf::RepeatedPtrField<trace::Node>;

  void block(const Block& nodes, int depth) {
    for (const trace::Node& node : nodes) {
      out_ << std::string(static_cast<std::size_t>(2 * depth), ' ');
      print_node(node, depth);
    }
  }

  void print_node(const trace::Node& node, int depth) {
    switch (node.node_case()) {
      case trace::Node::kLoop: {
        const trace::Node::Loop& loop = node.loop();
        const std::string i = "i" + std::to_string(loop.id());
        out_ << "for " << i << " = " << expression_text(loop.begin()) << "; " << i << " < "
             << expression_text(loop.end()) << "; " << i << " += " << loop.step() << "\n";
        return block(loop.body(), depth + 1);
      }
      case trace::Node::kGuard:
        return print_guard(node.guard(), depth);
      case trace::Node::kAccess:
        return print_access(node.access());
      case trace::Node::kArithmetic:
        out_ << node.arithmetic().count() << " x "
             << trace::ArithmeticKind_Name(node.arithmetic().kind());
        if (node.arithmetic().loads_in_flight() > 0) {
          out_ << ", newest " << node.arithmetic().loads_in_flight() << " loads in flight";
        }
        out_ << "\n";
        return;
      case trace::Node::kBarrier:
        out_ << "barrier\n";
        return;
      case trace::Node::kDerive:
        out_ << "d" << node.derive() << " = "
             << derivation_text(program_.derivations(static_cast<int>(node.derive()))) << "\n";
        return;
      case trace::Node::NODE_NOT_SET:
        return;
    }
  }

  void print_guard(const trace::Node::Guard& guard, int depth) {
    static const char* const relations[] = {"<", "<=", ">", ">=", "==", "!="};
    out_ << "if " << expression_text(guard.left()) << " " << relations[guard.relation()] << " "
         << expression_text(guard.right()) << "\n";
    block(guard.body(), depth + 1);
    if (guard.otherwise_size() == 0) return;
    out_ << std::string(static_cast<std::size_t>(2 * depth), ' ') << "else\n";
    block(guard.otherwise(), depth + 1);
  }

  void print_access(std::uint32_t index) {
    const trace::Site& site = program_.sites(static_cast<int>(index));
    if (site.index_load()) out_ << "data" << index << " = ";
    out_ << "site " << index << ": " << site_words(program_, index) << " at "
         << expression_text(site.x());
    if (site.space() == trace::IMAGE) out_ << ", " << expression_text(site.y());
    if (site.line() != 0) out_ << "  (line " << site.line() << ")";
    out_ << "\n";
  }

  const trace::AccessProgram& program_;
  std::ostringstream out_;
};

}  // namespace

std::string site_words(const trace::AccessProgram& program, std::uint32_t index) {
  static const char* const spaces[] = {"global", "image", "constant", "local"};
  const trace::Site& site = program.sites(static_cast<int>(index));
  std::string words = spaces[site.space()];
  words += site.atomic() ? " atomic" : site.write() ? " write" : " read";
  words += site.space() == trace::LOCAL
               ? " " + program.local_arrays(static_cast<int>(site.argument())).name()
               : " argument " + std::to_string(site.argument());
  return words + ", " + std::to_string(site.bytes()) + " bytes";
}

std::string expression_text(const trace::Expression& expression) {
  if (expression.explicit_table() != 0) {
    return "table" + std::to_string(expression.explicit_table() - 1) + "[next]";
  }
  std::string text;
  for (const trace::LinearTerm& term : expression.terms()) {
    const std::int64_t coefficient = term.coefficient();
    if (text.empty()) {
      if (coefficient == -1) text += "-";
    } else {
      text += coefficient < 0 ? " - " : " + ";
    }
    const std::int64_t shown = text.empty()      ? coefficient
                               : coefficient < 0 ? -coefficient
                                                 : coefficient;
    if (shown != 1) text += std::to_string(shown) + " * ";
    text += variable_text(term);
  }
  if (text.empty()) return std::to_string(expression.constant());
  if (expression.constant() > 0) text += " + " + std::to_string(expression.constant());
  if (expression.constant() < 0) text += " - " + std::to_string(-expression.constant());
  return text;
}

std::string program_text(const trace::AccessProgram& program) {
  std::ostringstream out;
  out << "program " << program.id() << ": kernel " << program.kernel() << ", "
      << program.local_size(0) << "x" << program.local_size(1) << "x" << program.local_size(2)
      << " work-items, " << program.group_count(0) << "x" << program.group_count(1) << "x"
      << program.group_count(2) << " work-groups\n";
  for (const trace::LocalArray& array : program.local_arrays()) {
    out << "  local " << array.name() << ": " << array.bytes() << " bytes\n";
  }
  return out.str() + Printer(program).print();
}

}  // namespace fm
