#include "executor/recorder/program_recorder.hpp"

#include "executor/recorder/recorder.hpp"

namespace fm {

void ProgramRecorder::add(trace::AccessProgram program) {
  const auto id = static_cast<std::uint32_t>(programs_.size() + 1);
  if (!ids_.emplace(program.key(), id).second) return;
  program.set_id(id);
  programs_.push_back(std::move(program));
}

bool ProgramRecorder::has(const Plan& plan, const PlanLaunch& launch) const {
  return ids_.count(program_key(plan, launch)) != 0;
}

std::uint32_t ProgramRecorder::record(const Plan& plan, const PlanLaunch& launch,
                                      const IndexSource& indices) {
  const std::string key = program_key(plan, launch);
  const auto known = ids_.find(key);
  if (known != ids_.end()) return known->second;
  IndexBuffers buffers;
  for (const std::uint32_t argument : index_arguments(launch)) {
    const auto& tensor = std::get<TensorArgument>(launch.arguments[argument]);
    buffers[argument] = indices(plan.tensor(tensor.tensor));
  }
  add(record_accesses(context_, cache_, recording_kernel(plan, launch), buffers));
  return ids_.at(key);
}

}  // namespace fm
