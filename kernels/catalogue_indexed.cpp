// Elements placed by computed indices, and running sums.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

KernelEntry scatter_entry() {
  KernelEntry entry;
  entry.name = "scatter";
  entry.description = "updates combined into x at indices along an axis";
  entry.operations = {"ScatterElements", "ScatterND"};
  entry.parameters = {{"COMBINE", {"REPLACE", "ADD", "MULTIPLY"}, "an update with what was there"},
                      switch_range("PER_ELEMENT", "an index for each update")};
  entry.arguments = [](const KernelParameters&) {
    return Arguments()
        .tensor("x", false, ArgumentKind::linear)
        .tensor("indices", false, ArgumentKind::linear)
        .tensor("updates", false, ArgumentKind::linear)
        .tensor("y", true, ArgumentKind::linear)
        .integers({"count", "choices", "picks", "inner"});
  };
  entry.registers = [](const KernelParameters&) { return 12 + base_registers; };
  return entry;
}

KernelEntry scan_entry() {
  KernelEntry entry;
  entry.name = "scan";
  entry.description = "sums up to each element along an axis";
  entry.operations = {"CumSum"};
  entry.parameters = {switch_range("EXCLUSIVE", "without the element itself"),
                      switch_range("REVERSE", "from the end")};
  entry.arguments = [](const KernelParameters&) {
    return Arguments()
        .tensor("x", false, ArgumentKind::linear)
        .tensor("y", true, ArgumentKind::linear)
        .integers({"lines", "length", "inner"});
  };
  entry.registers = [](const KernelParameters&) { return 8 + base_registers; };
  return entry;
}

}  // namespace

std::vector<KernelEntry> indexed_entries() { return {scatter_entry(), scan_entry()}; }

}  // namespace fm
