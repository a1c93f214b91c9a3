#include "planner/profile/launch_features.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "core/plan_streams.hpp"

namespace fm {
namespace {

const std::vector<std::string> kernels{"matmul", "matmul_local",    "conv",   "depthwise",
                                       "pool",   "transposed_conv", "unary",  "binary",
                                       "move",   "place",           "gather", "resize"};
const std::vector<std::string> parameters{"TILE_M",  "TILE_N4",      "TILE_W",
                                          "TILE_O4", "B_TRANSPOSED", "RANK"};
const std::vector<std::string> sizes{"items",     "groups",     "group_items", "macs",
                                     "item_macs", "image_read", "buffer_read", "written",
                                     "pointwise", "activation"};

float log_of(double value) { return static_cast<float>(std::log2(value + 1)); }
float log_of(Bytes bytes) { return log_of(static_cast<double>(bytes.count())); }

double product(const std::array<std::uint64_t, 3>& extent) {
  return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) *
         static_cast<double>(extent[2]);
}

std::string extent_words(const std::array<std::uint64_t, 3>& extent) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" +
         std::to_string(extent[2]);
}

std::string word_of(const PlanLaunch& launch, const std::string& parameter) {
  const auto found = launch.parameters.find(parameter);
  return found == launch.parameters.end() ? std::string() : found->second;
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

LaunchTraffic launch_traffic(const Plan& plan, const PlanLaunch& launch) {
  LaunchTraffic traffic;
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&argument);
    if (used == nullptr) continue;
    const PlanTensor& tensor = plan.tensor(used->tensor);
    Bytes& sum = used->write                              ? traffic.written
                 : tensor.placement == Placement::image2d ? traffic.image_read
                                                          : traffic.buffer_read;
    sum += tensor.bytes;
  }
  return traffic;
}

std::vector<float> launch_features(const Plan& plan, const PlanLaunch& launch) {
  const double items = product(launch.global), group_items = product(launch.local);
  const LaunchTraffic traffic = launch_traffic(plan, launch);
  std::vector<float> features;
  for (const std::string& kernel : kernels) features.push_back(launch.kernel == kernel ? 1 : 0);
  for (const std::string& parameter : parameters) {
    features.push_back(static_cast<float>(std::atoi(word_of(launch, parameter).c_str())));
  }
  const std::string activation = word_of(launch, "ACTIVATION");
  const auto macs = static_cast<double>(launch.macs);
  features.insert(features.end(),
                  {log_of(items), log_of(items / group_items), log_of(group_items), log_of(macs),
                   log_of(macs / items), log_of(traffic.image_read), log_of(traffic.buffer_read),
                   log_of(traffic.written), word_of(launch, "POINTWISE") == "1" ? 1.0F : 0.0F,
                   activation.empty() || activation == "NONE" ? 0.0F : 1.0F});
  return features;
}

const std::vector<std::string>& launch_feature_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = kernels;
    all.insert(all.end(), parameters.begin(), parameters.end());
    all.insert(all.end(), sizes.begin(), sizes.end());
    return all;
  }();
  return names;
}

}  // namespace fm
