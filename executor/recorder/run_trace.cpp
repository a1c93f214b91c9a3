#include "executor/recorder/run_trace.hpp"

#include <set>
#include <tuple>

#include "core/progress_bar.hpp"
#include "core/trace_file.hpp"
#include "core/version.hpp"

namespace fm {
namespace {

/// Contents of the index tensors that a launch's program loads from, those not written before.
class IndexWriter {
 public:
  IndexWriter(const Plan& plan, const IndexSource& indices) : plan_(plan), indices_(indices) {}

  void add(const trace::AccessProgram& program, const trace::Launch& launch,
           std::vector<trace::IndexContents>* contents) {
    for (int site = 0; site < program.sites_size(); ++site) {
      if (!program.sites(site).index_load()) continue;
      for (const trace::Argument& argument : launch.arguments()) {
        if (argument.index() != program.sites(site).argument()) continue;
        if (!done_.insert({program.id(), site, argument.object()}).second) continue;
        trace::IndexContents& added = contents->emplace_back();
        added.set_program(program.id());
        added.set_site(static_cast<std::uint32_t>(site));
        added.set_object(argument.object());
        for (const std::int32_t value : indices_(plan_.tensor(argument.tensor()))) {
          added.add_values(value);
        }
      }
    }
  }

 private:
  const Plan& plan_;
  const IndexSource& indices_;
  std::set<std::tuple<std::uint32_t, int, std::uint64_t>> done_;
};

}  // namespace

trace::Header trace_header(const std::string& tool, const Plan& plan,
                           const std::map<std::string, std::string>& device_facts,
                           bool weightless) {
  trace::Header header;
  header.set_recorder(tool + " " + version);
  header.set_plan_yaml(to_yaml(plan));
  for (const PlanModel& model : plan.models) {
    if (!header.model_digest().empty()) header.mutable_model_digest()->push_back('\n');
    header.mutable_model_digest()->append(model.digest);
  }
  header.mutable_device()->insert(device_facts.begin(), device_facts.end());
  header.set_weightless(weightless);
  return header;
}

void write_run_trace(const std::string& path, const trace::Header& header, const Plan& plan,
                     std::vector<trace::HostOperation> operations, ProgramRecorder& programs,
                     const IndexSource& indices) {
  std::vector<trace::IndexContents> contents;
  std::set<std::uint32_t> used;
  IndexWriter index_writer(plan, indices);
  ProgressBar bar("recording");
  for (std::size_t i = 0; i < operations.size(); ++i) {
    bar.show(i, operations.size());
    trace::HostOperation& operation = operations[i];
    if (!operation.has_launch()) continue;
    trace::Launch& launch = *operation.mutable_launch();
    launch.set_program(programs.record(plan, plan.launch(launch.launch()), indices));
    used.insert(launch.program());
    index_writer.add(programs.program(launch.program()), launch, &contents);
  }
  TraceWriter writer(path, header);
  for (const trace::AccessProgram& program : programs.programs()) {
    if (used.count(program.id()) != 0) writer.add(program);
  }
  for (const trace::IndexContents& index : contents) writer.add(index);
  for (const trace::HostOperation& operation : operations) writer.add(operation);
  writer.finish();
}

}  // namespace fm
