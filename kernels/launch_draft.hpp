#pragma once
// How the launch builders put a launch together. The argument order comes from the catalogue, so
// the two cannot differ.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "core/plan.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/launch_builders.hpp"

namespace fm {

constexpr std::int64_t texel_lanes = 4;
std::int64_t divided_up(std::int64_t value, std::int64_t divisor);

/// A `rows` tensor as a matrix. Throws UserError naming tensor and need when the layout differs.
struct RowsView {
  std::int64_t rows = 1;     ///< product of the leading dimensions
  std::int64_t columns = 1;  ///< last dimension
  std::int64_t width = 1;    ///< texels a row
};
RowsView rows_view(const PlanTensor& tensor);

/// [.., R, C]: the product of the leading dimensions, and R (1 where there is none).
std::int64_t matrix_count(const Shape& shape);
std::int64_t matrix_rows(const Shape& shape);

/// A `channels` tensor. Throws UserError naming tensor and need when the layout differs.
struct ChannelsView {
  std::int64_t batch = 1, channels = 1, height = 1, width = 1;
  std::int64_t channels4 = 1;  ///< texels a pixel
};
ChannelsView channels_view(const PlanTensor& tensor);

/// Texels (elements for linear) of the tensor's grid.
GridExtent grid_of(const PlanTensor& tensor);

/// "t12 (name) [1, 2]" for messages.
std::string describe(const PlanTensor& tensor);
/// Throws UserError("<operator>: <message>") unless `condition`.
void require_operand(bool condition, const std::string& operation, const std::string& message);

using LocalSize = std::array<std::uint64_t, 3>;
/// A power of two a dimension, at most `items` together: those that waste the fewest work-items,
/// then the widest.
LocalSize choose_local(const std::array<std::int64_t, 3>& extent, std::uint64_t items = 64);

class LaunchDraft {
 public:
  explicit LaunchDraft(std::string kernel);
  LaunchDraft& parameter(const std::string& name, const std::string& value);
  LaunchDraft& parameter(const std::string& name, std::int64_t value);
  LaunchDraft& tensor(const std::string& name, const PlanTensor& tensor);
  /// Throws UserError when it does not fit 32 bits.
  LaunchDraft& integer(const std::string& name, std::int64_t value);
  LaunchDraft& real(const std::string& name, float value);
  /// ACTIVATION, RESIDUAL, alpha, beta and the residual tensor, which must be like `output`.
  LaunchDraft& epilogue(const Epilogue& epilogue, const PlanTensor& output);
  /// `extent`: work-items needed; the global size is rounded up to a multiple of `local`.
  PlanLaunch finish(const std::array<std::int64_t, 3>& extent, const LocalSize& local,
                    std::int64_t macs = 0) const;

 private:
  std::string kernel_;
  KernelParameters parameters_;
  std::map<std::string, LaunchArgument> values_;
};

}  // namespace fm
