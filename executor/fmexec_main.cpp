// fmexec: executes a plan on an OpenCL device.
#include <malloc.h>

#include <iomanip>
#include <iostream>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "core/progress_bar.hpp"
#include "core/weights_file.hpp"
#include "executor/fmexec_microbench.hpp"
#include "executor/fmexec_options.hpp"
#include "executor/index_values.hpp"
#include "executor/model_io.hpp"
#include "executor/plan_executor.hpp"
#include "executor/recorder/run_trace.hpp"
#include "executor/run_report.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

using Inputs = std::map<std::string, NpyArray>;  // by tensor id

Inputs make_inputs(const Plan& plan, const FmexecOptions& options) {
  const std::string& path = options.inputs.empty() ? options.verify : options.inputs;
  std::optional<NpzReader> file;
  if (!path.empty()) file.emplace(path);
  Inputs inputs;
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::input)) {
    const std::int64_t rows = rows_indexed_by(plan, *tensor);
    inputs[tensor->id] = file ? input_from(*file, *tensor)
                              : random_input(*tensor, options.seed, rows > 0 ? rows : 2);
  }
  return inputs;
}

void write_inputs(const Plan& plan, const Inputs& inputs, PlanExecutor& executor) {
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::input)) {
    executor.write_input(*tensor, to_device_bytes(*tensor, inputs.at(tensor->id)));
  }
}

/// Fresh poison and inputs, because launches may reuse an input's memory.
RunTimes run_once(const Plan& plan, const Inputs& inputs, const std::string& label,
                  PlanExecutor& executor) {
  executor.poison();
  write_inputs(plan, inputs, executor);
  ProgressBar bar(label);
  return executor.run([&](std::size_t done, std::size_t total) { bar.show(done, total); });
}

Measurement measure(const Plan& plan, const Inputs& inputs, const FmexecOptions& options,
                    PlanExecutor& executor) {
  Measurement measured;
  const std::size_t runs = options.warmup + options.repeat;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::string label = "run " + std::to_string(i + 1) + " of " + std::to_string(runs);
    const RunTimes run = run_once(plan, inputs, label, executor);
    if (i == 0) {
      measured.first = run;
      executor.recorder().stop_keeping();
    }
    if (i >= options.warmup) measured.runs.push_back(run);
  }
  measured.device = executor.context().device();
  measured.startup_ns = executor.startup_ns();
  measured.memory = executor.recorder().memory();
  measured.bytes_read = executor.bytes_read();
  measured.programs = executor.programs().size();
  measured.programs_built = executor.programs().built_from_source();
  return measured;
}

std::map<std::string, NpyArray> read_outputs(const Plan& plan, PlanExecutor& executor) {
  std::map<std::string, NpyArray> outputs;
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::output)) {
    outputs["output:" + tensor->name] = from_device_bytes(*tensor, executor.read_output(*tensor));
  }
  return outputs;
}

/// Prints each comparison; returns whether all pass.
bool verify(const Plan& plan, const std::map<std::string, NpyArray>& outputs,
            const FmexecOptions& options, std::ostream& out) {
  const NpzReader reference(options.verify);
  const BarKind bars = options.half_bars ? BarKind::half_error : BarKind::by_storage;
  bool passes = true;
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::output)) {
    const OutputComparison comparison =
        compare_output(reference, *tensor, outputs.at("output:" + tensor->name), plan.storage, bars,
                       options.tolerance);
    passes = passes && comparison.passes();
    out << "verify               output " << comparison.name << ": relative error "
        << comparison.relative_error << ", bar " << comparison.bar;
    if (comparison.nan_count > 0) out << ", " << comparison.nan_count << " NaN";
    if (comparison.beyond_half > 0) out << ", " << comparison.beyond_half << " beyond half's range";
    out << (comparison.passes() ? ": passed\n" : ": FAILED\n");
  }
  return passes;
}

/// What compare_output() would refuse is refused before the run, not after it.
void check_reference(const Plan& plan, const FmexecOptions& options) {
  if (options.verify.empty()) return;
  const NpzReader reference(options.verify);
  const BarKind bars = options.half_bars ? BarKind::half_error : BarKind::by_storage;
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::output)) {
    compare_output(reference, *tensor, random_input(*tensor, options.seed), plan.storage, bars,
                   options.tolerance);
  }
}

void check_destinations(const FmexecOptions& options) {
  for (const std::string& path : {options.record, options.outputs, options.destination}) {
    if (!path.empty() && path != "-") AtomicFile probe(path);
  }
}

std::string record(const Plan& plan, const Inputs& inputs, const FmexecOptions& options,
                   PlanExecutor& executor) {
  std::map<std::string, std::vector<std::int32_t>> integer_inputs;
  for (const auto& [tensor, array] : inputs) {
    if (plan.tensor(tensor).dtype != DataType::i32) continue;
    integer_inputs[tensor].assign(array.values.begin(), array.values.end());
  }
  const IndexSource indices = [&](const PlanTensor& tensor) {
    return index_values(plan, tensor, options.weights, integer_inputs);
  };
  const std::uint64_t began = executor.recorder().now();
  // Logging builds are of no use to another run.
  ProgramCache cache(executor.context(), "");
  ProgramRecorder programs(executor.context(), cache);
  write_run_trace(options.record,
                  trace_header("fmexec", plan, executor.context().device().facts(), false), plan,
                  executor.recorder().operations(), programs, indices);
  std::uint64_t checked = 0, total = 0;
  for (const trace::AccessProgram& program : programs.programs()) {
    checked += program.groups_checked();
    total += program.groups_total();
  }
  std::ostringstream text;
  text << "trace                " << options.record << ": " << programs.programs().size()
       << " distinct launches, " << checked << " of " << total
       << " work-groups checked, recorded in " << std::fixed << std::setprecision(1)
       << static_cast<double>(executor.recorder().now() - began) / 1e9 << " s\n";
  return text.str();
}

void report(const std::string& text, const std::string& destination) {
  AtomicFile file(destination);
  file.stream() << text;
  file.commit();
}

ExitStatus execute(const FmexecOptions& options) {
  check_destinations(options);
  const Plan plan = read_plan(options.plan);
  validate_launches(plan);
  const WeightsIndex index = open_weights_for(plan, options.weights);
  const Inputs inputs = make_inputs(plan, options);
  check_reference(plan, options);
  const OpenClDevice device = select_device(options.device);
  PlanExecutor executor(plan, index, options.weights, device,
                        {options.disk_bytes_per_second, default_cache_folder()});
  Measurement measured = measure(plan, inputs, options, executor);
  const std::map<std::string, NpyArray> outputs = read_outputs(plan, executor);
  measured.process = read_process_memory();
  if (!options.outputs.empty()) write_npz(options.outputs, outputs);

  // With the JSON on standard output, people read standard error.
  const bool json_to_terminal = options.json && options.destination == "-";
  std::ostream& people = json_to_terminal ? std::cerr : std::cout;
  std::string text = summary_text(plan, measured);
  if (options.profile) text += profile_text(plan, measured);
  if (options.json || options.destination == "-") people << text << std::flush;

  const bool passes = options.verify.empty() || verify(plan, outputs, options, people);
  if (!passes) throw VerificationError("the outputs differ from " + options.verify);
  Result result = make_result(plan, measured, executor.recorder().operations());
  if (!options.record.empty()) {
    people << record(plan, inputs, options, executor);
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

ExitStatus fmexec(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "microbench") {
    return fmexec_microbench(argc - 1, argv + 1);
  }
  const std::optional<FmexecOptions> options = parse_fmexec_options(argc, argv);
  if (!options) return ExitStatus::done;
  if (options->list_devices) {
    std::cout << describe(list_devices()) << "\n";
    return ExitStatus::done;
  }
  return execute(*options);
}

}  // namespace
}  // namespace fm

int main(int argc, char** argv) {
  // Freed weights must go back to the system: a fixed threshold keeps large blocks out of the heap.
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  return fm::run_main("fmexec", [&] { return fm::fmexec(argc, argv); });
}
