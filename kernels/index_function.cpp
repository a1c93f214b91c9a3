#include "kernels/index_function.hpp"

#include <vector>

#include "core/diagnostics.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

const std::string prefix = "INDEX_";

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

std::int64_t logarithm(std::int64_t power) {
  std::int64_t log = 0;
  while ((std::int64_t{1} << log) < power) ++log;
  return log;
}

std::string call(const std::string& macro, const std::string& a, std::int64_t b) {
  return macro + "(" + a + ", " + std::to_string(b) + ")";
}

/// In the access macros, so that the recording build sees every quotient and remainder. Operands
/// are never negative: powers of two shift.
std::string open_cl(const IndexExpression& e) {
  std::string text;
  for (const auto& [name, scaled] : e.terms()) {
    const IndexTerm& term = *scaled.term;
    std::string part = "(" + term.name + ")";
    if (term.kind != IndexTerm::Kind::variable) {
      const std::string operand = open_cl(term.operand);
      const bool shift = is_power_of_two(term.divisor);
      const std::string quotient = shift ? call("FM_SHIFT_RIGHT", operand, logarithm(term.divisor))
                                         : call("FM_QUOTIENT", operand, term.divisor);
      if (term.kind == IndexTerm::Kind::quotient) {
        part = quotient;
      } else if (shift) {
        part = "(" + operand + " - " + std::to_string(term.divisor) + " * " + quotient + ")";
      } else {
        part = call("FM_REMAINDER", operand, term.divisor);
      }
    }
    text += (text.empty() ? "" : " + ") + std::to_string(scaled.coefficient) + " * " + part;
  }
  const std::string constant = std::to_string(e.constant());
  return "(" + (text.empty() ? constant : e.constant() == 0 ? text : text + " + " + constant) + ")";
}

/// Integer operations of an expression: a quotient or remainder by a constant is a high product, a
/// shift and a product with difference.
int operations(const IndexExpression& e) {
  int count = 0;
  for (const auto& [name, scaled] : e.terms()) {
    if (scaled.coefficient != 1 || e.terms().size() > 1) ++count;
    const IndexTerm& term = *scaled.term;
    if (term.kind == IndexTerm::Kind::variable) continue;
    const bool remainder = term.kind == IndexTerm::Kind::remainder;
    count += (is_power_of_two(term.divisor) ? 1 : remainder ? 3 : 2) + operations(term.operand);
  }
  return count;
}

std::string define(const std::string& name, const std::string& parameters,
                   const std::string& value) {
  return "#define " + name + parameters + " " + value + "\n";
}

std::string definitions(const std::string& argument, const IndexFunction& function) {
  const bool by_element = function.form != IndexFunction::Form::texels;
  const std::string parameters = by_element ? "(x, y, lane)" : "(x, y)";
  std::string text = define("FM_AT_X_" + argument, parameters, open_cl(function.x));
  text += define("FM_AT_Y_" + argument, parameters, open_cl(function.y));
  int count = operations(function.x) + operations(function.y);
  if (by_element) {
    text += define("FM_AT_LANE_" + argument, parameters, open_cl(function.lane));
    text += define("FM_VALID_" + argument, "(x, y)", open_cl(function.valid));
    count += operations(function.lane);
  }
  return text + define("FM_INDEX_OPERATIONS_" + argument, "", std::to_string(count));
}

}  // namespace

std::string index_parameter(const std::string& argument) { return prefix + argument; }

std::optional<std::string> indexed_argument(const std::string& parameter) {
  if (parameter.rfind(prefix, 0) != 0) return std::nullopt;
  return parameter.substr(prefix.size());
}

IndexFunction parse_index_function(const std::string& text, Layout stored) {
  // As wide as an index may be.
  const std::map<std::string, std::int64_t> variables = {
      {"x", std::int64_t{1} << 31}, {"y", std::int64_t{1} << 31}, {"lane", 4}};
  std::vector<IndexExpression> parts;
  for (const std::string& part : split_at_commas(text)) {
    parts.push_back(parse_index_expression(part, variables));
  }
  IndexFunction function;
  const bool linear = stored == Layout::linear;
  if (parts.size() != 2 && (linear || parts.size() != 4)) {
    throw UserError("index function `" + text + "`: " + std::to_string(parts.size()) +
                    " expressions, where " +
                    (linear ? "`ELEMENT, VALID` is needed for a linear tensor"
                            : "`X, Y` or `X, Y, LANE, VALID` is needed"));
  }
  function.x = parts[0];
  function.form = linear              ? IndexFunction::Form::linear
                  : parts.size() == 2 ? IndexFunction::Form::texels
                                      : IndexFunction::Form::elements;
  if (linear) {
    function.valid = parts[1];
  } else {
    function.y = parts[1];
  }
  if (parts.size() == 4) {
    function.lane = parts[2];
    function.valid = parts[3];
  }
  const bool whole = function.form == IndexFunction::Form::texels;
  if (function.valid.uses("lane") ||
      (whole && (function.x.uses("lane") || function.y.uses("lane")))) {
    throw UserError("index function `" + text + "`: " + (whole ? "X and Y" : "VALID") +
                    " cannot depend on lane");
  }
  return function;
}

std::string index_definitions(const Plan& plan, const PlanLaunch& launch) {
  std::string text;
  const auto arguments = catalogue_entry(launch.kernel).arguments(launch.parameters);
  for (std::size_t i = 0; i < arguments.size() && i < launch.arguments.size(); ++i) {
    const auto found = launch.parameters.find(index_parameter(arguments[i].name));
    const auto* argument = std::get_if<TensorArgument>(&launch.arguments[i]);
    if (found == launch.parameters.end() || argument == nullptr) continue;
    const Layout stored = plan.tensor(argument->tensor).layout;
    text += definitions(arguments[i].name, parse_index_function(found->second, stored));
  }
  return text;
}

}  // namespace fm
