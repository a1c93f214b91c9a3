// libFuzzer target: whatever the bytes of a model file, it is planned or refused with a UserError.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "tests/fuzz/model_mutator.hpp"
#include "tests/fuzz/seed_models.hpp"
#include "tests/planner/test_plan.hpp"

namespace {

using Bytes = std::uint8_t;

extern "C" std::size_t LLVMFuzzerMutate(Bytes* data, std::size_t size, std::size_t most);

/// 2 for every dimension that the model leaves open.
fm::ShapeBindings bindings_for(const onnx::ModelProto& model) {
  fm::ShapeBindings bindings;
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    for (const auto& dimension : input.type().tensor_type().shape().dim()) {
      if (!dimension.dim_param().empty()) bindings.dimensions[dimension.dim_param()] = 2;
    }
  }
  return bindings;
}

std::size_t give_back(const onnx::ModelProto& model, Bytes* data, std::size_t most) {
  const std::string text = model.SerializeAsString();
  if (text.size() > most) return 0;
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(Bytes* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  onnx::ModelProto model;
  if (seed % 16 != 0 && model.ParseFromArray(data, static_cast<int>(size))) {
    fm::ModelMutator mutator(seed);
    for (unsigned times = 1 + seed / 16 % 4; times > 0; --times) mutator.mutate(&model);
    if (const std::size_t given = give_back(model, data, most)) return given;
  }
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const Bytes* first, std::size_t first_size,
                                                 const Bytes* second, std::size_t second_size,
                                                 Bytes* out, std::size_t most, unsigned seed) {
  onnx::ModelProto model, donor;
  if (!model.ParseFromArray(first, static_cast<int>(first_size)) ||
      !donor.ParseFromArray(second, static_cast<int>(second_size))) {
    return 0;
  }
  fm::ModelMutator(seed).cross(&model, donor);
  return give_back(model, out, most);
}

extern "C" int LLVMFuzzerTestOneInput(const Bytes* data, std::size_t size) {
  static const fm::DeviceConfig config = fm::test_config();
  static const fm::TemporaryFolder folder;
  static const std::string path = folder.file("m.onnx");
  onnx::ModelProto model;
  fm::PlanOptions options;
  if (model.ParseFromArray(data, static_cast<int>(size))) {
    options.bindings = bindings_for(model);
  }
  fm::write_seed_weights(folder);
  fm::write_file(path, std::string(data, data + size));
  try {
    fm::make_plan(path, config, options);
  } catch (const fm::UserError&) {  // any other exception is a fault
  }
  return 0;
}
