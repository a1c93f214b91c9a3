// Matrix products.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

KernelEntry matmul_entry(const std::string& name, bool local_memory) {
  KernelEntry entry;
  entry.name = name;
  entry.description = local_memory ? "matrix product, operands staged in local memory"
                                   : "matrix product, register tiles";
  entry.operations = {"MatMul", "Gemm"};
  entry.parameters = {{"TILE_M", {"1", "2", "4", "5", "6", "8"}, "rows of c a work-item"},
                      {"TILE_N4", {"1", "2", "4", "8", "12", "16"}, "texels of c a work-item"},
                      switch_range("BIAS", "a bias is added"),
                      activation_range(),
                      residual_range()};
  if (local_memory) {
    entry.parameters.push_back({"GROUP_X", {}, "work-items a group along texels of c"});
    entry.parameters.push_back({"GROUP_Y", {}, "work-items a group along rows of c"});
    entry.parameters.push_back(
        {"TILE_K4", {"1", "2", "4", "8"}, "texels of a row of a staged at once"});
  } else {
    entry.parameters.push_back(switch_range("B_TRANSPOSED", "b holds [.., N, K]"));
    entry.parameters.push_back(vector_range());
    entry.parameters.push_back({"BLOCK_M",
                                {"1", "2", "4", "8", "16", "32"},
                                "tiles of rows a work-item makes, block of K by block",
                                true});
  }
  entry.arguments = [](const KernelParameters& p) {
    return Arguments()
        .tensor("a")
        .tensor("b")
        .tensor_if(parameter_on(p, "BIAS"), "bias")
        .tensor_if(has_residual(p), "residual")
        .tensor("c", true)
        .integers({"rows", "depth", "columns", "width", "a_batch", "b_batch"})
        .reals({"scale", "alpha", "beta"});
  };
  entry.registers = [](const KernelParameters& p) {
    const std::uint32_t m = parameter_number(p, "TILE_M"), n4 = parameter_number(p, "TILE_N4");
    const std::uint32_t right = parameter_on(p, "B_TRANSPOSED") ? 16 : 4 * n4;
    return 4 * m * n4 + 4 * m + right + base_registers;
  };
  return entry;
}

}  // namespace

std::vector<KernelEntry> matmul_entries() {
  return {matmul_entry("matmul", false), matmul_entry("matmul_local", true)};
}

}  // namespace fm
