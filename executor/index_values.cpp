#include "executor/index_values.hpp"

#include <atomic>
#include <optional>

#include "core/diagnostics.hpp"
#include "executor/streamer/weights_reader.hpp"

namespace fm {

std::vector<std::int32_t> index_values(
    const Plan& plan, const PlanTensor& tensor, const std::string& weights_path,
    const std::map<std::string, std::vector<std::int32_t>>& inputs) {
  if (const auto input = inputs.find(tensor.id); input != inputs.end()) return input->second;
  for (const WeightSlice& slice : plan.weights) {
    if (slice.tensor != tensor.id) continue;
    if (weights_path.empty()) {
      throw UserError("a launch loads indices from " + tensor.name +
                      ", a constant: give the file that has it (--weights)");
    }
    std::vector<std::int32_t> values(slice.bytes.count() / sizeof(std::int32_t));
    WeightsReader reader(weights_path, std::nullopt);
    const std::atomic<bool> stop{false};
    reader.read(slice.file_offset, Bytes(values.size() * sizeof(std::int32_t)),
                reinterpret_cast<std::uint8_t*>(values.data()), stop);
    return values;
  }
  throw UserError("a launch loads indices from " + tensor.name +
                  ", which the network computes; such a launch cannot be recorded");
}

}  // namespace fm
