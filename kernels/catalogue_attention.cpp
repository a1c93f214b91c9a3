// Attention without a matrix of scores in memory.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

KernelEntry attention_entry() {
  KernelEntry entry;
  entry.name = "attention";
  entry.description = "softmax(scale * Q K^T + mask) V, the scores in registers";
  entry.operations = {"Attention"};
  entry.parameters = {{"TILE_Q", {"1", "2", "4", "8"}, "rows of y a work-item"},
                      {"TILE_K", {"1", "2", "4"}, "texels of scores a work-item and row"},
                      {"TILE_V", {}, "texels of y a work-item"},
                      {"GROUP_X", {"1", "2", "4", "8", "16", "32"}, "work-items that share rows"},
                      {"GROUP_Y", {}, "such teams a group"},
                      {"DEPTH4", {}, "texels of a query"},
                      switch_range("HALF_LOCAL", "queries and weights in fp16 in local memory"),
                      switch_range("MASK", "a mask is added to the scores"),
                      switch_range("BAND", "the mask leaves out keys far behind or ahead")};
  entry.arguments = [](const KernelParameters& p) {
    Arguments list;
    list.tensor("query").tensor("key").tensor("value");
    list.tensor_if(parameter_on(p, "MASK"), "mask").tensor("y", true);
    list.integers({"queries", "keys", "columns", "width"});
    if (parameter_on(p, "MASK")) {
      list.integers({"mask_quotient", "mask_modulus", "mask_outer", "mask_remainder", "mask_inner",
                     "mask_row"});
    }
    if (parameter_on(p, "BAND")) list.integers({"behind", "ahead"});
    return list.reals({"scale"});
  };
  entry.registers = [](const KernelParameters& p) {
    const std::uint32_t queries = parameter_number(p, "TILE_Q");
    const std::uint32_t texels = parameter_number(p, "TILE_V") + parameter_number(p, "TILE_K");
    // Sums and scores of each row, its maximum, sum and factor; four keys, and a query.
    return queries * (4 * texels + 3) + 16 + 4 + base_registers;
  };
  return entry;
}

}  // namespace

std::vector<KernelEntry> attention_entries() { return {attention_entry()}; }

}  // namespace fm
