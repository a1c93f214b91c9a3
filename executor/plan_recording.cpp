#include "executor/plan_recording.hpp"

#include <chrono>
#include <iomanip>
#include <sstream>

#include "executor/device_features.hpp"
#include "executor/driver_quirks.hpp"
#include "executor/index_values.hpp"
#include "executor/recorder/run_trace.hpp"
#include "executor/trace_tool/host_program.hpp"

namespace fm {
namespace {

/// The launches' access programs, recorded on a device as they are asked for.
class Recording {
 public:
  explicit Recording(const OpenClContext& context)
      : context_(context), programs_(context, cache_) {}

  void write(const Plan& plan, const ArraysByTensor& inputs, const std::string& weights,
             const std::vector<trace::HostOperation>& operations, const std::string& path,
             const std::map<std::string, std::string>& facts) {
    std::map<std::string, std::vector<std::int32_t>> integer_inputs;
    for (const auto& [tensor, array] : inputs) {
      if (plan.tensor(tensor).dtype != DataType::i32) continue;
      integer_inputs[tensor].assign(array.values.begin(), array.values.end());
    }
    const IndexSource indices = [&](const PlanTensor& tensor) {
      return index_values(plan, tensor, weights, integer_inputs);
    };
    trace::Header header = trace_header("fmexec", plan, facts, weights.empty());
    add_features(features_used(context_, plan), &header);
    add_quirks(quirks_of(context_.device()), &header);
    write_run_trace(path, header, plan, operations, programs_, indices);
  }

  std::string summary(const std::string& path) const {
    std::uint64_t checked = 0, total = 0;
    for (const trace::AccessProgram& program : programs_.programs()) {
      checked += program.groups_checked();
      total += program.groups_total();
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
    std::ostringstream text;
    text << "trace                " << path << ": " << programs_.programs().size()
         << " distinct launches, " << checked << " of " << total
         << " work-groups checked, recorded in " << std::fixed << std::setprecision(1)
         << seconds.count() << " s\n";
    for (const BuildFallback& fallback : cache_.fallbacks()) {
      text << "kernel fallback      recording kernel " << fallback.kernel << ", built with "
           << fallback.options << "\n";
    }
    return text.str();
  }

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const OpenClContext& context_;
  ProgramCache cache_{context_, ""};  // logging builds are of no use to another run
  ProgramRecorder programs_;
};

}  // namespace

std::string record_run(const Plan& plan, const ArraysByTensor& inputs, const std::string& weights,
                       const std::string& path, PlanExecutor& executor,
                       const std::map<std::string, std::string>& facts) {
  Recording recording(executor.context());
  recording.write(plan, inputs, weights, executor.recorder().operations(), path, facts);
  return recording.summary(path);
}

std::string record_weightless(const Plan& plan, const ArraysByTensor& inputs,
                              const std::string& path, const OpenClDevice& device) {
  const OpenClContext context(device);
  Recording recording(context);
  recording.write(plan, inputs, "", host_program(plan, {}), path, device.facts());
  return recording.summary(path);
}

}  // namespace fm
