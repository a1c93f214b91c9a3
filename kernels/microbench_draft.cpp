#include "kernels/microbench_draft.hpp"

namespace fm {

MicrobenchDraft::MicrobenchDraft(std::string name, std::string description) {
  bench_.name = std::move(name);
  bench_.description = std::move(description);
  bench_.plan.tensors.reserve(32);  // references stay valid
}

const PlanTensor& MicrobenchDraft::add(PlanTensor tensor) {
  tensor.name = tensor.id;
  tensor.bytes = storage_bytes(tensor.layout, tensor.dtype, tensor.shape);
  bench_.plan.tensors.push_back(std::move(tensor));
  return bench_.plan.tensors.back();
}

const PlanTensor& MicrobenchDraft::texels(const std::string& id, DataType dtype,
                                          Placement placement, std::int64_t texels,
                                          std::int64_t rows) {
  PlanTensor tensor;
  tensor.id = id;
  tensor.dtype = dtype;
  tensor.placement = placement;
  tensor.layout = Layout::rows;
  tensor.shape = {rows, texels * texel_lanes};
  return add(std::move(tensor));
}

const PlanTensor& MicrobenchDraft::floats(const std::string& id, std::int64_t elements) {
  PlanTensor tensor;
  tensor.id = id;
  tensor.dtype = DataType::f32;
  tensor.layout = Layout::linear;
  tensor.shape = {elements};
  return add(std::move(tensor));
}

void MicrobenchDraft::launch(PlanLaunch launch, const MicrobenchLabel& label, bool waits) {
  launch.id = to_string(label);
  launch.operation = bench_.name;
  bench_.steps.emplace_back(MicrobenchLaunch{bench_.plan.launches.size(), waits});
  bench_.plan.launches.push_back(std::move(launch));
}

std::vector<Microbench> microbench_suite() {
  std::vector<Microbench> suite;
  suite.push_back(pointer_chase_buffer());
  suite.push_back(pointer_chase_image());
  suite.push_back(block_walk_image());
  suite.push_back(line_probe_image());
  suite.push_back(bandwidth_buffer());
  suite.push_back(bandwidth_image());
  suite.push_back(bandwidth_write());
  suite.push_back(local_memory());
  suite.push_back(wave_width());
  suite.push_back(occupancy());
  suite.push_back(launch_latency());
  suite.push_back(disk_read());
  suite.push_back(copy_to_image());
  return suite;
}

std::vector<Microbench> probe_suite() {
  std::vector<Microbench> suite = microbench_suite();
  suite.push_back(pointer_chase_lines());
  suite.push_back(arithmetic_rate("rate_half", "HALF"));
  suite.push_back(arithmetic_rate("rate_integer", "INTEGER"));
  suite.push_back(arithmetic_rate("rate_index", "INDEX"));
  suite.push_back(arithmetic_rate("rate_special", "SPECIAL"));
  suite.push_back(arithmetic_rate("rate_exponential", "EXPONENTIAL"));
  suite.push_back(vector_rate());
  suite.push_back(elementwise());
  return suite;
}

}  // namespace fm
