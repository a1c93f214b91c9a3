#include <array>

#include "core/enum_words.hpp"
#include "core/plan.hpp"
#include "core/plan_validation.hpp"
#include "core/yaml_value.hpp"

namespace fm {
namespace {

constexpr std::array placements{Placement::buffer, Placement::image2d, Placement::constant,
                                Placement::local};
constexpr std::array roles{TensorRole::input, TensorRole::output, TensorRole::weight,
                           TensorRole::activation, TensorRole::gathered};
constexpr std::array residencies{Residency::preload, Residency::stream, Residency::disk};
constexpr std::array launch_kinds{LaunchKind::kernel, LaunchKind::copy};
constexpr std::array data_types{DataType::f16, DataType::f32, DataType::i32, DataType::u8};
constexpr std::array storage_types{DataType::f16, DataType::f32};
constexpr std::array layouts{Layout::linear, Layout::rows, Layout::channels, Layout::conv_filter,
                             Layout::depthwise_filter};

constexpr std::array value_types{ElementType::float32, ElementType::float16, ElementType::float64,
                                 ElementType::int64,   ElementType::int32,   ElementType::int8,
                                 ElementType::uint8,   ElementType::boolean};

template <class Enum, std::size_t count>
Enum read_word(const YamlValue& value, const std::array<Enum, count>& values) {
  return enum_from_word(value.text(), values, value.what(), value.where());
}

std::string optional_text(YamlMap& map, const std::string& key) {
  const YamlValue* value = map.optional(key);
  return value == nullptr ? "" : value->text();
}

std::vector<std::string> optional_texts(YamlMap& map, const std::string& key) {
  const YamlValue* value = map.optional(key);
  return value == nullptr ? std::vector<std::string>{} : value->texts();
}

/// The item's own mapping, its messages beginning with e.g. "tensor 't12'".
YamlMap item_map(const YamlValue& item, const std::string& kind, const std::string& name_key) {
  YamlMap unnamed = item.map();
  const std::string name = unnamed.required(name_key).text();
  return item.renamed(kind + " '" + name + "'").map();
}

PlanModel read_model(const YamlValue& item) {
  YamlMap map = item_map(item, "model", "name");
  PlanModel model;
  model.name = map.required("name").text();
  model.file = map.required("file").text();
  model.digest = map.required("digest").text();
  model.opset = static_cast<int>(map.required("opset").integer(0, 1000));
  model.values = optional_texts(map, "values");
  map.reject_unknown();
  return model;
}

Pool read_pool(const YamlValue& item) {
  YamlMap map = item_map(item, "pool", "id");
  Pool pool;
  pool.id = map.required("id").text();
  pool.placement = read_word(map.required("placement"), placements);
  pool.bytes = map.required("bytes").bytes();
  if (pool.placement == Placement::image2d) {
    const YamlValue extent = map.required("extent");
    const std::vector<YamlValue> sides = extent.sequence();
    if (sides.size() != 2) extent.fail("needs [width, height] in texels");
    pool.extent = {sides[0].unsigned_integer(1), sides[1].unsigned_integer(1)};
    pool.dtype = read_word(map.required("dtype"), data_types);
  }
  map.reject_unknown();
  return pool;
}

Shape read_shape(const YamlValue& value) {
  Shape shape;
  for (const YamlValue& side : value.sequence()) shape.push_back(side.integer(0));
  return shape;
}

PlanTensor read_tensor(const YamlValue& item) {
  YamlMap map = item_map(item, "tensor", "id");
  PlanTensor tensor;
  tensor.id = map.required("id").text();
  tensor.name = map.required("name").text();
  tensor.role = read_word(map.required("role"), roles);
  tensor.dtype = read_word(map.required("dtype"), data_types);
  tensor.shape = read_shape(map.required("shape"));
  tensor.layout = read_word(map.required("layout"), layouts);
  tensor.placement = read_word(map.required("placement"), placements);
  tensor.bytes = map.required("bytes").bytes();
  tensor.pool = optional_text(map, "pool");
  if (const YamlValue* offset = map.optional("offset")) tensor.offset = offset->bytes();
  tensor.first_use = optional_text(map, "first_use");
  tensor.last_use = optional_text(map, "last_use");
  tensor.model = optional_text(map, "model");
  if (const YamlValue* type = map.optional("value_type")) {
    tensor.value_type = read_word(*type, value_types);
  }
  map.reject_unknown();
  return tensor;
}

WeightTransform read_transform(const YamlValue& item) {
  YamlMap map = item.map();
  WeightTransform transform;
  transform.launch = map.required("launch").text();
  transform.first_chunk = map.required("first_chunk").unsigned_integer();
  transform.chunk_count = map.required("chunk_count").unsigned_integer(1);
  map.reject_unknown();
  return transform;
}

WeightSlice read_weight(const YamlValue& item) {
  YamlMap map = item_map(item, "weight", "tensor");
  WeightSlice slice;
  slice.tensor = map.required("tensor").text();
  slice.file_offset = map.required("file_offset").bytes();
  slice.bytes = map.required("bytes").bytes();
  slice.residency = read_word(map.required("residency"), residencies);
  slice.earliest_launch = optional_text(map, "earliest_launch");
  slice.release_after = optional_text(map, "release_after");
  slice.reuses = optional_text(map, "reuses");
  if (const YamlValue* transforms = map.optional("transforms")) {
    for (const YamlValue& transform : transforms->sequence()) {
      slice.transforms.push_back(read_transform(transform.renamed(transforms->what())));
    }
  }
  map.reject_unknown();
  return slice;
}

WeightGather read_gather(const YamlValue& item) {
  YamlMap map = item_map(item, "gather", "tensor");
  WeightGather gather;
  gather.tensor = map.required("tensor").text();
  gather.indices = map.required("indices").text();
  gather.table = map.required("table").texts();
  gather.release_after = map.required("release_after").text();
  map.reject_unknown();
  return gather;
}

LaunchArgument read_argument(const YamlValue& item) {
  YamlMap map = item.map();
  if (map.entries().size() != 1) item.fail("needs one of {read|write|int|float|local: value}");
  if (const YamlValue* value = map.optional("read")) return TensorArgument{value->text(), false};
  if (const YamlValue* value = map.optional("write")) return TensorArgument{value->text(), true};
  if (const YamlValue* value = map.optional("int")) {
    return IntArgument{static_cast<std::int32_t>(value->integer(INT32_MIN, INT32_MAX))};
  }
  if (const YamlValue* value = map.optional("float")) return FloatArgument{value->real()};
  if (const YamlValue* value = map.optional("local")) return LocalArgument{value->bytes()};
  map.reject_unknown();
  item.fail("needs one of {read|write|int|float|local: value}");
}

std::array<std::uint64_t, 3> read_size(const YamlValue& value) {
  const std::vector<YamlValue> sides = value.sequence();
  if (sides.size() != 3) value.fail("needs three sizes [x, y, z]");
  std::array<std::uint64_t, 3> size{};
  for (std::size_t d = 0; d < 3; ++d) size[d] = sides[d].unsigned_integer(1, UINT32_MAX);
  return size;
}

MemoryClaims read_claims(const YamlValue& value) {
  YamlMap map = value.map();
  MemoryClaims claims;
  claims.preloaded = map.required("preloaded").bytes();
  claims.um_in_flight = map.required("um_in_flight").bytes();
  claims.tm_in_flight = map.required("tm_in_flight").bytes();
  claims.activations = map.required("activations").bytes();
  claims.staging = map.required("staging").bytes();
  map.reject_unknown();
  return claims;
}

void read_kernel(YamlMap& map, PlanLaunch& launch) {
  launch.kernel = map.required("kernel").text();
  if (const YamlValue* parameters = map.optional("parameters")) {
    const YamlMap words = parameters->map();
    for (const auto& [name, value] : words.entries()) launch.parameters[name] = value.text();
  }
  launch.global = read_size(map.required("global"));
  launch.local = read_size(map.required("local"));
  const YamlValue arguments = map.required("arguments");
  for (const YamlValue& argument : arguments.sequence()) {
    launch.arguments.emplace_back(read_argument(argument));
  }
}

PlanLaunch read_launch(const YamlValue& item) {
  YamlMap map = item_map(item, "launch", "id");
  PlanLaunch launch;
  launch.id = map.required("id").text();
  launch.model = optional_text(map, "model");
  launch.kind = read_word(map.required("kind"), launch_kinds);
  launch.operation = map.required("operation").text();
  launch.nodes = optional_texts(map, "nodes");
  if (launch.kind == LaunchKind::kernel) read_kernel(map, launch);
  if (launch.kind == LaunchKind::copy) launch.weight = map.required("weight").text();
  launch.depends = optional_texts(map, "depends");
  launch.macs = map.required("macs").unsigned_integer();
  launch.claims = read_claims(map.required("claims"));
  map.reject_unknown();
  return launch;
}

template <class Item, class Read>
void read_items(YamlMap& map, const std::string& key, const Read& read, std::vector<Item>& items,
                std::vector<SourceLocation>* places) {
  const YamlValue list = map.required(key);
  for (const YamlValue& item : list.sequence()) {
    items.push_back(read(item));
    if (places != nullptr) places->push_back(item.where());
  }
}

void check_version(YamlMap& map) {
  const YamlValue* version = map.optional("plan");
  if (version == nullptr) {
    throw UserError(map.where(), "not a plan: the key 'plan' (its format version) is missing");
  }
  const std::uint64_t number = version->unsigned_integer();
  if (number == plan_version) return;
  const bool newer = number > plan_version;
  version->fail("the plan's version " + std::to_string(number) + " is " +
                (newer ? "newer" : "older") + " than this tool's (" + std::to_string(plan_version) +
                "): " + (newer ? "use a newer flashmem" : "make the plan again with fmplan"));
}

}  // namespace

Plan parse_plan(const std::string& yaml, const std::string& file_name) {
  const YamlValue document = parse_yaml_document(yaml, file_name);
  YamlMap map = document.map();
  check_version(map);
  Plan plan;
  PlanPlaces places;
  plan.generator = map.required("generator").text();
  plan.config = map.required("config").text();
  plan.policy = map.required("policy").text();
  plan.storage = read_word(map.required("storage"), storage_types);
  plan.accumulate = read_word(map.required("accumulate"), storage_types);
  plan.chunk_bytes = map.required("chunk_bytes").bytes();
  plan.staging_ring_bytes = map.required("staging_ring_bytes").bytes();
  plan.enqueue_ahead = static_cast<int>(map.required("enqueue_ahead").integer(1, 1 << 20));
  if (const YamlValue* unfused = map.optional("unfused")) plan.unfused = unfused->texts();
  plan.weights_index_digest = map.required("weights_index_digest").text();
  read_items(map, "models", read_model, plan.models, nullptr);
  read_items(map, "pools", read_pool, plan.pools, &places.pools);
  read_items(map, "tensors", read_tensor, plan.tensors, &places.tensors);
  read_items(map, "weights", read_weight, plan.weights, &places.weights);
  if (map.optional("gathers") != nullptr) {
    read_items(map, "gathers", read_gather, plan.gathers, &places.gathers);
  }
  read_items(map, "launches", read_launch, plan.launches, &places.launches);
  map.reject_unknown();
  validate(plan, places);
  return plan;
}

Plan read_plan(const std::string& path) { return parse_plan(read_text_file(path), path); }

}  // namespace fm
