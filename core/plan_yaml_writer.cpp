// Text of its own rather than yaml-cpp's emitter: one line a tensor, about ten a launch, and fast.
#include <charconv>
#include <cmath>

#include "core/plan.hpp"
#include "core/yaml_text.hpp"

namespace fm {
namespace {

constexpr std::size_t line_width = 100;

/// The largest unit that divides it: "6 MiB", "588 KiB", "3 B".
std::string size(Bytes bytes) {
  std::uint64_t count = bytes.count();
  const char* unit = "B";
  for (const char* larger : {"KiB", "MiB", "GiB"}) {
    if (count == 0 || count % 1024 != 0) break;
    count /= 1024;
    unit = larger;
  }
  return std::to_string(count) + " " + unit;
}

std::string real(float value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

/// Joins items between brackets, wrapped at line_width; `column` is where the opening bracket
/// stands.
std::string flow(char open, const std::vector<std::string>& items, char close, std::size_t column) {
  const std::string indent(6, ' ');
  std::string text(1, open);
  std::size_t position = column + 1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) {
      text += ",";
      const bool wraps = position + items[i].size() + 3 > line_width;
      text += wraps ? "\n" + indent : " ";
      position = wraps ? indent.size() : position + 2;
    }
    text += items[i];
    position += items[i].size();
  }
  return text + close;
}

std::string list(const std::vector<std::string>& items, std::size_t column) {
  return flow('[', items, ']', column);
}

std::vector<std::string> words(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back(yaml_word(text));
  return items;
}

template <class Numbers>
std::string numbers(const Numbers& values) {
  std::string text = "[";
  bool first = true;
  for (const auto value : values) {
    text += (first ? "" : ", ") + std::to_string(value);
    first = false;
  }
  return text + "]";
}

/// A block list of one-line mappings.
template <class Items, class Describe>
void append_items(std::string& out, const char* key, const Items& items, const Describe& describe) {
  out += std::string("\n") + key + ":";
  if (items.empty()) out += " []";
  out += "\n";
  for (const auto& item : items) out += "  - " + flow('{', describe(item), '}', 4) + "\n";
}

std::vector<std::string> describe_model(const PlanModel& model) {
  std::vector<std::string> items{"name: " + yaml_word(model.name), "file: " + yaml_word(model.file),
                                 "digest: " + yaml_word(model.digest),
                                 "opset: " + std::to_string(model.opset)};
  if (!model.values.empty()) items.push_back("values: " + list(words(model.values), 12));
  return items;
}

std::vector<std::string> describe_pool(const Pool& pool) {
  std::vector<std::string> items{"id: " + yaml_word(pool.id),
                                 "placement: " + to_string(pool.placement),
                                 "bytes: " + size(pool.bytes)};
  if (pool.placement == Placement::image2d) {
    items.push_back("extent: [" + std::to_string(pool.extent.width) + ", " +
                    std::to_string(pool.extent.height) + "]");
    items.push_back("dtype: " + to_string(pool.dtype));
  }
  return items;
}

std::vector<std::string> describe_tensor(const PlanTensor& tensor) {
  std::vector<std::string> items{
      "id: " + yaml_word(tensor.id),     "name: " + yaml_word(tensor.name),
      "role: " + to_string(tensor.role), "dtype: " + to_string(tensor.dtype),
      "shape: " + numbers(tensor.shape), "layout: " + to_string(tensor.layout)};
  items.push_back("placement: " + to_string(tensor.placement));
  items.push_back("bytes: " + size(tensor.bytes));
  if (!tensor.pool.empty()) items.push_back("pool: " + yaml_word(tensor.pool));
  if (tensor.offset != Bytes(0)) items.push_back("offset: " + size(tensor.offset));
  if (!tensor.first_use.empty()) items.push_back("first_use: " + yaml_word(tensor.first_use));
  if (!tensor.last_use.empty()) items.push_back("last_use: " + yaml_word(tensor.last_use));
  if (!tensor.model.empty()) items.push_back("model: " + yaml_word(tensor.model));
  if (tensor.value_type != ElementType::float32) {
    items.push_back("value_type: " + to_string(tensor.value_type));
  }
  return items;
}

std::vector<std::string> describe_weight(const WeightSlice& slice) {
  std::vector<std::string> items{
      "tensor: " + yaml_word(slice.tensor), "file_offset: " + size(slice.file_offset),
      "bytes: " + size(slice.bytes), "residency: " + to_string(slice.residency)};
  if (!slice.earliest_launch.empty()) {
    items.push_back("earliest_launch: " + yaml_word(slice.earliest_launch));
  }
  if (!slice.release_after.empty())
    items.push_back("release_after: " + yaml_word(slice.release_after));
  if (!slice.reuses.empty()) items.push_back("reuses: " + yaml_word(slice.reuses));
  for (std::size_t i = 0; i < slice.transforms.size(); ++i) {
    const WeightTransform& transform = slice.transforms[i];
    items.push_back(std::string(i == 0 ? "transforms: [" : "") +
                    "{launch: " + yaml_word(transform.launch) +
                    ", first_chunk: " + std::to_string(transform.first_chunk) +
                    ", chunk_count: " + std::to_string(transform.chunk_count) + "}" +
                    (i + 1 == slice.transforms.size() ? "]" : ""));
  }
  return items;
}

std::vector<std::string> describe_gather(const WeightGather& gather) {
  return {"tensor: " + yaml_word(gather.tensor), "indices: " + yaml_word(gather.indices),
          "table: " + list(words(gather.table), 11),
          "release_after: " + yaml_word(gather.release_after)};
}

std::string describe_argument(const LaunchArgument& argument) {
  if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
    return std::string(tensor->write ? "{write: " : "{read: ") + yaml_word(tensor->tensor) + "}";
  }
  if (const auto* number = std::get_if<IntArgument>(&argument)) {
    return "{int: " + std::to_string(number->value) + "}";
  }
  if (const auto* number = std::get_if<FloatArgument>(&argument)) {
    return "{float: " + real(number->value) + "}";
  }
  return "{local: " + size(std::get<LocalArgument>(argument).bytes) + "}";
}

void append_kernel(std::string& out, const PlanLaunch& launch) {
  out += "    kernel: " + yaml_word(launch.kernel) + "\n";
  if (!launch.parameters.empty()) {
    std::vector<std::string> parameters;
    for (const auto& [name, value] : launch.parameters) {
      parameters.push_back(yaml_word(name) + ": " + yaml_word(value));
    }
    out += "    parameters: " + flow('{', parameters, '}', 16) + "\n";
  }
  out += "    global: " + numbers(launch.global) + "\n    local: " + numbers(launch.local) + "\n";
  std::vector<std::string> arguments;
  for (const LaunchArgument& argument : launch.arguments) {
    arguments.push_back(describe_argument(argument));
  }
  out += "    arguments: " + list(arguments, 15) + "\n";
}

void append_launch(std::string& out, const PlanLaunch& launch) {
  out += "  - id: " + yaml_word(launch.id) + "\n";
  if (!launch.model.empty()) out += "    model: " + yaml_word(launch.model) + "\n";
  out += "    kind: " + to_string(launch.kind) + "\n    operation: " + yaml_word(launch.operation) +
         "\n";
  if (!launch.nodes.empty()) out += "    nodes: " + list(words(launch.nodes), 11) + "\n";
  if (launch.kind == LaunchKind::kernel) append_kernel(out, launch);
  if (launch.kind == LaunchKind::copy) out += "    weight: " + yaml_word(launch.weight) + "\n";
  if (!launch.depends.empty()) out += "    depends: " + list(words(launch.depends), 13) + "\n";
  out += "    macs: " + std::to_string(launch.macs) + "\n";
  const MemoryClaims& claims = launch.claims;
  out += "    claims: " +
         flow('{',
              {"preloaded: " + size(claims.preloaded), "um_in_flight: " + size(claims.um_in_flight),
               "tm_in_flight: " + size(claims.tm_in_flight),
               "activations: " + size(claims.activations), "staging: " + size(claims.staging)},
              '}', 12) +
         "\n";
}

}  // namespace

std::string to_yaml(const Plan& plan) {
  std::string out = "plan: " + std::to_string(plan_version) + "\n";
  out += "generator: " + yaml_word(plan.generator) + "\nconfig: " + yaml_word(plan.config) +
         "\npolicy: " + yaml_word(plan.policy) + "\nstorage: " + to_string(plan.storage) +
         "\naccumulate: " + to_string(plan.accumulate) +
         "\nchunk_bytes: " + size(plan.chunk_bytes) +
         "\nstaging_ring_bytes: " + size(plan.staging_ring_bytes) +
         "\nenqueue_ahead: " + std::to_string(plan.enqueue_ahead) +
         "\nweights_index_digest: " + yaml_word(plan.weights_index_digest) + "\n";
  if (!plan.unfused.empty()) out += "unfused: " + list(words(plan.unfused), 9) + "\n";
  append_items(out, "models", plan.models, describe_model);
  append_items(out, "pools", plan.pools, describe_pool);
  append_items(out, "tensors", plan.tensors, describe_tensor);
  append_items(out, "weights", plan.weights, describe_weight);
  if (!plan.gathers.empty()) append_items(out, "gathers", plan.gathers, describe_gather);
  out += "\nlaunches:";
  if (plan.launches.empty()) out += " []";
  out += "\n";
  for (const PlanLaunch& launch : plan.launches) append_launch(out, launch);
  return out;
}

}  // namespace fm
