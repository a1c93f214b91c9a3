#pragma once
// How catalogue entries are written down: argument lists, parameter ranges, parameter values.

#include <initializer_list>
#include <string>
#include <vector>

#include "kernels/catalogue.hpp"

namespace fm {

/// The parameter's word, or `otherwise` when a launch does not give it.
std::string parameter_word(const KernelParameters& parameters, const std::string& name,
                           const std::string& otherwise);
/// The parameter as a number; 1 when a launch does not give it.
std::uint32_t parameter_number(const KernelParameters& parameters, const std::string& name);
/// Whether a 0/1 parameter is given and not 0.
bool parameter_on(const KernelParameters& parameters, const std::string& name);
bool has_residual(const KernelParameters& parameters);

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

ParameterRange switch_range(const std::string& name, const std::string& description);
const ParameterRange& activation_range();
/// VECTOR: lanes that a kernel computes at once; a texel's four when it is left out.
const ParameterRange& vector_range();
const ParameterRange& residual_range();

/// Registers are estimated: accumulators and operands in fp32, and these for addresses, counters
/// and arguments.
constexpr std::uint32_t base_registers = 12;

// The entries, by family.
std::vector<KernelEntry> matmul_entries();
std::vector<KernelEntry> attention_entries();
std::vector<KernelEntry> convolution_entries();
std::vector<KernelEntry> row_entries();
std::vector<KernelEntry> indexed_entries();
std::vector<KernelEntry> elementwise_entries();
std::vector<KernelEntry> move_entries();
std::vector<KernelEntry> microbench_entries();

}  // namespace fm
