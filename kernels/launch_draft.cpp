#include "kernels/launch_draft.hpp"

#include <limits>
#include <stdexcept>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

std::string word_of(Activation activation) {
  switch (activation) {
    case Activation::none:
      return "NONE";
    case Activation::relu:
      return "RELU";
    case Activation::gelu_erf:
      return "GELU_ERF";
    case Activation::gelu_tanh:
      return "GELU_TANH";
    case Activation::sigmoid:
      return "SIGMOID";
    case Activation::hard_sigmoid:
      return "HARD_SIGMOID";
    case Activation::hard_swish:
      return "HARD_SWISH";
    case Activation::clip:
      return "CLIP";
    case Activation::tanh:
      return "TANH";
    case Activation::silu:
      return "SILU";
    case Activation::leaky_relu:
      return "LEAKY_RELU";
    case Activation::exp:
      return "EXP";
    case Activation::log:
      return "LOG";
    case Activation::sqrt:
      return "SQRT";
    case Activation::reciprocal:
      return "RECIPROCAL";
    case Activation::neg:
      return "NEG";
    case Activation::abs:
      return "ABS";
    case Activation::erf:
      return "ERF";
    case Activation::floor:
      return "FLOOR";
    case Activation::ceil:
      return "CEIL";
    case Activation::elu:
      return "ELU";
    case Activation::softplus:
      return "SOFTPLUS";
    case Activation::swish_one:
      return "SWISH_ONE";
    case Activation::sin:
      return "SIN";
    case Activation::cos:
      return "COS";
    case Activation::tan:
      return "TAN";
    case Activation::asin:
      return "ASIN";
    case Activation::acos:
      return "ACOS";
    case Activation::atan:
      return "ATAN";
    case Activation::sinh:
      return "SINH";
    case Activation::cosh:
      return "COSH";
    case Activation::asinh:
      return "ASINH";
    case Activation::acosh:
      return "ACOSH";
    case Activation::atanh:
      return "ATANH";
    case Activation::sign:
      return "SIGN";
    case Activation::round:
      return "ROUND";
    case Activation::truncate:
      return "TRUNCATE";
    case Activation::is_nan:
      return "IS_NAN";
    case Activation::is_inf:
      return "IS_INF";
    case Activation::logical_not:
      return "LOGICAL_NOT";
    case Activation::nonzero:
      return "NONZERO";
    case Activation::thresholded_relu:
      return "THRESHOLDED_RELU";
    case Activation::selu:
      return "SELU";
    case Activation::celu:
      return "CELU";
    case Activation::softsign:
      return "SOFTSIGN";
    case Activation::shrink:
      return "SHRINK";
  }
  throw std::logic_error("unknown activation");
}

}  // namespace

std::int64_t divided_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

std::string describe(const PlanTensor& tensor) {
  return tensor.id + " (" + tensor.name + ") " + to_string(tensor.shape);
}

void require_operand(bool condition, const std::string& operation, const std::string& message) {
  if (!condition) throw UserError(operation + ": " + message);
}

RowsView rows_view(const PlanTensor& tensor) {
  require_operand(tensor.layout == Layout::rows, describe(tensor),
                  "layout rows is needed here, not " + to_string(tensor.layout));
  RowsView view;
  if (!tensor.shape.empty()) view.columns = tensor.shape.back();
  for (std::size_t d = 0; d + 1 < tensor.shape.size(); ++d) view.rows *= tensor.shape[d];
  view.width = divided_up(view.columns, texel_lanes);
  return view;
}

std::int64_t matrix_count(const Shape& shape) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) count *= shape[d];
  return count;
}

std::int64_t matrix_rows(const Shape& shape) {
  return shape.size() < 2 ? 1 : shape[shape.size() - 2];
}

ChannelsView channels_view(const PlanTensor& tensor) {
  require_operand(tensor.layout == Layout::channels && tensor.shape.size() == 4, describe(tensor),
                  "layout channels and rank 4 are needed here, not " + to_string(tensor.layout));
  ChannelsView view;
  view.batch = tensor.shape[0];
  view.channels = tensor.shape[1];
  view.height = tensor.shape[2];
  view.width = tensor.shape[3];
  view.channels4 = divided_up(view.channels, texel_lanes);
  return view;
}

GridExtent grid_of(const PlanTensor& tensor) { return grid_extent(tensor.layout, tensor.shape); }

LocalSize choose_local(const std::array<std::int64_t, 3>& extent, std::uint64_t items) {
  LocalSize best{1, 1, 1};
  double best_cost = std::numeric_limits<double>::max();
  for (std::uint64_t x = 1; x <= items; x *= 2) {
    for (std::uint64_t y = 1; x * y <= items; y *= 2) {
      for (std::uint64_t z = 1; x * y * z <= items; z *= 2) {
        const LocalSize local{x, y, z};
        double waste = 1;
        for (std::size_t d = 0; d < 3; ++d) {
          const auto size = static_cast<std::int64_t>(local[d]);
          waste *= static_cast<double>(divided_up(extent[d], size) * size) /
                   static_cast<double>(extent[d]);
        }
        // Half a group costs as much as a quarter more work-items, and less than four neighbours
        // in x, who share cache lines, a little; equal ones go by width, then height.
        double cost = waste;
        for (std::uint64_t size = x; size < 4; size *= 2) cost *= 1.15;
        for (std::uint64_t size = x * y * z; size < items; size *= 2) cost *= 1.25;
        if (cost < best_cost - 1e-9 ||
            (cost < best_cost + 1e-9 && x * 64 + y > best[0] * 64 + best[1])) {
          best_cost = cost;
          best = local;
        }
      }
    }
  }
  return best;
}

LaunchDraft::LaunchDraft(std::string kernel) : kernel_(std::move(kernel)) {}

LaunchDraft& LaunchDraft::parameter(const std::string& name, const std::string& value) {
  parameters_[name] = value;
  return *this;
}
LaunchDraft& LaunchDraft::parameter(const std::string& name, std::int64_t value) {
  return parameter(name, std::to_string(value));
}

LaunchDraft& LaunchDraft::tensor(const std::string& name, const PlanTensor& tensor) {
  values_[name] = TensorArgument{tensor.id, false};
  return integer(name + "_pitch", static_cast<std::int64_t>(grid_of(tensor).width));
}

LaunchDraft& LaunchDraft::integer(const std::string& name, std::int64_t value) {
  require_operand(value >= std::numeric_limits<std::int32_t>::min() &&
                      value <= std::numeric_limits<std::int32_t>::max(),
                  kernel_, "argument " + name + " = " + std::to_string(value) + " exceeds 32 bits");
  values_[name] = IntArgument{static_cast<std::int32_t>(value)};
  return *this;
}

LaunchDraft& LaunchDraft::real(const std::string& name, float value) {
  values_[name] = FloatArgument{value};
  return *this;
}

LaunchDraft& LaunchDraft::epilogue(const Epilogue& epilogue, const PlanTensor& output) {
  parameter("ACTIVATION", word_of(epilogue.activation));
  real("alpha", epilogue.alpha).real("beta", epilogue.beta);
  if (!epilogue.residual) return parameter("RESIDUAL", "NONE");
  require_operand(
      epilogue.residual->layout == output.layout && grid_of(*epilogue.residual) == grid_of(output),
      kernel_,
      "the residual " + describe(*epilogue.residual) + " must be like the output " +
          describe(output));
  tensor("residual", *epilogue.residual);
  return parameter("RESIDUAL", epilogue.activation_after_residual ? "BEFORE" : "AFTER");
}

PlanLaunch LaunchDraft::finish(const std::array<std::int64_t, 3>& extent, const LocalSize& local,
                               std::int64_t macs) const {
  PlanLaunch launch;
  launch.kernel = kernel_;
  launch.parameters = parameters_;
  launch.local = local;
  for (std::size_t d = 0; d < 3; ++d) {
    require_operand(extent[d] > 0, kernel_, "a tensor is empty");
    const auto size = static_cast<std::int64_t>(local[d]);
    launch.global[d] = static_cast<std::uint64_t>(divided_up(extent[d], size) * size);
  }
  for (const KernelArgument& argument : catalogue_entry(kernel_).arguments(parameters_)) {
    LaunchArgument value = values_.at(argument.name);
    if (auto* tensor = std::get_if<TensorArgument>(&value)) tensor->write = argument.write;
    launch.arguments.push_back(value);
  }
  launch.macs = static_cast<std::uint64_t>(macs);
  return launch;
}

}  // namespace fm
