#include "planner/weight_source.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/diagnostics.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

/// "<name>[<begin>:<end>]/<axis>": a part of a constant (split_large_weights).
struct Part {
  std::string name;
  std::int64_t begin = 0, end = 0;
  std::size_t axis = 0;
};

std::optional<Part> part_from(const std::string& name) {
  const std::size_t open = name.rfind('['), colon = name.rfind(':'), close = name.rfind("]/");
  if (open == std::string::npos || colon == std::string::npos || close == std::string::npos ||
      colon < open || close < colon) {
    return std::nullopt;
  }
  const std::string begin = name.substr(open + 1, colon - open - 1);
  const std::string end = name.substr(colon + 1, close - colon - 1), axis = name.substr(close + 2);
  for (const std::string& number : {begin, end, axis}) {
    if (number.empty() || number.size() > 18 ||
        number.find_first_not_of("0123456789") != std::string::npos) {
      return std::nullopt;
    }
  }
  return Part{name.substr(0, open), std::stoll(begin), std::stoll(end), std::stoul(axis)};
}

/// Finite values beyond the range of half precision become its limits: the least float of an
/// attention mask would be an infinity, and its product with a zero no number.
void limit_to_half(std::vector<float>* values) {
  constexpr float most = 65504;
  for (float& value : *values) {
    if (std::isfinite(value)) value = std::clamp(value, -most, most);
  }
}

}  // namespace

WeightSource::WeightSource(const ImportedModel& model) : model_(model) {
  for (const GraphTensor& tensor : model.graph.tensors) {
    if (tensor.constant) by_name_[tensor.name] = &tensor;
  }
}

HostTensor WeightSource::load(const PlanTensor& wanted) const {
  if (const auto found = by_name_.find(wanted.name); found != by_name_.end()) {
    return model_.constants.load(*found->second);
  }
  const auto part = part_from(wanted.name);
  const auto found = part ? by_name_.find(part->name) : by_name_.end();
  if (found == by_name_.end()) {
    throw UserError(
        model_.path + ": the plan's weight `" + wanted.name + "` (" + wanted.id +
        ") is no constant of this model; make the plan again with this version of fmplan");
  }
  HostTensor whole = model_.constants.load(*found->second);
  if (part->axis >= whole.shape.size() || part->begin >= part->end ||
      part->end > whole.shape[part->axis]) {
    throw UserError("weight `" + wanted.name + "` reaches outside " + to_string(whole.shape));
  }
  std::vector<std::int64_t> starts(whole.shape.size(), 0), steps(whole.shape.size(), 1);
  Shape extents = whole.shape;
  starts[part->axis] = part->begin;
  extents[part->axis] = part->end - part->begin;
  const TensorView view = sliced(whole_view(whole.shape), starts, steps, extents);
  return real_tensor(extents, gathered(view, whole.reals));
}

std::vector<std::uint8_t> WeightSource::packed(const PlanTensor& wanted) const {
  HostTensor values = load(wanted);
  if (element_count(values.shape) != element_count(wanted.shape)) {
    throw UserError("weight `" + wanted.name + "` (" + wanted.id + ") has shape " +
                    to_string(wanted.shape) + " in the plan, but " + to_string(values.shape) +
                    " in the model");
  }
  if (wanted.dtype == DataType::i32) {
    values.type = ElementType::int32;
    return bytes_of(values);
  }
  if (!values.is_real()) values.reals.assign(values.integers.begin(), values.integers.end());
  if (wanted.dtype == DataType::f16) limit_to_half(&values.reals);
  return pack(wanted.layout, wanted.dtype, wanted.shape, values.reals.data());
}

}  // namespace fm
