#include "planner/plan_flags.hpp"

#include <cstdlib>

#include "core/diagnostics.hpp"
#include "planner/overlap_command.hpp"
#include "planner/tiles.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

/// "name=1,3,224,224" or "name=7"
std::pair<std::string, std::vector<std::int64_t>> named_numbers(const std::string& flag,
                                                                const std::string& text) {
  const std::size_t equals = text.rfind('=');
  std::vector<std::int64_t> numbers;
  bool valid = equals != std::string::npos && equals != 0;
  for (std::size_t begin = valid ? equals + 1 : text.size(); valid && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string number = text.substr(begin, end - begin);
    valid = !number.empty() && number.size() < 12 &&
            number.find_first_not_of("0123456789") == std::string::npos;
    if (valid) numbers.push_back(std::stoll(number));
    begin = end + 1;
  }
  if (!valid) {
    throw UserError("--" + flag + " `" + text + "`: must be NAME=N" +
                    (flag == "shape" ? ",N,.., for example image=1,3,224,224" : ""));
  }
  return {text.substr(0, equals), numbers};
}

DataType data_type_word(const std::string& flag, const std::string& word,
                        const std::string& half_word) {
  if (word == half_word) return DataType::f16;
  if (word == "f32") return DataType::f32;
  throw UserError("--" + flag + " `" + word + "`: " + accepted_words(word, {half_word, "f32"}));
}

}  // namespace

std::string required(const po::variables_map& values, const std::string& flag) {
  if (values.count(flag) == 0) throw UserError("--" + flag + " is missing; see fmplan --help");
  return values[flag].as<std::string>();
}

po::variables_map parsed(const std::vector<std::string>& words,
                         const po::options_description& options, const std::string& positional) {
  po::variables_map values;
  try {
    po::positional_options_description places;
    if (!positional.empty()) places.add(positional.c_str(), -1);
    po::store(po::command_line_parser(words).options(options).positional(places).run(), values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see fmplan --help");
  }
  return values;
}

void bind_shape(const std::string& text, ShapeBindings* bindings) {
  bindings->inputs.insert(named_numbers("shape", text));
}

void bind_dimension(const std::string& text, ShapeBindings* bindings) {
  const auto [name, numbers] = named_numbers("dim", text);
  if (numbers.size() != 1) throw UserError("--dim `" + text + "`: must be NAME=N");
  bindings->dimensions[name] = numbers[0];
}

void bind_value(const std::string& text, ShapeBindings* bindings) {
  const std::size_t equals = text.rfind('=');
  std::vector<std::string> numbers;
  bool valid = equals != std::string::npos && equals != 0;
  for (std::size_t begin = valid ? equals + 1 : text.size(); begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    numbers.push_back(text.substr(begin, end - begin));
    char* stop = nullptr;
    std::strtod(numbers.back().c_str(), &stop);
    valid = valid && !numbers.back().empty() && *stop == '\0';
    begin = end + 1;
  }
  if (!valid) {
    throw UserError("--value `" + text + "`: must be NAME=N,N,.., for example axes=0,-1");
  }
  bindings->values[text.substr(0, equals)] = std::move(numbers);
}

std::vector<std::string> texts_of(const po::variables_map& values, const std::string& flag) {
  if (values.count(flag) == 0) return {};
  return values[flag].as<std::vector<std::string>>();
}

ShapeBindings shape_bindings(const po::variables_map& values) {
  ShapeBindings bindings;
  for (const std::string& text : texts_of(values, "shape")) bind_shape(text, &bindings);
  for (const std::string& text : texts_of(values, "dim")) bind_dimension(text, &bindings);
  for (const std::string& text : texts_of(values, "value")) bind_value(text, &bindings);
  return bindings;
}

/// Whole where the policy may hold all weights.
WeightSlices weight_slices(const po::variables_map& values) {
  const std::string& word = values["slices"].as<std::string>();
  if (word == "small") return WeightSlices::small;
  if (word == "whole") return WeightSlices::whole;
  if (word != "auto") {
    throw UserError("--slices `" + word + "`: " + accepted_words(word, {"auto", "small", "whole"}));
  }
  const std::string& policy = values["policy"].as<std::string>();
  const bool least_memory =
      values.count("minimize") != 0 && values["minimize"].as<std::string>() == "memory";
  const bool limited = values.count("budget") != 0 || values.count("pareto") != 0 || least_memory;
  const bool unlimited = policy == "preload" || (policy == "optimal" && !limited);
  return unlimited ? WeightSlices::whole : WeightSlices::small;
}

PlanOptions plan_options(const po::variables_map& values) {
  PlanOptions options;
  const std::string& policy = values["policy"].as<std::string>();
  if (!has_overlap_options(policy)) options.policy = streaming_policy_from(policy);
  options.placement = placement_policy_from(values["placement"].as<std::string>());
  options.storage = data_type_word("storage", values["storage"].as<std::string>(), "f16");
  options.accumulate = data_type_word("accumulate", values["accumulate"].as<std::string>(), "half");
  options.fusion = fusion_mode_from(values["fusion"].as<std::string>());
  if (options.fusion == FusionMode::adaptive && !has_overlap_options(policy)) {
    throw UserError("--fusion adaptive belongs to --policy lc-opg or optimal, not " + policy);
  }
  options.fused_attention = values.count("no-fused-attention") == 0;
  options.slices = weight_slices(values);
  options.eliminate = values.count("no-elimination") == 0;
  if (values.count("tiles") != 0) {
    options.tiles = read_tile_file(values["tiles"].as<std::string>());
  }
  if (values.count("ring") != 0) options.ring = size_of_option(values, "ring");
  return options;
}

void add_plan_flags(const std::string& default_policy, po::options_description* flags) {
  const auto text = [] { return po::value<std::string>(); };
  const auto texts = [] { return po::value<std::vector<std::string>>()->composing(); };
  flags->add_options()("config", text(), "device: a name in configs/ or a file")(
      "output,o", text(), "the plan; - for standard output")(
      "policy", text()->default_value(default_policy),
      "preload | always-next | same-op-type | lc-opg | optimal")(
      "placement", text()->default_value("auto"), "image2d | buffer | auto | buffer-weights")(
      "storage", text()->default_value("f16"), "f16 | f32")(
      "accumulate", text()->default_value("f32"), "f32 | half (needs cl_khr_fp16)")(
      "shape", texts(), "INPUT=N,N,..: shape of an input")("dim", texts(),
                                                           "NAME=N: value of a named dimension")(
      "value", texts(), "NAME=N,N,..: plan for these values of an input")(
      "ring", text(), "staging ring of streamed image weights, e.g. 8MiB")(
      "fusion", text()->default_value("fixed"),
      "activations and additions into the operator before them: fixed (all) | none | adaptive, "
      "decided with the schedule of lc-opg or optimal")(
      "slices", text()->default_value("auto"),
      "large weights: small (parts that are read, held and released one by one) | whole | auto: "
      "whole with preload, and with optimal where nothing limits memory")(
      "no-fused-attention", "store the scores of attention and their softmax, to compare")(
      "no-elimination", "copy what reshapes, transposes and slices rearrange, to compare")(
      "tiles", text(), "tiles measured by fmexec tune, before those for the config")(
      "json", "print the summary as JSON")("help", "print this")("version", "print the version");
  add_overlap_options(flags);
}

}  // namespace fm
