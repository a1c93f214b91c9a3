// fmplan: plans a model for a device, packs its weights, fills skeletons.
#include <boost/program_options.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "core/progress_bar.hpp"
#include "core/version.hpp"
#include "planner/fmplan_profile.hpp"
#include "planner/make_plan.hpp"
#include "planner/movement_report.hpp"
#include "planner/overlap_command.hpp"
#include "planner/pack.hpp"
#include "planner/seeded_weights.hpp"
#include "planner/solve_command.hpp"
#include "planner/summary.hpp"

namespace {

namespace po = boost::program_options;
using fm::ExitStatus;
using fm::UserError;

constexpr const char* usage =
    "usage: fmplan --model MODEL.onnx --config NAME|FILE -o MODEL.plan.yaml [options]\n"
    "       fmplan pack --plan MODEL.plan.yaml --model MODEL.onnx -o MODEL.fmw\n"
    "       fmplan operators --model MODEL.onnx [--shape INPUT=N,N,..] [--dim NAME=N]\n"
    "       fmplan fill --model SKELETON.onnx --seed N -o MODEL.onnx\n"
    "       fmplan profile --on sim:CONFIG|device:N --plan PLAN -o PROFILE\n"
    "       fmplan solve PROBLEM.yaml [--json]\n\n"
    "Decides where and when every tensor of a network lives in a device's memory.\n\n"
    "example: fmplan --model vit.onnx --config mali-g715 --policy optimal --budget 32MiB \\\n"
    "             -o vit.plan.yaml\n\n";

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

std::uint64_t whole_number(const std::string& flag, const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    errno = 0;
    const unsigned long long value = std::strtoull(text.c_str(), nullptr, 10);
    if (errno == 0) return value;
  }
  throw UserError("--" + flag + " `" + text + "`: must be a number from 0 to 2^64 - 1");
}

std::string required(const po::variables_map& values, const std::string& flag) {
  if (values.count(flag) == 0) throw UserError("--" + flag + " is missing; see fmplan --help");
  return values[flag].as<std::string>();
}

po::variables_map parsed(const std::vector<std::string>& words,
                         const po::options_description& options) {
  po::variables_map values;
  try {
    const po::positional_options_description none;
    po::store(po::command_line_parser(words).options(options).positional(none).run(), values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see fmplan --help");
  }
  return values;
}

fm::DataType data_type_word(const std::string& flag, const std::string& word,
                            const std::string& half_word) {
  if (word == half_word) return fm::DataType::f16;
  if (word == "f32") return fm::DataType::f32;
  throw UserError("--" + flag + " `" + word + "`: " + fm::accepted_words(word, {half_word, "f32"}));
}

fm::ShapeBindings shape_bindings(const po::variables_map& values) {
  fm::ShapeBindings bindings;
  if (values.count("shape") != 0) {
    for (const std::string& text : values["shape"].as<std::vector<std::string>>()) {
      bindings.inputs.insert(named_numbers("shape", text));
    }
  }
  if (values.count("dim") != 0) {
    for (const std::string& text : values["dim"].as<std::vector<std::string>>()) {
      const auto [name, numbers] = named_numbers("dim", text);
      if (numbers.size() != 1) throw UserError("--dim `" + text + "`: must be NAME=N");
      bindings.dimensions[name] = numbers[0];
    }
  }
  return bindings;
}

fm::PlanOptions plan_options(const po::variables_map& values) {
  fm::PlanOptions options;
  const std::string& policy = values["policy"].as<std::string>();
  if (!fm::has_overlap_options(policy)) {
    options.policy = fm::streaming_policy_from(policy);
    fm::refuse_overlap_options(values, policy);
  }
  options.placement = fm::placement_policy_from(values["placement"].as<std::string>());
  options.storage = data_type_word("storage", values["storage"].as<std::string>(), "f16");
  options.accumulate = data_type_word("accumulate", values["accumulate"].as<std::string>(), "half");
  options.fusion = fm::fusion_mode_from(values["fusion"].as<std::string>());
  if (options.fusion == fm::FusionMode::adaptive && !fm::has_overlap_options(policy)) {
    throw UserError("--fusion adaptive belongs to --policy lc-opg or optimal, not " + policy);
  }
  options.eliminate = values.count("no-elimination") == 0;
  if (values.count("ring") != 0) {
    const std::string& text = values["ring"].as<std::string>();
    options.ring = fm::Bytes(static_cast<std::uint64_t>(
        fm::parse_quantity(text, fm::QuantityKind::bytes, {"--ring", 0, 0})));
  }
  options.bindings = shape_bindings(values);
  return options;
}

void write_text(const std::string& path, const std::string& text) {
  fm::AtomicFile file(path);
  file.stream() << text;
  file.commit();
}

po::options_description plan_flags() {
  po::options_description flags("options of fmplan");
  const auto text = [] { return po::value<std::string>(); };
  const auto texts = [] { return po::value<std::vector<std::string>>()->composing(); };
  flags.add_options()("model", text(), "ONNX file, opset 9 to 17")(
      "config", text(), "device: a name in configs/ or a file")("output,o", text(),
                                                                "the plan; - for standard output")(
      "policy", text()->default_value("preload"),
      "preload | always-next | same-op-type | lc-opg | optimal")(
      "placement", text()->default_value("auto"), "image2d | buffer | auto | buffer-weights")(
      "storage", text()->default_value("f16"), "f16 | f32")(
      "accumulate", text()->default_value("f32"), "f32 | half (needs cl_khr_fp16)")(
      "shape", texts(), "INPUT=N,N,..: shape of an input")("dim", texts(),
                                                           "NAME=N: value of a named dimension")(
      "ring", text(), "staging ring of streamed image weights, e.g. 8MiB")(
      "fusion", text()->default_value("fixed"),
      "activations and additions into the operator before them: fixed (all) | none | adaptive, "
      "decided with the schedule of lc-opg or optimal")(
      "no-elimination", "copy what reshapes, transposes and slices rearrange, to compare")(
      "json", "print the summary as JSON")("help", "print this")("version", "print the version");
  fm::add_overlap_options(&flags);
  return flags;
}

ExitStatus run_plan(const std::vector<std::string>& words) {
  const po::options_description flags = plan_flags();
  const po::variables_map values = parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  if (values.count("version") != 0) {
    std::cout << "fmplan " << fm::version << '\n';
    return ExitStatus::done;
  }
  const std::string model = required(values, "model");
  const std::string output = required(values, "output");
  const fm::DeviceConfig config = fm::DeviceConfig::load(required(values, "config"));
  const fm::PlanOptions options = plan_options(values);
  if (fm::has_overlap_options(values["policy"].as<std::string>())) {
    fm::run_overlap_policy(values, model, output, config, options);
    return ExitStatus::done;
  }
  const fm::Plan plan = fm::make_plan(model, config, options);
  write_text(output, fm::to_yaml(plan));
  const bool json = values.count("json") != 0;
  (output == "-" ? std::cerr : std::cout)
      << (json ? fm::plan_summary_json(plan) : fm::plan_summary(plan));
  return ExitStatus::done;
}

ExitStatus run_pack(const std::vector<std::string>& words) {
  po::options_description flags("options of fmplan pack");
  const auto text = [] { return po::value<std::string>(); };
  flags.add_options()("plan", text(), "the plan")("model", text(), "the plan's ONNX file")(
      "output,o", text(), "the weights file")("help", "print this");
  const po::variables_map values = parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const fm::Plan plan = fm::read_plan(required(values, "plan"));
  const std::string model = required(values, "model");
  const std::string output = required(values, "output");
  {
    fm::ProgressBar bar("packing");
    fm::pack_weights(plan, model, output,
                     [&](std::size_t done, std::size_t total) { bar.show(done, total); });
  }
  fm::Bytes total;
  for (const fm::WeightSlice& slice : plan.weights) total += slice.bytes;
  (output == "-" ? std::cerr : std::cout) << output << ": " << plan.weights.size() << " slices, "
                                          << total.count() << " bytes of weights\n";
  return ExitStatus::done;
}

/// The graph after fusion, by the classes that decide what becomes of its operators.
ExitStatus run_operators(const std::vector<std::string>& words) {
  po::options_description flags("options of fmplan operators");
  const auto texts = [] { return po::value<std::vector<std::string>>()->composing(); };
  flags.add_options()("model", po::value<std::string>(), "ONNX file, opset 9 to 17")(
      "shape", texts(), "INPUT=N,N,..: shape of an input")(
      "dim", texts(), "NAME=N: value of a named dimension")("help", "print this");
  const po::variables_map values = parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const fm::ImportedModel model =
      fm::import_and_fuse(required(values, "model"), shape_bindings(values));
  std::size_t total = 0;
  for (const auto& [name, count] : fm::operators_by_class(model.graph)) {
    std::cout << name << ' ' << count << '\n';
    total += count;
  }
  std::cout << "all " << total << '\n';
  return ExitStatus::done;
}

ExitStatus run_fill(const std::vector<std::string>& words) {
  po::options_description flags("options of fmplan fill");
  const auto text = [] { return po::value<std::string>(); };
  flags.add_options()("model", text(), "a weightless skeleton (models/README.md)")(
      "seed", text()->default_value("1"), "0 to 2^64 - 1")("output,o", text(), "the filled model")(
      "help", "print this");
  const po::variables_map values = parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const std::string output = required(values, "output");
  const std::size_t filled = fm::fill_skeleton(
      required(values, "model"), whole_number("seed", values["seed"].as<std::string>()), output);
  (output == "-" ? std::cerr : std::cout) << output << ": " << filled << " tensors filled\n";
  return ExitStatus::done;
}

}  // namespace

int main(int argc, char** argv) {
  return fm::run_main("fmplan", [&] {
    std::vector<std::string> words(argv + 1, argv + argc);
    const std::string command = words.empty() ? std::string() : words[0];
    if (command == "operators") {
      words.erase(words.begin());
      return run_operators(words);
    }
    if (command == "pack" || command == "fill" || command == "profile") {
      words.erase(words.begin());
      if (command == "profile") return fm::fmplan_profile(words);
      return command == "pack" ? run_pack(words) : run_fill(words);
    }
    if (command == "solve") {
      words.erase(words.begin());
      return fm::run_solve(words);
    }
    if (!command.empty() && command[0] != '-') {
      throw UserError(
          "unknown command `" + command +
          "`: " + fm::accepted_words(command, {"operators", "pack", "fill", "profile", "solve"}));
    }
    return run_plan(words);
  });
}
