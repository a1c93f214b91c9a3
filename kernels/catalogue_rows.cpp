// Kernels in which a group of work-items shares a row.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

const ParameterRange group_range{
    "GROUP", {"1", "2", "4", "8", "16", "32", "64", "128"}, "work-items a row"};
const ParameterRange group_log_range{
    "GROUP_LOG2", {"0", "1", "2", "3", "4", "5", "6", "7"}, "log2 of GROUP"};
const ParameterRange group_rows_range{"GROUP_ROWS", {}, "rows a work-group"};

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
                      switch_range("SPATIAL", "over H and W of a channels tensor"),
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
  entry.parameters = {switch_range("MASK", "a mask is added"), group_range, group_log_range,
                      group_rows_range};
  entry.arguments = [](const KernelParameters& p) {
    Arguments list;
    list.tensor("x").tensor_if(parameter_on(p, "MASK"), "mask").tensor("y", true);
    list.integers({"rows", "columns", "width"});
    if (parameter_on(p, "MASK")) {
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
  entry.parameters = {switch_range("SHIFT", "a shift is added"), group_range, group_log_range,
                      group_rows_range};
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("x")
        .tensor("weight")
        .tensor_if(parameter_on(p, "SHIFT"), "shift")
        .tensor("y", true)
        .integers({"rows", "columns", "width"})
        .reals({"epsilon"});
  };
  entry.registers = [](const KernelParameters&) { return 16 + base_registers; };
  return entry;
}

}  // namespace

std::vector<KernelEntry> row_entries() {
  return {reduction_entry(), softmax_entry(), layer_norm_entry()};
}

}  // namespace fm
