#include "planner/profile/launch_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "kernels/catalogue.hpp"
#include "kernels/register_counts.hpp"

namespace fm {
namespace {

/// Activations without special functions.
const std::set<std::string> plain_activations{
    "",           "NONE", "RELU", "CLIP",  "HARD_SIGMOID", "HARD_SWISH",
    "LEAKY_RELU", "NEG",  "ABS",  "FLOOR", "CEIL"};

double product(const std::array<std::uint64_t, 3>& extent) {
  return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) *
         static_cast<double>(extent[2]);
}

std::string word_of(const PlanLaunch& launch, const std::string& parameter) {
  const auto found = launch.parameters.find(parameter);
  return found == launch.parameters.end() ? std::string() : found->second;
}

double number_of(const PlanLaunch& launch, const std::string& parameter) {
  return std::atoi(word_of(launch, parameter).c_str());
}

/// Integer argument `name`; `otherwise` when the kernel has none.
double argument_of(const PlanLaunch& launch, const std::string& name, double otherwise) {
  const auto declared = catalogue_entry(launch.kernel).arguments(launch.parameters);
  for (std::size_t i = 0; i < declared.size() && i < launch.arguments.size(); ++i) {
    const auto* integer = std::get_if<IntArgument>(&launch.arguments[i]);
    if (integer != nullptr && declared[i].name == name) return integer->value;
  }
  return otherwise;
}

/// Of the kernel's source, and of index functions at each load.
double divisions_of(const PlanLaunch& launch, double loads) {
  std::ptrdiff_t count = 0;
  for (const auto& [name, text] : launch.parameters) {
    if (name.rfind("INDEX_", 0) != 0) continue;
    count += std::count(text.begin(), text.end(), '/') + std::count(text.begin(), text.end(), '%');
  }
  double own = 2;
  if (launch.kernel == "binary") {
    own = 0;
    for (const char* mode : {"MODE0", "MODE1"}) own += word_of(launch, mode) == "SAME" ? 0 : 5;
  }
  if (launch.kernel == "move") own = 2 * number_of(launch, "RANK");
  if (launch.kernel == "place" || launch.kernel == "resize" || launch.kernel == "gather") own = 4;
  return own + loads * static_cast<double>(count);
}

/// Work-items move texels in the order of x, then y, then z.
double run_of(const PlanLaunch& launch) {
  double run = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    run *= static_cast<double>(launch.local[d]);
    if (launch.local[d] < launch.global[d]) break;
  }
  return run;
}

struct Loop {
  double iterations = 1, loads = 1;  ///< loads of a work-item in all
  double waits = 1;                  ///< of those, that wait for one another
  bool pipelined = false;
};

Loop matmul_loop(const PlanLaunch& launch, const LaunchNumbers& numbers) {
  const double steps = std::ceil(argument_of(launch, "depth", 4) / 4);
  if (launch.kernel != "matmul_local") {
    const double waits = numbers.transposed > 0 ? numbers.tile4 : 4;
    return {steps, steps * (numbers.tile + 4 * numbers.tile4), steps * waits, true};
  }
  // A group loads its panels once, together.
  const double x = number_of(launch, "GROUP_X"), y = number_of(launch, "GROUP_Y");
  const double panels = steps / std::max(1.0, number_of(launch, "TILE_K4"));
  return {panels, steps * (numbers.tile / x + 4 * numbers.tile4 / y), 2 * panels, true};
}

/// A block of keys an iteration: four of them scored, then all their values added.
Loop attention_loop(const PlanLaunch& launch, const LaunchNumbers& numbers) {
  const double team = std::max(1.0, number_of(launch, "GROUP_X"));
  const double depth4 = number_of(launch, "DEPTH4");
  const double keys4 = std::ceil(argument_of(launch, "keys", 4) / 4);
  const double masks = number_of(launch, "MASK") * numbers.tile;
  const double loads = keys4 * ((4 * depth4 + masks) / team + 4 * numbers.tile4);
  return {std::ceil(keys4 / team / number_of(launch, "TILE_K")), loads, keys4 * (depth4 / team + 4),
          false};
}

/// As the kernels' sources have it.
Loop loop_of(const PlanLaunch& launch, const LaunchNumbers& numbers) {
  const std::string& kernel = launch.kernel;
  if (kernel == "matmul" || kernel == "matmul_local") return matmul_loop(launch, numbers);
  if (kernel == "attention") return attention_loop(launch, numbers);
  const double taps_h = argument_of(launch, "kernel_h", 1);
  const double taps = taps_h * argument_of(launch, "kernel_w", 1);
  const double channels4 = argument_of(launch, "in_channels4", 1);
  if (kernel == "conv") {
    const double loads = taps * channels4 * (numbers.tile + 4 * numbers.tile4);
    const double waits = 4 * taps * channels4;
    return numbers.pointwise > 0 ? Loop{channels4, loads, waits, true}
                                 : Loop{taps_h, loads, waits, false};
  }
  if (kernel == "depthwise") return {taps_h, taps * (1 + numbers.tile), taps, false};
  if (kernel == "pool") return {taps_h, taps, taps, false};
  if (kernel == "transposed_conv") {
    const double strides = argument_of(launch, "stride_h", 1) * argument_of(launch, "stride_w", 1);
    const double steps = taps / strides * channels4;
    return {taps_h, 5 * steps, 4 * steps, false};
  }
  if (kernel == "binary") return {1, 2, 1, false};
  if (kernel == "gather") return {1, 2, 2, false};
  if (kernel == "move") return {1, numbers.whole > 0 ? 1.0 : 4.0, 1, false};
  if (kernel == "resize") return {1, word_of(launch, "MODE") == "NEAREST" ? 1.0 : 4.0, 1, false};
  return {};
}

void add_tensors(const Plan& plan, const PlanLaunch& launch, LaunchNumbers* numbers) {
  for (const LaunchArgument& argument : launch.arguments) {
    if (const auto* local = std::get_if<LocalArgument>(&argument)) {
      numbers->local_bytes += static_cast<double>(local->bytes.count());
    }
    const auto* used = std::get_if<TensorArgument>(&argument);
    if (used == nullptr) continue;
    const PlanTensor& tensor = plan.tensor(used->tensor);
    const bool image = tensor.placement == Placement::image2d;
    double& sum = used->write ? (image ? numbers->image_written : numbers->buffer_written)
                              : (image ? numbers->image_read : numbers->buffer_read);
    sum += static_cast<double>(tensor.bytes.count());
  }
}

}  // namespace

LaunchNumbers launch_numbers(const Plan& plan, const PlanLaunch& launch) {
  LaunchNumbers numbers;
  numbers.tile = std::max(
      {1.0, number_of(launch, "TILE_M"), number_of(launch, "TILE_Q"), number_of(launch, "TILE_W")});
  numbers.tile4 = std::max({1.0, number_of(launch, "TILE_N4"), number_of(launch, "TILE_V"),
                            number_of(launch, "TILE_O4")});
  numbers.transposed = number_of(launch, "B_TRANSPOSED");
  numbers.pointwise = number_of(launch, "POINTWISE");
  numbers.whole = number_of(launch, "WHOLE");
  numbers.special = plain_activations.count(word_of(launch, "ACTIVATION")) == 0 ? 1 : 0;
  numbers.items = product(launch.global);
  numbers.group_items = product(launch.local);
  numbers.groups = numbers.items / numbers.group_items;
  numbers.run = run_of(launch);
  numbers.macs = static_cast<double>(launch.macs);
  add_tensors(plan, launch, &numbers);
  const Loop loop = loop_of(launch, numbers);
  numbers.loads = loop.loads * numbers.items;
  numbers.iterations = loop.iterations;
  numbers.pipelined = loop.pipelined ? 1 : 0;
  const RegisterCounts registers = register_counts(plan, launch);
  numbers.valhall = registers.by_isa.at("valhall");
  numbers.bifrost = registers.by_isa.at("bifrost");
  numbers.adreno = registers.by_isa.at("adreno");
  numbers.waits = loop.waits;
  numbers.divisions = divisions_of(launch, loop.loads);
  // As files keep them, so that what is learnt does not depend on whether they were read back.
  for (const LaunchNumberName& name : launch_number_names()) {
    numbers.*name.number = static_cast<double>(static_cast<float>(numbers.*name.number));
  }
  return numbers;
}

const std::vector<LaunchNumberName>& launch_number_names() {
  using N = LaunchNumbers;
  static const std::vector<LaunchNumberName> names{{"tile", &N::tile},
                                                   {"tile4", &N::tile4},
                                                   {"transposed", &N::transposed},
                                                   {"pointwise", &N::pointwise},
                                                   {"whole", &N::whole},
                                                   {"special", &N::special},
                                                   {"items", &N::items},
                                                   {"groups", &N::groups},
                                                   {"group_items", &N::group_items},
                                                   {"macs", &N::macs},
                                                   {"image_read", &N::image_read},
                                                   {"buffer_read", &N::buffer_read},
                                                   {"image_written", &N::image_written},
                                                   {"buffer_written", &N::buffer_written},
                                                   {"loads", &N::loads},
                                                   {"iterations", &N::iterations},
                                                   {"pipelined", &N::pipelined},
                                                   {"valhall", &N::valhall},
                                                   {"bifrost", &N::bifrost},
                                                   {"adreno", &N::adreno},
                                                   {"local_bytes", &N::local_bytes},
                                                   {"waits", &N::waits},
                                                   {"divisions", &N::divisions},
                                                   {"run", &N::run}};
  return names;
}

}  // namespace fm
