// fmexec: executes a plan on an OpenCL device.

#include <boost/algorithm/string/join.hpp>
#include <future>
#include <iostream>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "core/progress_bar.hpp"
#include "core/weights_file.hpp"
#include "executor/device_features.hpp"
#include "executor/driver_quirks.hpp"
#include "executor/finite_check.hpp"
#include "executor/fmexec_microbench.hpp"
#include "executor/fmexec_options.hpp"
#include "executor/fmexec_tune.hpp"
#include "executor/held_memory.hpp"
#include "executor/model_arrays.hpp"
#include "executor/ops_check.hpp"
#include "executor/plan_executor.hpp"
#include "executor/plan_recording.hpp"
#include "executor/process_memory.hpp"
#include "executor/run_report.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

void write_inputs(const Plan& plan, const ArraysByTensor& inputs, PlanExecutor& executor) {
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::input)) {
    executor.write_input(*tensor, to_device_bytes(*tensor, inputs.at(tensor->id)));
  }
}

/// Fresh poison and inputs, because launches may reuse an input's memory.
RunTimes run_once(const Plan& plan, const ArraysByTensor& inputs, const std::string& label,
                  PlanExecutor& executor, LaunchObserver* observer) {
  executor.poison();
  write_inputs(plan, inputs, executor);
  ProgressBar bar(label);
  return executor.run([&](std::size_t done, std::size_t total) { bar.show(done, total); },
                      observer);
}

Measurement measure(const Plan& plan, const ArraysByTensor& inputs, const FmexecOptions& options,
                    PlanExecutor& executor, LaunchObserver* observer) {
  Measurement measured;
  const std::size_t runs = options.warmup + options.repeat;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::string label = "run " + std::to_string(i + 1) + " of " + std::to_string(runs);
    const RunTimes run = run_once(plan, inputs, label, executor, observer);
    if (i == 0) {
      measured.first = run;
      executor.recorder().stop_keeping();
    }
    measured.host_timed += run.host_timed;
    if (i >= options.warmup) measured.runs.push_back(run);
  }
  measured.fallbacks = executor.programs().fallbacks();
  measured.device = executor.context().device();
  measured.startup_ns = executor.startup_ns();
  measured.memory = executor.recorder().memory();
  measured.bytes_read = executor.bytes_read();
  measured.programs = executor.programs().size();
  measured.programs_built = executor.programs().built_from_source();
  return measured;
}

ArraysByTensor read_outputs(const Plan& plan, PlanExecutor& executor) {
  ArraysByTensor outputs;
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::output)) {
    outputs[tensor->id] = from_device_bytes(*tensor, executor.read_tensor(*tensor));
  }
  return outputs;
}

void check_destinations(const FmexecOptions& options, const ArrayFiles& files) {
  std::vector<std::string> paths{options.record, options.destination};
  for (const auto& [model, path] : files.outputs) paths.push_back(path);
  for (const std::string& path : paths) {
    if (!path.empty() && path != "-") AtomicFile probe(path);
  }
}

void report(const std::string& text, const std::string& destination) {
  AtomicFile file(destination);
  file.stream() << text;
  file.commit();
}

void note(const std::string& text) { std::cerr << "fmexec: note: " << text << std::endl; }

std::optional<FiniteCheck> finite_check(const Plan& plan, const ArraysByTensor& inputs,
                                        const FmexecOptions& options, PlanExecutor& executor) {
  if (!options.check_finite) return std::nullopt;
  std::optional<FiniteCheck> check(std::in_place, plan, executor, inputs, options.weights);
  for (const std::string& text : check->notes()) note(text);
  return check;
}

std::optional<OpsCheck> ops_check(const Plan& plan, const ArrayFiles& files,
                                  const FmexecOptions& options, PlanExecutor& executor) {
  if (options.verify_ops.empty()) return std::nullopt;
  return std::optional<OpsCheck>(std::in_place, plan, executor, files.tensors, bars_of(options),
                                 options.tolerance);
}

std::string bounds_text(const BoundsReport& bounds) {
  return "bounds               " + std::to_string(bounds.launches()) +
         " launches, no access outside its tensor\n";
}

ExitStatus run_on(PlanExecutor& executor, const Plan& plan, const ArrayFiles& files,
                  const ArraysByTensor& inputs, const FmexecOptions& options) {
  std::optional<FiniteCheck> check = finite_check(plan, inputs, options, executor);
  std::optional<OpsCheck> ops = ops_check(plan, files, options, executor);
  LaunchObserver* const observer = check ? static_cast<LaunchObserver*>(&*check)
                                   : ops ? &*ops
                                         : nullptr;
  Measurement measured = measure(plan, inputs, options, executor, observer);
  const ArraysByTensor outputs = read_outputs(plan, executor);
  measured.process = read_process_memory();
  measured.driver = read_driver_memory();
  if (measured.host_timed > 0) note(no_profiling);
  write_outputs(plan, outputs, files);

  // With the JSON on standard output, people read standard error.
  const bool json_to_terminal = options.json && options.destination == "-";
  std::ostream& people = json_to_terminal ? std::cerr : std::cout;
  Result result = make_result(plan, measured, executor.recorder().operations());
  std::string text = summary_text(plan, measured) + models_text(result.models);
  if (check) text += check->summary();
  if (ops) text += ops->summary();
  if (executor.bounds() != nullptr) text += bounds_text(*executor.bounds());
  if (options.profile) text += profile_text(plan, measured);
  if (options.json || options.destination == "-") people << text << std::flush;

  if (ops) ops->require_passed();
  if (!verify_outputs(plan, outputs, files, options, people)) {
    throw VerificationError("the outputs differ from " +
                            boost::algorithm::join(options.verify, ", "));
  }
  if (!options.record.empty()) {
    people << record_run(plan, inputs, options.weights, options.record, executor,
                         run_facts(measured));
    result.trace_file = options.record;
    result.trace_digest = digest_of_file(options.record);
  }
  if (options.json) {
    report(to_json(result), options.destination);
  } else if (options.destination != "-") {
    report(text, options.destination);
  }
  return ExitStatus::done;
}

ExitStatus run(const Plan& plan, const ArrayFiles& files, const FmexecOptions& options,
               std::future<OpenClDevice> device) {
  const WeightsIndex index = open_weights_for(plan, options.weights);
  const ArraysByTensor inputs = make_inputs(plan, files, options);
  check_references(plan, files, options);
  const OpenClDevice chosen = device.get();
  PlanExecutor executor(
      plan, index, options.weights, chosen,
      {options.disk_bytes_per_second, default_cache_folder(), options.check_bounds,
       options.own_launch_cap ? options.launch_cap : default_launch_cap(chosen)});
  for (const DriverQuirk& quirk : quirks_of(executor.context().device())) note(describe(quirk));
  for (const BuildFallback& fallback : executor.programs().fallbacks()) note(describe(fallback));
  return telling_held_memory(executor.recorder(),
                             [&] { return run_on(executor, plan, files, inputs, options); });
}

/// Checked launches are complete before the next begins: their results are read back.
Plan plan_to_run(const FmexecOptions& options) {
  Plan plan = read_plan(options.plan);
  const bool read_back = options.check_finite || !options.verify_ops.empty();
  if (read_back || options.check_bounds) plan.enqueue_ahead = 1;
  return plan;
}

ExitStatus execute(const FmexecOptions& options) {
  // Finding a device loads a driver with its compiler, which takes as long as reading a plan.
  std::future<OpenClDevice> device =
      std::async(std::launch::async, [&options] { return select_device(options.device); });
  const Plan plan = plan_to_run(options);
  const ArrayFiles files(plan, options);
  check_destinations(options, files);
  validate_launches(plan);
  if (!options.weights.empty()) return run(plan, files, options, std::move(device));
  std::cout << record_weightless(plan, make_inputs(plan, files, options), options.record,
                                 device.get());
  return ExitStatus::done;
}

void list(const DeviceList& found, std::ostream& out) {
  for (const OpenClDevice& device : found.devices) {
    out << describe({{device}, {}}) << "\n" << describe(device_features(device), "   ");
    for (const DriverQuirk& quirk : quirks_of(device))
      out << "   quirk " << describe(quirk) << "\n";
  }
  for (const std::string& failure : found.failures) out << failure << "\n";
}

ExitStatus fmexec(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "microbench") {
    return fmexec_microbench(argc - 1, argv + 1);
  }
  if (argc > 1 && std::string(argv[1]) == "tune") return fmexec_tune(argc - 1, argv + 1);
  const std::optional<FmexecOptions> options = parse_fmexec_options(argc, argv);
  if (!options) return ExitStatus::done;
  if (options->list_devices) {
    list(list_devices(), std::cout);
    return ExitStatus::done;
  }
  return execute(*options);
}

}  // namespace
}  // namespace fm

int main(int argc, char** argv) {
  fm::keep_large_blocks_apart();
  return fm::run_main("fmexec", [&] { return fm::fmexec(argc, argv); });
}
