// Kernels that go texel by texel.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

KernelEntry unary_entry() {
  KernelEntry entry;
  entry.name = "unary";
  entry.description = "an activation, element by element";
  entry.operations = {"Relu", "Sigmoid", "Erf", "Gelu", "HardSwish", "Clip"};
  entry.parameters = {activation_range(), residual_range()};
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("x")
        .tensor_if(has_residual(p), "residual")
        .tensor("y", true)
        .integers({"width", "height", "block", "extent"})
        .reals({"alpha", "beta"});
  };
  entry.registers = [](const KernelParameters&) { return 12 + base_registers; };
  return entry;
}

void add_broadcast(Arguments& list, const KernelParameters& p, const std::string& mode,
                   const std::string& t) {
  if (parameter_word(p, mode, "SAME") == "SAME") return;
  list.integers({t + "_block", t + "_inner", t + "_quotient", t + "_modulus", t + "_outer",
                 t + "_remainder", t + "_row"});
}

KernelEntry binary_entry() {
  KernelEntry entry;
  entry.name = "binary";
  entry.description = "two operands, element by element, with broadcasting";
  entry.operations = {"Add", "Sub", "Mul",   "Div",  "Max",   "Min",  "Pow",
                      "Mod", "And", "Equal", "Less", "PRelu", "Where"};
  const std::vector<std::string> modes{"SAME", "BROADCAST", "SPLAT"};
  entry.parameters = {{"OPERATOR",
                       {"ADD",           "SUBTRACT",   "MULTIPLY",    "DIVIDE", "MAXIMUM",
                        "MINIMUM",       "POWER",      "EQUAL",       "LESS",   "LESS_OR_EQUAL",
                        "LOGICAL_AND",   "LOGICAL_OR", "LOGICAL_XOR", "PRELU",  "INTEGER_DIVIDE",
                        "INTEGER_POWER", "MODULO",     "REMAINDER",   "PICK",   "PICK_OTHER"},
                       "x0 operator x1"},
                      {"MODE0", modes, "where x0's texel lies"},
                      {"MODE1", modes, "where x1's texel lies"},
                      activation_range(),
                      residual_range()};
  entry.arguments = [](const KernelParameters& p) {
    Arguments list;
    list.tensor("x0").tensor("x1").tensor_if(has_residual(p), "residual").tensor("y", true);
    list.integers({"width", "height", "block", "extent"});
    add_broadcast(list, p, "MODE0", "x0");
    add_broadcast(list, p, "MODE1", "x1");
    return list.reals({"alpha", "beta"});
  };
  entry.registers = [](const KernelParameters&) { return 16 + base_registers; };
  return entry;
}

}  // namespace

std::vector<KernelEntry> elementwise_entries() { return {unary_entry(), binary_entry()}; }

}  // namespace fm
