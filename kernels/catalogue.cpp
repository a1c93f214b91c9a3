// The catalogue, put together of its families, and what their entries share.
#include "kernels/catalogue.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/catalogue_entries.hpp"

namespace fm {

std::string parameter_word(const KernelParameters& parameters, const std::string& name,
                           const std::string& otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

std::uint32_t parameter_number(const KernelParameters& parameters, const std::string& name) {
  return static_cast<std::uint32_t>(std::stoul(parameter_word(parameters, name, "1")));
}

bool parameter_on(const KernelParameters& parameters, const std::string& name) {
  return parameter_word(parameters, name, "0") != "0";
}

bool has_residual(const KernelParameters& parameters) {
  return parameter_word(parameters, "RESIDUAL", "NONE") != "NONE";
}

ParameterRange switch_range(const std::string& name, const std::string& description) {
  return {name, {"0", "1"}, description};
}

const ParameterRange& activation_range() {
  static const ParameterRange range{
      "ACTIVATION",
      {"NONE",       "RELU",   "GELU_ERF",   "GELU_TANH",   "SIGMOID",    "HARD_SIGMOID",
       "HARD_SWISH", "CLIP",   "TANH",       "SILU",        "LEAKY_RELU", "EXP",
       "LOG",        "SQRT",   "RECIPROCAL", "NEG",         "ABS",        "ERF",
       "FLOOR",      "CEIL",   "ELU",        "SOFTPLUS",    "SWISH_ONE",  "SIN",
       "COS",        "TAN",    "ASIN",       "ACOS",        "ATAN",       "SINH",
       "COSH",       "ASINH",  "ACOSH",      "ATANH",       "SIGN",       "ROUND",
       "TRUNCATE",   "IS_NAN", "IS_INF",     "LOGICAL_NOT", "NONZERO",    "THRESHOLDED_RELU",
       "SELU",       "CELU",   "SOFTSIGN",   "SHRINK"},
      "applied to the result"};
  return range;
}

const ParameterRange& vector_range() {
  static const ParameterRange range{
      "VECTOR", {"4", "8", "16"}, "lanes computed at once, a multiple of a texel's four", true};
  return range;
}

const ParameterRange& residual_range() {
  static const ParameterRange range{
      "RESIDUAL", {"NONE", "BEFORE", "AFTER"}, "a tensor added before or after the activation"};
  return range;
}

const std::vector<KernelEntry>& kernel_catalogue() {
  static const std::vector<KernelEntry> catalogue = [] {
    std::vector<KernelEntry> all;
    for (auto family : {matmul_entries(), attention_entries(), convolution_entries(),
                        elementwise_entries(), move_entries()}) {
      for (KernelEntry& entry : family) entry.streams = true;
      all.insert(all.end(), family.begin(), family.end());
    }
    for (const auto& family : {row_entries(), indexed_entries(), microbench_entries()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return catalogue;
}

std::vector<KernelArgument> stream_arguments(int streams) {
  Arguments list;
  for (int slot = 0; slot < streams; ++slot) {
    const std::string name = "stream" + std::to_string(slot);
    list.tensor(name).tensor(name + "_to", true).integers({name + "_row", name + "_texels"});
  }
  return list;
}

const KernelEntry& catalogue_entry(const std::string& kernel) {
  const auto& catalogue = kernel_catalogue();
  const auto found = std::find_if(catalogue.begin(), catalogue.end(),
                                  [&](const KernelEntry& entry) { return entry.name == kernel; });
  if (found == catalogue.end()) throw std::out_of_range("no kernel '" + kernel + "'");
  return *found;
}

}  // namespace fm
