#include "executor/finite_check.hpp"

#include <algorithm>
#include <atomic>
#include <sstream>

#include "core/diagnostics.hpp"
#include "core/progress_bar.hpp"
#include "executor/plan_names.hpp"
#include "executor/streamer/weights_reader.hpp"

namespace fm {
namespace {

bool holds_reals(const PlanTensor& tensor) {
  return tensor.dtype == DataType::f16 || tensor.dtype == DataType::f32;
}

std::string number(float value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::vector<float> stored_values(const PlanTensor& tensor, const std::vector<std::uint8_t>& bytes) {
  return unpack(tensor.layout, tensor.dtype, tensor.shape, bytes.data());
}

std::string role_name(const PlanTensor& tensor) {
  if (tensor.role == TensorRole::input) return "input `" + tensor.name + "`";
  if (tensor.role == TensorRole::weight) return "weight `" + tensor.name + "`";
  return "tensor `" + tensor.name + "`";
}

}  // namespace

FiniteCheck::FiniteCheck(const Plan& plan, PlanExecutor& executor, const ArraysByTensor& inputs,
                         const std::string& weights_path)
    : plan_(plan), executor_(executor) {
  look_at_inputs(inputs);
  look_at_weights(weights_path);
  for (const PlanLaunch& launch : plan.launches) {
    for (const TensorArgument* argument : tensors_in(launch)) {
      if (argument->write) ++writers_[argument->tensor];
    }
  }
}

void FiniteCheck::look_at_inputs(const ArraysByTensor& inputs) {
  for (const auto& [id, array] : inputs) {
    const PlanTensor& tensor = plan_.tensor(id);
    if (!holds_reals(tensor)) continue;
    const FiniteFacts given = finite_facts(array.values);
    const FiniteFacts stored = finite_facts(stored_values(tensor, to_device_bytes(tensor, array)));
    if (given.all_finite() && !stored.all_finite()) {
      throw VerificationError("input `" + tensor.name + "` is finite, but in " +
                              to_string(tensor.dtype) + " it is " + describe(stored, tensor.shape) +
                              ": f16 ends at 65504; plan with `fmplan --storage f32`");
    }
    if (!stored.all_finite()) {
      notes_.push_back("input `" + tensor.name + "` holds " + describe(stored, tensor.shape));
    }
    known_[id] = stored;
  }
}

void FiniteCheck::look_at_weights(const std::string& path) {
  WeightsReader reader(path, std::nullopt);
  const std::atomic<bool> stop{false};
  ProgressBar bar("looking at the weights");
  for (std::size_t i = 0; i < plan_.weights.size(); ++i) {
    const WeightSlice& slice = plan_.weights[i];
    const PlanTensor& tensor = plan_.tensor(slice.tensor);
    bar.show(i, plan_.weights.size());
    if (!holds_reals(tensor)) continue;
    std::vector<std::uint8_t> bytes(slice.bytes.count());
    reader.read(slice.file_offset, slice.bytes, bytes.data(), stop);
    const FiniteFacts facts = finite_facts(stored_values(tensor, bytes));
    known_[tensor.id] = facts;
    if (facts.all_finite()) continue;
    notes_.push_back("weight `" + tensor.name + "` holds " + describe(facts, tensor.shape) +
                     (tensor.dtype == DataType::f16
                          ? ", in the model or since f16 ends at 65504 (`fmplan --storage f32`)"
                          : ""));
  }
  for (const WeightGather& gather : plan_.gathers) {
    FiniteFacts& rows = known_[gather.tensor];
    for (const std::string& table : gather.table) {
      const FiniteFacts& part = known_[table];
      for (std::size_t kind = 0; kind < part.counts.size(); ++kind) {
        rows.counts[kind] += part.counts[kind];
      }
      rows.largest = std::max(rows.largest, part.largest);
    }
  }
}

/// What several launches write part by part is finite from the start: of the parts still to come
/// nothing may be said. (Results that no launch writes at all are found by a run without checks.)
void FiniteCheck::launch_starts(std::size_t position) {
  for (const TensorArgument* argument : tensors_in(plan_.launches[position])) {
    if (!argument->write || writers_[argument->tensor] < 2) continue;
    if (known_.count(argument->tensor) == 0) executor_.clear(plan_.tensor(argument->tensor));
  }
}

void FiniteCheck::launch_done(std::size_t position) {
  const PlanLaunch& launch = plan_.launches[position];
  if (launch.kind == LaunchKind::copy) return;
  ++checked_;
  for (const TensorArgument* argument : tensors_in(launch)) {
    const PlanTensor& tensor = plan_.tensor(argument->tensor);
    if (!argument->write || !holds_reals(tensor)) continue;
    const FiniteFacts facts = finite_facts(stored_values(tensor, executor_.read_tensor(tensor)));
    for (const NonFinite kind : non_finite_kinds) {
      if (!facts.has(kind)) continue;
      if (kind == NonFinite::nan || !was_there(launch, kind)) fail(launch, tensor, facts, kind);
    }
    known_[tensor.id] = facts;
    if (facts.largest < largest_) continue;
    largest_ = facts.largest;
    largest_in_ = "`" + tensor.name + "` of launch " + launch.id;
  }
}

bool FiniteCheck::was_there(const PlanLaunch& launch, NonFinite kind) const {
  for (const TensorArgument* argument : tensors_in(launch)) {
    const auto known = known_.find(argument->tensor);
    if (known != known_.end() && known->second.has(kind)) return true;
  }
  return false;
}

void FiniteCheck::fail(const PlanLaunch& launch, const PlanTensor& result, const FiniteFacts& facts,
                       NonFinite kind) const {
  throw VerificationError(title(launch) + " writes the first value that is not finite: tensor `" +
                          result.name + "`, " + describe(facts, kind, result.shape) + ". " +
                          inputs_of(launch));
}

std::string FiniteCheck::inputs_of(const PlanLaunch& launch) const {
  std::string holding;
  float largest = 0;
  std::string largest_in;
  for (const TensorArgument* argument : tensors_in(launch)) {
    const auto known = known_.find(argument->tensor);
    if (argument->write || known == known_.end()) continue;
    const PlanTensor& tensor = plan_.tensor(argument->tensor);
    if (!known->second.all_finite()) {
      holding += (holding.empty() ? "" : "; ") + role_name(tensor) + " holds " +
                 describe(known->second, tensor.shape);
    }
    if (known->second.largest < largest) continue;
    largest = known->second.largest;
    largest_in = role_name(tensor);
  }
  if (!holding.empty()) return "It reads such values: " + holding;
  if (largest_in.empty()) return "It reads no tensor of numbers";
  const std::string finite =
      "What it reads is finite, at most " + number(largest) + " (" + largest_in + ")";
  if (plan_.storage == DataType::f16) {
    return finite + ": probably beyond f16, which ends at 65504; plan with `fmplan --storage f32`";
  }
  return finite + ": the model computes it from these inputs, also in single precision";
}

std::string FiniteCheck::summary() const {
  return "finite               " + std::to_string(checked_) + " launches, values up to " +
         number(largest_) + (largest_in_.empty() ? "" : " (" + largest_in_ + ")") + "\n";
}

}  // namespace fm
