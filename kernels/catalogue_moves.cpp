// Kernels that bring data from one place to another.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

KernelEntry move_entry() {
  KernelEntry entry;
  entry.name = "move";
  entry.description = "strided gather between any two of linear, rows and channels";
  entry.operations = {"Transpose", "Reshape", "Slice", "Expand", "Cast", "Flatten"};
  const std::vector<std::string> layouts{"LINEAR", "ROWS", "CHANNELS"};
  entry.parameters = {{"X_LAYOUT", layouts, "of x"},
                      {"Y_LAYOUT", layouts, "of y"},
                      {"RANK", {"1", "2", "3", "4", "5", "6"}, "dimensions of y that count"},
                      switch_range("WHOLE", "a texel of y is a texel of x")};
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("x", false,
                parameter_word(p, "X_LAYOUT", "") == "LINEAR" ? ArgumentKind::linear
                                                              : ArgumentKind::texels)
        .tensor("y", true,
                parameter_word(p, "Y_LAYOUT", "") == "LINEAR" ? ArgumentKind::linear
                                                              : ArgumentKind::texels)
        .integers({"x_inner", "x_height", "x_channels", "width", "height", "offset", "d1", "d2",
                   "d3", "d4", "d5", "s0", "s1", "s2", "s3", "s4", "s5"});
  };
  entry.registers = [](const KernelParameters&) { return 20 + base_registers; };
  return entry;
}

ArgumentKind data_kind(const KernelParameters& p) {
  return parameter_on(p, "LINEAR") ? ArgumentKind::linear : ArgumentKind::texels;
}
ParameterRange linear_range() { return switch_range("LINEAR", "x and y are linear, not texels"); }

KernelEntry place_entry() {
  KernelEntry entry;
  entry.name = "place";
  entry.description = "x into a region of y (concatenation, padding)";
  entry.operations = {"Concat", "Pad"};
  entry.parameters = {linear_range()};
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("x", false, data_kind(p))
        .tensor("y", true, data_kind(p))
        .integers({"width", "height", "x_from", "x_to", "x_start", "y_from", "y_to", "y_start"});
  };
  entry.registers = [](const KernelParameters&) { return 8 + base_registers; };
  return entry;
}

KernelEntry gather_entry() {
  KernelEntry entry;
  entry.name = "gather";
  entry.description = "x taken at indices along an axis";
  entry.operations = {"Gather", "GatherElements"};
  entry.parameters = {linear_range(), switch_range("PER_ELEMENT", "an index for each element")};
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("x", false, data_kind(p))
        .tensor("indices", false, ArgumentKind::index)
        .tensor("y", true, data_kind(p))
        .integers({"width", "height", "choices", "picks", "inner"});
  };
  entry.registers = [](const KernelParameters&) { return 10 + base_registers; };
  return entry;
}

KernelEntry resize_entry() {
  KernelEntry entry;
  entry.name = "resize";
  entry.description = "H and W resized, nearest or bilinear";
  entry.operations = {"Resize", "Upsample"};
  entry.parameters = {{"MODE", {"NEAREST", "LINEAR"}, "interpolation"}};
  entry.arguments = [](const KernelParameters&) {
    return Arguments().tensor("x").tensor("y", true).integers(
        {"channels", "in_height", "in_width", "out_height", "out_width", "out_rows", "scale_h",
         "start_h", "divisor_h", "shift_h", "scale_w", "start_w", "divisor_w", "shift_w"});
  };
  entry.registers = [](const KernelParameters&) { return 28 + base_registers; };
  return entry;
}

}  // namespace

std::vector<KernelEntry> move_entries() {
  return {move_entry(), place_entry(), gather_entry(), resize_entry()};
}

}  // namespace fm
