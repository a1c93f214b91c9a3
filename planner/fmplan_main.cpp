// fmplan: plans a model for a device, packs its weights, fills skeletons.
#include <boost/program_options.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
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
#include "planner/plan_flags.hpp"
#include "planner/queue/queue_command.hpp"
#include "planner/seeded_weights.hpp"
#include "planner/solve_command.hpp"
#include "planner/summary.hpp"

namespace {

namespace po = boost::program_options;
using fm::ExitStatus;
using fm::UserError;

constexpr const char* usage =
    "usage: fmplan --model MODEL.onnx --config NAME|FILE -o MODEL.plan.yaml [options]\n"
    "       fmplan queue A.onnx B.onnx .. --config NAME|FILE --budget SIZE --order fifo|srpt -o "
    "PLAN\n"
    "       fmplan pack --plan MODEL.plan.yaml --model MODEL.onnx -o MODEL.fmw\n"
    "       fmplan operators --model MODEL.onnx [--shape INPUT=N,N,..] [--dim NAME=N]\n"
    "       fmplan fill --model SKELETON.onnx --seed N -o MODEL.onnx\n"
    "       fmplan profile --on sim:CONFIG|device:N --plan PLAN -o PROFILE\n"
    "       fmplan solve PROBLEM.yaml [--json]\n\n"
    "Decides where and when every tensor of a network lives in a device's memory.\n\n"
    "example: fmplan --model vit.onnx --config mali-g715 --policy optimal --budget 32MiB \\\n"
    "             -o vit.plan.yaml\n\n";

std::uint64_t whole_number(const std::string& flag, const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    errno = 0;
    const unsigned long long value = std::strtoull(text.c_str(), nullptr, 10);
    if (errno == 0) return value;
  }
  throw UserError("--" + flag + " `" + text + "`: must be a number from 0 to 2^64 - 1");
}

void write_text(const std::string& path, const std::string& text) {
  fm::AtomicFile file(path);
  file.stream() << text;
  file.commit();
}

ExitStatus run_plan(const std::vector<std::string>& words) {
  po::options_description flags("options of fmplan");
  flags.add_options()("model", po::value<std::string>(), "ONNX file, opset 1 to 17");
  fm::add_plan_flags("preload", &flags);
  const po::variables_map values = fm::parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  if (values.count("version") != 0) {
    std::cout << "fmplan " << fm::version << '\n';
    return ExitStatus::done;
  }
  const std::string model = fm::required(values, "model");
  const std::string output = fm::required(values, "output");
  const fm::DeviceConfig config = fm::DeviceConfig::load(fm::required(values, "config"));
  fm::PlanOptions options = fm::plan_options(values);
  options.bindings = fm::shape_bindings(values);
  const std::string& policy = values["policy"].as<std::string>();
  if (fm::has_overlap_options(policy)) {
    fm::run_overlap_policy(values, model, output, config, options);
    return ExitStatus::done;
  }
  fm::refuse_overlap_options(values, policy);
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
  flags.add_options()("plan", text(), "the plan")(
      "model", po::value<std::vector<std::string>>()->composing(),
      "the plan's ONNX file; of a queue each of them")("output,o", text(), "the weights file")(
      "help", "print this");
  const po::variables_map values = fm::parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const fm::Plan plan = fm::read_plan(fm::required(values, "plan"));
  const std::vector<std::string> models = fm::texts_of(values, "model");
  if (models.empty()) throw UserError("--model is missing; see fmplan --help");
  const std::string output = fm::required(values, "output");
  {
    fm::ProgressBar bar("packing");
    fm::pack_weights(plan, models, output,
                     [&](std::size_t done, std::size_t total) { bar.show(done, total); });
  }
  std::map<fm::Bytes, fm::Bytes> slices;  // by place: weights of equal contents have one
  for (const fm::WeightSlice& slice : plan.weights) slices[slice.file_offset] = slice.bytes;
  fm::Bytes total;
  for (const auto& [place, bytes] : slices) total += bytes;
  (output == "-" ? std::cerr : std::cout)
      << output << ": " << slices.size() << " slices, " << total.count() << " bytes of weights\n";
  return ExitStatus::done;
}

/// The graph after fusion, by the classes that decide what becomes of its operators.
ExitStatus run_operators(const std::vector<std::string>& words) {
  po::options_description flags("options of fmplan operators");
  const auto texts = [] { return po::value<std::vector<std::string>>()->composing(); };
  flags.add_options()("model", po::value<std::string>(), "ONNX file, opset 1 to 17")(
      "shape", texts(), "INPUT=N,N,..: shape of an input")("dim", texts(),
                                                           "NAME=N: value of a named dimension")(
      "value", texts(), "NAME=N,N,..: plan for these values of an input")("help", "print this");
  const po::variables_map values = fm::parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const fm::ImportedModel model =
      fm::import_and_fuse(fm::required(values, "model"), fm::shape_bindings(values));
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
  const po::variables_map values = fm::parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const std::string output = fm::required(values, "output");
  const std::size_t filled =
      fm::fill_skeleton(fm::required(values, "model"),
                        whole_number("seed", values["seed"].as<std::string>()), output);
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
    if (command == "solve" || command == "queue") {
      words.erase(words.begin());
      return command == "solve" ? fm::run_solve(words) : fm::run_queue(words);
    }
    if (!command.empty() && command[0] != '-') {
      throw UserError(
          "unknown command `" + command + "`: " +
          fm::accepted_words(command, {"queue", "operators", "pack", "fill", "profile", "solve"}));
    }
    return run_plan(words);
  });
}
