// Convolutions and pooling.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

Arguments convolution_arguments(const KernelParameters& p) {
  return Arguments()
      .tensor("x")
      .tensor("filter")
      .tensor_if(parameter_on(p, "BIAS"), "bias")
      .tensor_if(has_residual(p), "residual")
      .tensor("y", true);
}

KernelEntry conv_entry() {
  KernelEntry entry;
  entry.name = "conv";
  entry.description = "direct convolution of any kernel, stride, dilation and padding; groups = 1";
  entry.operations = {"Conv"};
  entry.parameters = {
      {"TILE_W", {"1", "2", "4", "8", "16", "28", "32"}, "outputs along W a work-item"},
      {"TILE_O4", {"1", "2", "3", "4", "6", "8"}, "output channel texels a work-item"},
      vector_range(),
      switch_range("POINTWISE", "1x1 kernel without padding"),
      switch_range("BIAS", "a bias is added"),
      activation_range(),
      residual_range()};
  entry.arguments = [](const KernelParameters& p) {
    Arguments list = convolution_arguments(p);
    list.integers({"in_channels4", "in_height", "in_width", "out_channels", "out_height",
                   "out_width", "out_rows", "stride_h", "stride_w"});
    if (!parameter_on(p, "POINTWISE")) {
      list.integers({"kernel_h", "kernel_w", "dilation_h", "dilation_w", "pad_top", "pad_left"});
    }
    return list.reals({"alpha", "beta"});
  };
  entry.registers = [](const KernelParameters& p) {
    const std::uint32_t w = parameter_number(p, "TILE_W"), o4 = parameter_number(p, "TILE_O4");
    return 4 * w * o4 + 4 * w + 4 * o4 + base_registers + (parameter_on(p, "POINTWISE") ? 0 : 6);
  };
  return entry;
}

KernelEntry depthwise_entry() {
  KernelEntry entry;
  entry.name = "depthwise";
  entry.description = "depthwise convolution; groups = channels = outputs";
  entry.operations = {"Conv"};
  entry.parameters = {
      {"TILE_W", {"1", "2", "4", "8", "16", "28", "32"}, "outputs along W a work-item"},
      vector_range(),
      switch_range("BIAS", "a bias is added"),
      activation_range(),
      residual_range()};
  entry.arguments = [](const KernelParameters& p) {
    return convolution_arguments(p)
        .integers({"channels", "in_height", "in_width", "out_height", "out_width", "out_rows",
                   "stride_h", "stride_w", "kernel_h", "kernel_w", "dilation_h", "dilation_w",
                   "pad_top", "pad_left"})
        .reals({"alpha", "beta"});
  };
  entry.registers = [](const KernelParameters& p) {
    return 4 * parameter_number(p, "TILE_W") + 8 + base_registers + 6;
  };
  return entry;
}

KernelEntry transposed_conv_entry() {
  KernelEntry entry;
  entry.name = "transposed_conv";
  entry.description = "transposed convolution, one output texel a work-item; groups = 1";
  entry.operations = {"ConvTranspose"};
  entry.parameters = {switch_range("BIAS", "a bias is added"), activation_range(),
                      residual_range()};
  entry.arguments = [](const KernelParameters& p) {
    return convolution_arguments(p)
        .integers({"in_channels4", "in_height", "in_width", "out_channels", "out_height",
                   "out_width", "out_rows", "stride_h", "stride_w", "kernel_h", "kernel_w",
                   "dilation_h", "dilation_w", "pad_top", "pad_left"})
        .reals({"alpha", "beta"});
  };
  entry.registers = [](const KernelParameters&) { return 12 + base_registers + 8; };
  return entry;
}

KernelEntry pool_entry() {
  KernelEntry entry;
  entry.name = "pool";
  entry.description = "maximum or average over a window";
  entry.operations = {"MaxPool", "AveragePool"};
  entry.parameters = {{"KIND", {"MAXIMUM", "AVERAGE"}, "what is taken of a window"},
                      switch_range("INCLUDE_PAD", "padding counts in the average")};
  entry.arguments = [](const KernelParameters&) {
    return Arguments().tensor("x").tensor("y", true).integers(
        {"channels", "in_height", "in_width", "out_height", "out_width", "out_rows", "stride_h",
         "stride_w", "kernel_h", "kernel_w", "dilation_h", "dilation_w", "pad_top", "pad_left"});
  };
  entry.registers = [](const KernelParameters&) { return 8 + base_registers + 8; };
  return entry;
}

}  // namespace

std::vector<KernelEntry> convolution_entries() {
  return {conv_entry(), depthwise_entry(), transposed_conv_entry(), pool_entry()};
}

}  // namespace fm
