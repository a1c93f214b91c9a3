// A launch against its catalogue entry: compile options, and whether its arguments agree.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "core/plan_streams.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/index_function.hpp"
#include "kernels/launch_tiles.hpp"
#include "kernels/pipelined_loops.hpp"

namespace fm {
namespace {

bool is_tensor(ArgumentKind kind) {
  return kind == ArgumentKind::texels || kind == ArgumentKind::linear ||
         kind == ArgumentKind::index;
}

/// Throws UserError for storage that no macro serves.
std::string storage_kind(const PlanTensor& tensor) {
  if (tensor.layout == Layout::linear) {
    if (tensor.dtype == DataType::f16) return "linear_half";
    if (tensor.dtype == DataType::f32) return "linear_float";
    if (tensor.dtype == DataType::i32) return "linear_int";
  } else if (tensor.dtype == DataType::u8) {
    if (tensor.placement == Placement::image2d) return "image";  // normalised: reads give 0 to 1
  } else if (tensor.dtype == DataType::f16 || tensor.dtype == DataType::f32) {
    if (tensor.placement == Placement::image2d) return "image";
    if (tensor.placement == Placement::buffer) {
      return tensor.dtype == DataType::f16 ? "buffer_half" : "buffer_float";
    }
  }
  throw UserError("tensor " + tensor.id + ": kernels do not serve " + to_string(tensor.dtype) +
                  " " + to_string(tensor.layout) + " in " + to_string(tensor.placement));
}

/// How an argument's kind begins: nothing without an index function.
std::string index_kind(const PlanLaunch& launch, const std::string& argument,
                       const PlanTensor& tensor) {
  const auto found = launch.parameters.find(index_parameter(argument));
  if (found == launch.parameters.end()) return "";
  const IndexFunction function = parse_index_function(found->second, tensor.layout);
  return function.form == IndexFunction::Form::texels ? "view_" : "elements_";
}

const KernelEntry& entry_of(const PlanLaunch& launch) {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_catalogue()) {
    if (entry.name == launch.kernel) return entry;
    names.push_back(entry.name);
  }
  throw UserError("launch " + launch.id + ": unknown kernel '" + launch.kernel +
                  "': " + accepted_words(launch.kernel, names));
}

std::string kind_word(const LaunchArgument& argument) {
  static const char* const words[] = {"a tensor", "an integer", "a real number", "local memory"};
  return words[argument.index()];
}
std::string kind_word(ArgumentKind kind) {
  if (is_tensor(kind)) return "a tensor";
  if (kind == ArgumentKind::integer) return "an integer";
  return kind == ArgumentKind::real ? "a real number" : "local memory";
}

void check_streams(const PlanLaunch& launch, const KernelEntry& entry, const std::string& value) {
  const int slots = stream_slots(launch);
  if (!entry.streams && value != "0") {
    throw UserError("launch " + launch.id + ": " + entry.name +
                    " streams no weights: parameter STREAMS must be 0 or absent");
  }
  if (value != std::to_string(slots) || slots > most_streams) {
    throw UserError("launch " + launch.id + ": parameter STREAMS = '" + value +
                    "': a number from 0 to " + std::to_string(most_streams) + " is needed");
  }
}

void check_parameters(const PlanLaunch& launch, const KernelEntry& entry) {
  for (const ParameterRange& range : entry.parameters) {
    const auto found = launch.parameters.find(range.name);
    if (found == launch.parameters.end()) {
      if (range.optional) continue;
      throw UserError("launch " + launch.id + ": parameter " + range.name + " of " + entry.name +
                      " is missing (" + range.description + ")");
    }
    const bool known =
        std::find(range.values.begin(), range.values.end(), found->second) != range.values.end();
    const bool is_number = !found->second.empty() && found->second.size() < 7 &&
                           found->second.find_first_not_of("0123456789") == std::string::npos;
    if (range.values.empty() ? !is_number : !known) {
      throw UserError("launch " + launch.id + ": parameter " + range.name + " = '" + found->second +
                      "': " +
                      (range.values.empty() ? std::string("an integer is needed")
                                            : accepted_words(found->second, range.values)));
    }
  }
  for (const auto& [name, value] : launch.parameters) {
    if (name == streams_parameter) {
      check_streams(launch, entry, value);
      continue;
    }
    if (indexed_argument(name)) continue;
    std::vector<std::string> names;
    for (const ParameterRange& range : entry.parameters) names.push_back(range.name);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw UserError("launch " + launch.id + ": " + entry.name + " has no parameter '" + name +
                    "': " + accepted_words(name, names));
  }
}

/// Index functions are those of texel arguments; what is written by element is linear.
void check_index_functions(const Plan& plan, const PlanLaunch& launch,
                           const std::vector<KernelArgument>& arguments) {
  for (const auto& [name, value] : launch.parameters) {
    const auto indexed = indexed_argument(name);
    if (!indexed) continue;
    std::vector<std::string> names;
    const KernelArgument* found = nullptr;
    std::size_t position = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].kind != ArgumentKind::texels) continue;
      names.push_back(index_parameter(arguments[i].name));
      if (arguments[i].name == *indexed) found = &arguments[position = i];
    }
    if (found == nullptr) {
      throw UserError("launch " + launch.id + ": " + launch.kernel + " has no parameter '" + name +
                      "': " + accepted_words(name, names));
    }
    const auto* tensor = std::get_if<TensorArgument>(&launch.arguments[position]);
    if (tensor == nullptr) continue;  // refused with the arguments
    try {
      const IndexFunction function =
          parse_index_function(value, plan.tensor(tensor->tensor).layout);
      if (found->write && function.form == IndexFunction::Form::elements) {
        throw UserError("index function `" + value + "`: texels are only written whole");
      }
    } catch (const UserError& error) {
      throw UserError("launch " + launch.id + ": parameter " + name + ": " + error.what());
    }
  }
}

void check_argument(const Plan& plan, const PlanLaunch& launch, const KernelArgument& wanted,
                    const LaunchArgument& given) {
  const std::string place =
      "launch " + launch.id + ": argument " + wanted.name + " of " + launch.kernel;
  if (kind_word(given) != kind_word(wanted.kind)) {
    throw UserError(place + " must be " + kind_word(wanted.kind) + ", not " + kind_word(given));
  }
  const auto* argument = std::get_if<TensorArgument>(&given);
  if (!argument) return;
  if (argument->write != wanted.write) {
    throw UserError(place + " must be " + (wanted.write ? "written" : "read only"));
  }
  const PlanTensor& tensor = plan.tensor(argument->tensor);
  storage_kind(tensor);
  const bool indexed = launch.parameters.count(index_parameter(wanted.name)) != 0;
  if (!indexed && (wanted.kind == ArgumentKind::texels) == (tensor.layout == Layout::linear)) {
    throw UserError(place + " must " + (wanted.kind == ArgumentKind::texels ? "not " : "") +
                    "be linear, but " + tensor.id + " is " + to_string(tensor.layout));
  }
  if (wanted.kind == ArgumentKind::index && tensor.dtype != DataType::i32) {
    throw UserError(place + " must be i32, but " + tensor.id + " is " + to_string(tensor.dtype));
  }
}

/// Without what chooses one of a kernel's builds. `named`: with the index of each argument.
std::string common_options(const Plan& plan, const PlanLaunch& launch, bool named) {
  std::string options = "-cl-std=CL1.2 -cl-mad-enable";
  for (const auto& [name, value] : launch.parameters) {
    if (!indexed_argument(name)) options += " -D" + name + "=" + value;
  }
  const auto arguments = entry_of(launch).arguments(launch.parameters);
  for (std::size_t i = 0; i < arguments.size() && i < launch.arguments.size(); ++i) {
    const auto* argument = std::get_if<TensorArgument>(&launch.arguments[i]);
    if (!argument) continue;
    options.append(" -DFM_KIND_").append(arguments[i].name).append("=");
    options += index_kind(launch, arguments[i].name, plan.tensor(argument->tensor)) +
               storage_kind(plan.tensor(argument->tensor));
    if (named) options += " -DFM_ARGUMENT_" + arguments[i].name + "=" + std::to_string(i);
  }
  const std::string staged = plan.storage == DataType::f16 ? "buffer_half" : "buffer_float";
  const int slots = stream_slots(launch);
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(slots); ++slot) {
    const std::string name = "stream" + std::to_string(slot);
    options.append(" -DFM_KIND_").append(name).append("=").append(staged);
    options.append(" -DFM_KIND_").append(name).append("_to=image");
    if (!named) continue;
    const std::size_t first = launch.arguments.size() + slot * arguments_a_stream;
    options += " -DFM_ARGUMENT_" + name + "=" + std::to_string(first);
    options += " -DFM_ARGUMENT_" + name + "_to=" + std::to_string(first + 2);
  }
  const std::string definitions = index_definitions(plan, launch);
  if (!definitions.empty()) options += " -DFM_INDEX_FUNCTIONS=" + digest_of(definitions).substr(5);
  if (plan.accumulate == DataType::f16) options += " -DFM_ACCUMULATE_HALF";
  return options;
}

}  // namespace

std::string compile_options(const Plan& plan, const PlanLaunch& launch, bool recording) {
  return common_options(plan, launch, recording) + (recording ? " -DFM_RECORDING" : "");
}

std::string compile_options(const Plan& plan, const PlanLaunch& launch, const KernelBuild& build) {
  std::string options = common_options(plan, launch, build.checked);
  if (build.checked) options += " -DFM_CHECKED";
  if (!build.sliced) return options;
  options += " -DFM_SLICED";
  for (std::size_t d = 0; d < 3 && stream_slots(launch) > 0; ++d) {
    options += " -DFM_GROUPS_" + std::to_string(d) + "=" +
               std::to_string(launch.global[d] / launch.local[d]);
  }
  return options;
}

std::string program_name(const Plan& plan, const PlanLaunch& launch) {
  return launch.kernel + " " + compile_options(plan, launch, false);
}

void validate_launches(const Plan& plan) {
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind != LaunchKind::kernel) continue;
    const KernelEntry& entry = entry_of(launch);
    check_parameters(launch, entry);
    const auto wanted = entry.arguments(launch.parameters);
    if (launch.arguments.size() != wanted.size()) {
      throw UserError("launch " + launch.id + ": " + launch.kernel + " takes " +
                      std::to_string(wanted.size()) + " arguments, not " +
                      std::to_string(launch.arguments.size()));
    }
    check_index_functions(plan, launch, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      check_argument(plan, launch, wanted[i], launch.arguments[i]);
    }
    if (const std::string refusal = has_tile(launch) ? tile_refusal(launch, tile_of(launch)) : "";
        !refusal.empty()) {
      throw UserError("launch " + launch.id + ": " + refusal);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (launch.local[d] == 0 || launch.global[d] == 0 ||
          launch.global[d] % launch.local[d] != 0) {
        throw UserError(
            "launch " + launch.id + ": global size " + std::to_string(launch.global[d]) +
            " must be a positive multiple of local size " + std::to_string(launch.local[d]));
      }
    }
  }
}

}  // namespace fm
