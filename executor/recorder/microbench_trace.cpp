#include "executor/recorder/microbench_trace.hpp"

#include <set>

#include "core/version.hpp"
#include "executor/host_recorder.hpp"

namespace fm {
namespace {

class HostSteps {
 public:
  HostSteps(const Microbench& bench, ProgramRecorder& programs)
      : bench_(bench), programs_(programs) {
    for (const PlanTensor& tensor : bench.plan.tensors) create(tensor);
  }

  void operator()(const MicrobenchLaunch& step) {
    const PlanLaunch& launch = bench_.plan.launches[step.launch];
    trace::HostOperation operation;
    trace::Launch& logged = *operation.mutable_launch();
    logged.set_launch(launch.id);
    logged.set_queue(compute_queue_number);
    logged.set_operation(launch.operation);
    logged.set_program(programs_.record(bench_.plan, launch, no_indices));
    used_.insert(logged.program());
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* tensor = std::get_if<TensorArgument>(&launch.arguments[i]);
      if (tensor == nullptr) continue;
      trace::Argument& argument = *logged.add_arguments();
      argument.set_index(static_cast<std::uint32_t>(i));
      argument.set_object(objects_.at(tensor->tensor));
      argument.set_tensor(tensor->tensor);
    }
    add(std::move(operation), step.waits);
  }

  void operator()(const MicrobenchRead& step) {
    trace::HostOperation operation;
    trace::DiskRead& read = *operation.mutable_disk_read();
    read.set_file_offset(file_offset_);
    read.set_bytes(step.bytes.count());
    read.set_object(objects_.at(step.tensor));
    read.set_request_bytes(step.request.count());
    read.set_direct(true);
    read.set_weight(step.label);
    file_offset_ += step.bytes.count();
    add(std::move(operation), false);
  }

  void operator()(const MicrobenchCopy& step) {
    const PlanTensor& image = bench_.plan.tensor(step.image);
    trace::HostOperation operation;
    trace::Copy& copy = *operation.mutable_copy();
    copy.set_source(objects_.at(step.buffer));
    copy.set_destination(objects_.at(step.image));
    copy.set_rows(static_cast<std::uint32_t>(grid_extent(image.layout, image.shape).height));
    copy.set_bytes(image.bytes.count());
    copy.set_queue(copy_queue_number);
    copy.set_launch(step.label);
    add(std::move(operation), true);
  }

  Trace take() {
    for (const trace::AccessProgram& program : programs_.programs()) {
      if (used_.count(program.id()) != 0) trace_.programs.push_back(program);
    }
    return std::move(trace_);
  }

 private:
  static std::vector<std::int32_t> no_indices(const PlanTensor&) { return {}; }

  void create(const PlanTensor& tensor) {
    const std::uint64_t object = objects_[tensor.id] = objects_.size() + 1;
    const bool image = tensor.placement == Placement::image2d;
    add(image ? create_image_operation(object, trace::ACTIVATIONS,
                                       grid_extent(tensor.layout, tensor.shape),
                                       size_of(tensor.dtype) * 4, tensor.id)
              : create_buffer_operation(object, trace::ACTIVATIONS, tensor.bytes, tensor.id),
        false);
  }

  void add(trace::HostOperation operation, bool wait) {
    operation.set_id(trace_.operations.size() + 1);
    operation.set_thread(main_thread);
    trace_.operations.push_back(std::move(operation));
    if (!wait) return;
    trace::HostOperation waiting = wait_operation();
    waiting.set_id(trace_.operations.size() + 1);
    waiting.set_thread(main_thread);
    waiting.add_after(trace_.operations.size());
    trace_.operations.push_back(std::move(waiting));
  }

  const Microbench& bench_;
  ProgramRecorder& programs_;
  std::map<std::string, std::uint64_t> objects_;
  std::set<std::uint32_t> used_;
  std::uint64_t file_offset_ = 0;
  Trace trace_;
};

}  // namespace

Trace record_microbench(const Microbench& bench, ProgramRecorder& programs,
                        const std::map<std::string, std::string>& device_facts) {
  HostSteps steps(bench, programs);
  for (const MicrobenchStep& step : bench.steps) std::visit(steps, step);
  Trace trace = steps.take();
  trace.header.set_recorder(std::string("fmexec microbench ") + version);
  trace.header.mutable_device()->insert(device_facts.begin(), device_facts.end());
  trace.header.set_weightless(true);
  return trace;
}

}  // namespace fm
