#pragma once
// Index functions of tensor arguments: a launch parameter INDEX_<argument> says where the texels
// that the kernel asks for lie in the tensor it is given, so that eliminated reshapes and
// transposes cost index arithmetic and no copy. The kernel's source is the same with and without.

#include <optional>
#include <string>

#include "core/index_expression.hpp"
#include "core/plan.hpp"

namespace fm {

/// The parameter of an argument's index function.
std::string index_parameter(const std::string& argument);  // "INDEX_a"
/// The argument whose index function a parameter is; nullopt for other parameters.
std::optional<std::string> indexed_argument(const std::string& parameter);

/// Texel (x, y) of the kernel's grid and element `lane` of it, in the tensor:
///   "X, Y"               texels are texels of the tensor;
///   "X, Y, LANE, VALID"  element by element; elements from VALID on are 0, and not written;
///   "ELEMENT, VALID"     the same in a linear tensor.
/// in the syntax of core/index_expression.hpp, variables x, y and lane; VALID without lane.
struct IndexFunction {
  enum class Form { texels, elements, linear };
  Form form = Form::texels;
  IndexExpression x, y, lane, valid;
};

/// Throws UserError.
IndexFunction parse_index_function(const std::string& text, Layout stored);

/// The definitions that a launch's index functions put in front of its kernel's source.
std::string index_definitions(const Plan& plan, const PlanLaunch& launch);

}  // namespace fm
