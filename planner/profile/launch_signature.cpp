#include "planner/profile/launch_signature.hpp"

#include <sstream>

#include "core/plan_streams.hpp"

namespace fm {
namespace {

std::string extent_words(const std::array<std::uint64_t, 3>& extent) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" +
         std::to_string(extent[2]);
}

struct ArgumentWords {
  const Plan& plan;
  std::ostream& out;
  void operator()(const TensorArgument& argument) const {
    const PlanTensor& tensor = plan.tensor(argument.tensor);
    const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
    out << (argument.write ? " write:" : " ") << to_string(tensor.dtype) << '/'
        << to_string(tensor.layout) << '/' << to_string(tensor.placement) << '/' << extent.width
        << 'x' << extent.height;
  }
  void operator()(const IntArgument& argument) const { out << ' ' << argument.value; }
  void operator()(const FloatArgument&) const {}
  void operator()(const LocalArgument& argument) const {
    out << " local:" << argument.bytes.count();
  }
};

}  // namespace

std::string launch_signature(const Plan& plan, const PlanLaunch& launch) {
  std::ostringstream out;
  out << launch.kernel << ' ' << to_string(plan.storage) << '+' << to_string(plan.accumulate);
  for (const auto& [name, value] : launch.parameters) {
    if (name != streams_parameter) out << ' ' << name << '=' << value;
  }
  out << ' ' << extent_words(launch.global) << '/' << extent_words(launch.local) << ':';
  for (const LaunchArgument& argument : launch.arguments) {
    std::visit(ArgumentWords{plan, out}, argument);
  }
  return out.str();
}

}  // namespace fm
