#pragma once
// A model's inputs and outputs as plain arrays: read from a file or drawn from a seed, and compared
// with a reference.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/npz.hpp"

namespace fm {

/// Tensors of a role, in the plan's order.
std::vector<const PlanTensor*> tensors_of(const Plan& plan, TensorRole role);

/// The array `input:<name>` (or `<name>`) of `file`. Throws UserError when it is missing, its shape
/// differs or it holds numbers that single precision does not.
NpyArray input_from(const NpzReader& file, const Plan& plan, const PlanTensor& tensor);
/// Standard normal values, or integers below `integer_limit` (at most 2^24): the same for a seed
/// and name on every machine.
NpyArray random_input(const PlanTensor& tensor, std::uint64_t seed, std::int64_t integer_limit = 2);

/// Values <-> bytes in the tensor's layout.
std::vector<std::uint8_t> to_device_bytes(const PlanTensor& tensor, const NpyArray& array);
NpyArray from_device_bytes(const PlanTensor& tensor, const std::vector<std::uint8_t>& bytes);

/// How far an output is from its reference: ||y - ref|| / ||ref||, and where it is no number at
/// all.
struct OutputComparison {
  std::string name;
  double relative_error = 0;
  double bar = 0;
  std::uint64_t nan_count = 0;    ///< where the reference is a number
  std::uint64_t beyond_half = 0;  ///< finite values that half storage cannot hold (|x| > 65504)
  bool passes() const { return nan_count == 0 && relative_error <= bar; }
};

enum class BarKind {
  by_storage,  ///< half_error for f16 storage, float_bar for f32
  half_error   ///< always the half-storage emulation's
};
/// Bars: 1.5 x the error of an emulation with half storage, which the reference file holds as
/// half_error:<name>, and 1e-5 with float storage. `tolerance` replaces both.
constexpr double half_error_factor = 1.5;
constexpr double float_bar = 1e-5;

/// Compares with `output:<name>` of the reference. Throws UserError when that or the bar is missing
/// or shapes differ.
OutputComparison compare_output(const NpzReader& reference, const PlanTensor& tensor,
                                const NpyArray& output, DataType storage, BarKind bars,
                                std::optional<double> tolerance);

}  // namespace fm
