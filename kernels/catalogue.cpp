// The entries of the catalogue. Argument lists mirror the __kernel declarations in the .cl files.
#include "kernels/catalogue.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

namespace fm {
namespace {

std::string value_of(const KernelParameters& parameters, const std::string& name,
                     const std::string& otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}
std::uint32_t number(const KernelParameters& parameters, const std::string& name) {
  return static_cast<std::uint32_t>(std::stoul(value_of(parameters, name, "1")));
}
bool on(const KernelParameters& parameters, const std::string& name) {
  return value_of(parameters, name, "0") != "0";
}

/// An argument list in the making. Tensor arguments bring their pitch along.
class Arguments {
 public:
  Arguments& tensor(const std::string& name, bool write = false,
                    ArgumentKind kind = ArgumentKind::texels) {
    list_.push_back({name, kind, write});
    list_.push_back({name + "_pitch", ArgumentKind::integer, false});
    return *this;
  }
  Arguments& tensor_if(bool present, const std::string& name) {
    return present ? tensor(name) : *this;
  }
  Arguments& integers(std::initializer_list<std::string> names) {
    for (const std::string& name : names) list_.push_back({name, ArgumentKind::integer, false});
    return *this;
  }
  Arguments& reals(std::initializer_list<std::string> names) {
    for (const std::string& name : names) list_.push_back({name, ArgumentKind::real, false});
    return *this;
  }
  operator std::vector<KernelArgument>() const { return list_; }

 private:
  std::vector<KernelArgument> list_;
};

bool has_residual(const KernelParameters& p) { return value_of(p, "RESIDUAL", "NONE") != "NONE"; }

const std::vector<std::string> switch_values{"0", "1"};
const ParameterRange activation_range{
    "ACTIVATION",
    {"NONE", "RELU", "GELU_ERF",   "GELU_TANH", "SIGMOID", "HARD_SIGMOID", "HARD_SWISH", "CLIP",
     "TANH", "SILU", "LEAKY_RELU", "EXP",       "LOG",     "SQRT",         "RECIPROCAL", "NEG",
     "ABS",  "ERF",  "FLOOR",      "CEIL",      "ELU",     "SOFTPLUS",     "SWISH_ONE"},
    "applied to the result"};
const ParameterRange residual_range{
    "RESIDUAL", {"NONE", "BEFORE", "AFTER"}, "a tensor added before or after the activation"};
const ParameterRange bias_range{"BIAS", switch_values, "a bias is added"};
const ParameterRange group_range{
    "GROUP", {"1", "2", "4", "8", "16", "32", "64", "128"}, "work-items a row"};
const ParameterRange group_log_range{
    "GROUP_LOG2", {"0", "1", "2", "3", "4", "5", "6", "7"}, "log2 of GROUP"};
const ParameterRange group_rows_range{"GROUP_ROWS", {}, "rows a work-group"};

// Registers are estimated: accumulators and operands in fp32, and 12 for addresses, counters and
// arguments.
constexpr std::uint32_t base_registers = 12;

KernelEntry matmul_entry(const std::string& name, bool local_memory) {
  KernelEntry entry;
  entry.name = name;
  entry.description = local_memory ? "matrix product, operands staged in local memory"
                                   : "matrix product, register tiles";
  entry.operations = {"MatMul", "Gemm"};
  entry.parameters = {{"TILE_M", {"1", "2", "4", "5", "6", "8"}, "rows of c a work-item"},
                      {"TILE_N4", {"1", "2", "4", "8"}, "texels of c a work-item"},
                      bias_range,
                      activation_range,
                      residual_range};
  if (local_memory) {
    entry.parameters.push_back({"GROUP_X", {}, "work-items a group along texels of c"});
    entry.parameters.push_back({"GROUP_Y", {}, "work-items a group along rows of c"});
    entry.parameters.push_back(
        {"TILE_K4", {"1", "2", "4", "8"}, "texels of a row of a staged at once"});
  } else {
    entry.parameters.push_back({"B_TRANSPOSED", switch_values, "b holds [.., N, K]"});
  }
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("a")
        .tensor("b")
        .tensor_if(on(p, "BIAS"), "bias")
        .tensor_if(has_residual(p), "residual")
        .tensor("c", true)
        .integers({"rows", "depth", "columns", "width", "a_batch", "b_batch"})
        .reals({"scale", "alpha", "beta"});
  };
  entry.registers = [](const KernelParameters& p) {
    const std::uint32_t m = number(p, "TILE_M"), n4 = number(p, "TILE_N4");
    const std::uint32_t right = on(p, "B_TRANSPOSED") ? 16 : 4 * n4;
    return 4 * m * n4 + 4 * m + right + base_registers;
  };
  return entry;
}

Arguments convolution_arguments(const KernelParameters& p) {
  return Arguments()
      .tensor("x")
      .tensor("filter")
      .tensor_if(on(p, "BIAS"), "bias")
      .tensor_if(has_residual(p), "residual")
      .tensor("y", true);
}

KernelEntry conv_entry() {
  KernelEntry entry;
  entry.name = "conv";
  entry.description = "direct convolution of any kernel, stride, dilation and padding; groups = 1";
  entry.operations = {"Conv"};
  entry.parameters = {{"TILE_W", {"1", "2", "4", "8"}, "outputs along W a work-item"},
                      {"TILE_O4", {"1", "2", "4"}, "output channel texels a work-item"},
                      {"POINTWISE", switch_values, "1x1 kernel without padding"},
                      bias_range,
                      activation_range,
                      residual_range};
  entry.arguments = [](const KernelParameters& p) {
    Arguments list = convolution_arguments(p);
    list.integers({"in_channels4", "in_height", "in_width", "out_channels", "out_height",
                   "out_width", "out_rows", "stride_h", "stride_w"});
    if (!on(p, "POINTWISE")) {
      list.integers({"kernel_h", "kernel_w", "dilation_h", "dilation_w", "pad_top", "pad_left"});
    }
    return list.reals({"alpha", "beta"});
  };
  entry.registers = [](const KernelParameters& p) {
    const std::uint32_t w = number(p, "TILE_W"), o4 = number(p, "TILE_O4");
    return 4 * w * o4 + 4 * w + 4 * o4 + base_registers + (on(p, "POINTWISE") ? 0 : 6);
  };
  return entry;
}

KernelEntry depthwise_entry() {
  KernelEntry entry;
  entry.name = "depthwise";
  entry.description = "depthwise convolution; groups = channels = outputs";
  entry.operations = {"Conv"};
  entry.parameters = {{"TILE_W", {"1", "2", "4", "8"}, "outputs along W a work-item"},
                      bias_range,
                      activation_range,
                      residual_range};
  entry.arguments = [](const KernelParameters& p) {
    return convolution_arguments(p)
        .integers({"channels", "in_height", "in_width", "out_height", "out_width", "out_rows",
                   "stride_h", "stride_w", "kernel_h", "kernel_w", "dilation_h", "dilation_w",
                   "pad_top", "pad_left"})
        .reals({"alpha", "beta"});
  };
  entry.registers = [](const KernelParameters& p) {
    return 4 * number(p, "TILE_W") + 8 + base_registers + 6;
  };
  return entry;
}

KernelEntry transposed_conv_entry() {
  KernelEntry entry;
  entry.name = "transposed_conv";
  entry.description = "transposed convolution, one output texel a work-item; groups = 1";
  entry.operations = {"ConvTranspose"};
  entry.parameters = {bias_range, activation_range, residual_range};
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
                      {"INCLUDE_PAD", switch_values, "padding counts in the average"}};
  entry.arguments = [](const KernelParameters&) {
    return Arguments().tensor("x").tensor("y", true).integers(
        {"channels", "in_height", "in_width", "out_height", "out_width", "out_rows", "stride_h",
         "stride_w", "kernel_h", "kernel_w", "dilation_h", "dilation_w", "pad_top", "pad_left"});
  };
  entry.registers = [](const KernelParameters&) { return 8 + base_registers + 8; };
  return entry;
}

KernelEntry reduction_entry() {
  KernelEntry entry;
  entry.name = "reduction";
  entry.description = "one number a row, or four a channel block over H and W";
  entry.operations = {"ReduceMean",      "ReduceSum",         "ReduceMax",
                      "ReduceMin",       "ReduceProd",        "ReduceL2",
                      "ReduceSumSquare", "GlobalAveragePool", "GlobalMaxPool"};
  entry.parameters = {{"OPERATOR",
                       {"SUM", "MEAN", "MAXIMUM", "MINIMUM", "PRODUCT", "L2", "SUM_SQUARE"},
                       "what is taken"},
                      {"SPATIAL", switch_values, "over H and W of a channels tensor"},
                      group_range,
                      group_log_range,
                      group_rows_range};
  entry.arguments = [](const KernelParameters&) {
    return Arguments().tensor("x").tensor("y", true).integers(
        {"outputs", "count", "elements", "columns", "blocks", "in_width", "in_height"});
  };
  entry.registers = [](const KernelParameters&) { return 12 + base_registers; };
  return entry;
}

KernelEntry softmax_entry() {
  KernelEntry entry;
  entry.name = "softmax";
  entry.description = "softmax(scale * x + mask) over the last dimension";
  entry.operations = {"Softmax"};
  entry.parameters = {
      {"MASK", switch_values, "a mask is added"}, group_range, group_log_range, group_rows_range};
  entry.arguments = [](const KernelParameters& p) {
    Arguments list;
    list.tensor("x").tensor_if(on(p, "MASK"), "mask").tensor("y", true);
    list.integers({"rows", "columns", "width"});
    if (on(p, "MASK")) {
      list.integers(
          {"mask_quotient", "mask_modulus", "mask_outer", "mask_remainder", "mask_inner"});
    }
    return list.reals({"scale"});
  };
  entry.registers = [](const KernelParameters&) { return 16 + base_registers; };
  return entry;
}

KernelEntry layer_norm_entry() {
  KernelEntry entry;
  entry.name = "layer_norm";
  entry.description = "layer normalization over the last dimension";
  entry.operations = {"LayerNormalization"};
  entry.parameters = {
      {"SHIFT", switch_values, "a shift is added"}, group_range, group_log_range, group_rows_range};
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("x")
        .tensor("weight")
        .tensor_if(on(p, "SHIFT"), "shift")
        .tensor("y", true)
        .integers({"rows", "columns", "width"})
        .reals({"epsilon"});
  };
  entry.registers = [](const KernelParameters&) { return 16 + base_registers; };
  return entry;
}

KernelEntry unary_entry() {
  KernelEntry entry;
  entry.name = "unary";
  entry.description = "an activation, element by element";
  entry.operations = {"Relu", "Sigmoid", "Erf", "Gelu", "HardSwish", "Clip"};
  entry.parameters = {activation_range, residual_range};
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
  if (value_of(p, mode, "SAME") == "SAME") return;
  list.integers({t + "_block", t + "_inner", t + "_quotient", t + "_modulus", t + "_outer",
                 t + "_remainder", t + "_row"});
}

KernelEntry binary_entry() {
  KernelEntry entry;
  entry.name = "binary";
  entry.description = "two operands, element by element, with broadcasting";
  entry.operations = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"};
  const std::vector<std::string> modes{"SAME", "BROADCAST", "SPLAT"};
  entry.parameters = {{"OPERATOR",
                       {"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "MAXIMUM", "MINIMUM", "POWER"},
                       "x0 operator x1"},
                      {"MODE0", modes, "where x0's texel lies"},
                      {"MODE1", modes, "where x1's texel lies"},
                      activation_range,
                      residual_range};
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

KernelEntry move_entry() {
  KernelEntry entry;
  entry.name = "move";
  entry.description = "strided gather between any two of linear, rows and channels";
  entry.operations = {"Transpose", "Reshape", "Slice", "Expand", "Cast", "Flatten"};
  const std::vector<std::string> layouts{"LINEAR", "ROWS", "CHANNELS"};
  entry.parameters = {{"X_LAYOUT", layouts, "of x"},
                      {"Y_LAYOUT", layouts, "of y"},
                      {"RANK", {"1", "2", "3", "4", "5", "6"}, "dimensions of y that count"},
                      {"WHOLE", switch_values, "a texel of y is a texel of x"}};
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor(
            "x", false,
            value_of(p, "X_LAYOUT", "") == "LINEAR" ? ArgumentKind::linear : ArgumentKind::texels)
        .tensor(
            "y", true,
            value_of(p, "Y_LAYOUT", "") == "LINEAR" ? ArgumentKind::linear : ArgumentKind::texels)
        .integers({"x_inner", "x_height", "x_channels", "width", "height", "offset", "d1", "d2",
                   "d3", "d4", "d5", "s0", "s1", "s2", "s3", "s4", "s5"});
  };
  entry.registers = [](const KernelParameters&) { return 20 + base_registers; };
  return entry;
}

ArgumentKind data_kind(const KernelParameters& p) {
  return on(p, "LINEAR") ? ArgumentKind::linear : ArgumentKind::texels;
}
const ParameterRange linear_range{"LINEAR", switch_values, "x and y are linear, not texels"};

KernelEntry place_entry() {
  KernelEntry entry;
  entry.name = "place";
  entry.description = "x into a region of y (concatenation, padding)";
  entry.operations = {"Concat", "Pad"};
  entry.parameters = {linear_range};
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
  entry.operations = {"Gather"};
  entry.parameters = {linear_range};
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

const std::vector<KernelEntry>& kernel_catalogue() {
  static const std::vector<KernelEntry> catalogue{matmul_entry("matmul", false),
                                                  matmul_entry("matmul_local", true),
                                                  conv_entry(),
                                                  depthwise_entry(),
                                                  transposed_conv_entry(),
                                                  pool_entry(),
                                                  reduction_entry(),
                                                  softmax_entry(),
                                                  layer_norm_entry(),
                                                  unary_entry(),
                                                  binary_entry(),
                                                  move_entry(),
                                                  place_entry(),
                                                  gather_entry(),
                                                  resize_entry()};
  return catalogue;
}

const KernelEntry& catalogue_entry(const std::string& kernel) {
  const auto& catalogue = kernel_catalogue();
  const auto found = std::find_if(catalogue.begin(), catalogue.end(),
                                  [&](const KernelEntry& entry) { return entry.name == kernel; });
  if (found == catalogue.end()) throw std::out_of_range("no kernel '" + kernel + "'");
  return *found;
}

}  // namespace fm
