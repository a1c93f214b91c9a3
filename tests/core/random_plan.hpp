#pragma once
// Valid plans drawn at random: a chain of kernels over activations and weights, every residency and
// placement.

#include <random>
#include <string>

#include "core/plan.hpp"

namespace fm {

class RandomPlan {
 public:
  explicit RandomPlan(std::uint32_t seed) : random_(seed) {}

  Plan make() {
    plan_.generator = "fmplan 0.1.0";
    plan_.models.push_back({odd_text(), "model.onnx", "xxh3:00ff", 17});
    plan_.config = "mali-g715";
    plan_.policy = "always-next";
    plan_.storage = one_of({DataType::f16, DataType::f32});
    plan_.accumulate = DataType::f32;
    plan_.chunk_bytes = Bytes(1024 << below(3));
    plan_.staging_ring_bytes = Bytes(1 << 20);
    plan_.enqueue_ahead = 1 + static_cast<int>(below(4));
    plan_.weights_index_digest = "xxh3:0123";
    for (std::uint64_t i = below(3); i > 0; --i) plan_.unfused.push_back(odd_text());
    plan_.pools.push_back({"b", Placement::buffer, pool_alignment, {}, DataType::f16});
    const std::size_t kernels = 3 + below(8);
    std::string previous = add_tensor(TensorRole::input);
    for (std::size_t i = 0; i < kernels; ++i) {
      previous =
          add_kernel(previous, i + 1 == kernels ? TensorRole::output : TensorRole::activation);
    }
    close_lifetimes();
    return plan_;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[below(values.size())];
  }

  /// Names as models really have them, and worse.
  std::string odd_text() {
    const std::vector<std::string> names{"/encoder/layers.0/Add_1",
                                         "x",
                                         "a: b",
                                         "- dash",
                                         "#hash",
                                         "null",
                                         "true",
                                         "12",
                                         "",
                                         "quote\"back\\slash",
                                         "tab\tnewline\n",
                                         "{brace",
                                         "[a, b]",
                                         "käse",
                                         "*star",
                                         "&and",
                                         "~",
                                         " space ",
                                         "!tag",
                                         "%percent",
                                         "@at",
                                         "`tick`",
                                         "a,b",
                                         "?",
                                         "---"};
    return names[below(names.size())] + (below(2) == 0 ? "" : std::to_string(below(100)));
  }

  std::string add_tensor(TensorRole role) {
    PlanTensor tensor;
    tensor.id = "t" + std::to_string(plan_.tensors.size());
    tensor.name = odd_text();
    tensor.role = role;
    tensor.dtype = plan_.storage;
    if (role == TensorRole::output) {
      tensor.value_type = one_of({ElementType::float32, ElementType::int64, ElementType::boolean});
    }
    tensor.shape = {1 + static_cast<std::int64_t>(below(3)),
                    1 + static_cast<std::int64_t>(below(30)),
                    1 + static_cast<std::int64_t>(below(60))};
    tensor.placement = one_of({Placement::buffer, Placement::image2d});
    tensor.layout = Layout::rows;
    if (tensor.placement == Placement::buffer && below(3) == 0) tensor.layout = Layout::linear;
    tensor.bytes = storage_bytes(tensor.layout, tensor.dtype, tensor.shape);
    if (role != TensorRole::weight) place_in_pool(tensor);
    plan_.tensors.push_back(tensor);
    return tensor.id;
  }

  void place_in_pool(PlanTensor& tensor) {
    if (tensor.placement == Placement::buffer) {
      tensor.pool = "b";
      tensor.offset = plan_.pools[0].bytes;
      plan_.pools[0].bytes = round_up(tensor.offset + tensor.bytes, pool_alignment);
      return;
    }
    Pool pool{"i" + std::to_string(plan_.pools.size()), Placement::image2d, Bytes(0),
              grid_extent(tensor.layout, tensor.shape), tensor.dtype};
    pool.extent.width += below(5);
    pool.bytes = size_of(pool.dtype) * 4 * pool.extent.width * pool.extent.height;
    tensor.pool = pool.id;
    plan_.pools.push_back(pool);
  }

  std::string add_kernel(const std::string& input, TensorRole role) {
    const std::string weight = add_tensor(TensorRole::weight);
    const std::string output = add_tensor(role);
    add_slice(weight);
    PlanLaunch launch;
    launch.id = "L" + std::to_string(plan_.launches.size());
    launch.model = below(2) == 0 ? "" : plan_.models[0].name;
    launch.operation = "MatMul";
    for (std::uint64_t n = below(3); n > 0; --n) launch.nodes.push_back(odd_text());
    launch.kernel = "matmul";
    for (std::uint64_t n = below(4); n > 0; --n)
      launch.parameters["P" + std::to_string(n)] = odd_text();
    for (std::size_t d = 0; d < 3; ++d) {
      launch.local[d] = 1 + below(8);
      launch.global[d] = launch.local[d] * (1 + below(50));
    }
    launch.arguments = {TensorArgument{input, false}, TensorArgument{weight, false},
                        IntArgument{static_cast<std::int32_t>(random_())},
                        FloatArgument{static_cast<float>(random_()) * 1e-20F},
                        TensorArgument{output, true}};
    if (below(2) == 0) launch.arguments.emplace_back(LocalArgument{Bytes(1 + below(5000))});
    if (!plan_.launches.empty()) launch.depends = {plan_.launches.back().id};
    launch.macs = random_() * std::uint64_t{65536};
    launch.claims = {Bytes(random_()), Bytes(below(3) * 4096), Bytes(0), Bytes(below(99)),
                     Bytes(1)};
    kernels_.push_back(plan_.launches.size());
    plan_.launches.push_back(launch);
    note_use(input, launch.id);
    note_use(weight, launch.id);
    note_use(output, launch.id);
    return output;
  }

  PlanTensor& tensor(const std::string& id) { return plan_.tensors[std::stoul(id.substr(1))]; }

  void note_use(const std::string& id, const std::string& launch) {
    if (tensor(id).first_use.empty()) tensor(id).first_use = launch;
    tensor(id).last_use = launch;
  }

  /// A slice for a weight that the next kernel launch is first to use, and its copy launch where
  /// one is drawn.
  void add_slice(const std::string& weight) {
    WeightSlice slice;
    slice.tensor = weight;
    slice.bytes = tensor(weight).bytes;
    slice.file_offset = slice_alignment * 4;
    if (!plan_.weights.empty()) {
      const WeightSlice& before = plan_.weights.back();
      slice.file_offset = round_up(before.file_offset + before.bytes, slice_alignment);
    }
    const bool image = tensor(weight).placement == Placement::image2d;
    const std::size_t launches = plan_.launches.size();
    // An image streams through earlier launches: there must be one.
    if (below(3) > 0 && (!image || !kernels_.empty())) {
      slice.residency = Residency::stream;
      if (image) add_transforms(slice);
      const std::size_t before =
          image ? std::stoul(slice.transforms[0].launch.substr(1)) : launches;
      if (before > 0 && below(2) == 0) slice.earliest_launch = plan_.launches[below(before)].id;
    }
    plan_.weights.push_back(slice);
  }

  void add_transforms(WeightSlice& slice) {
    const std::uint64_t chunks = ceil_div(slice.bytes.count(), plan_.chunk_bytes.count());
    // (At most ten kernels: a launch has at most nine slots taken.)
    const std::uint64_t inside = below(2) == 0 ? chunks : below(chunks + 1);
    PlanLaunch& kernel = plan_.launches[kernels_[below(kernels_.size())]];
    const int slots =
        kernel.parameters.count("STREAMS") == 0 ? 0 : std::stoi(kernel.parameters.at("STREAMS"));
    if (inside > 0) {
      slice.transforms.push_back({kernel.id, 0, inside});
      kernel.parameters["STREAMS"] = std::to_string(std::min(9, slots + 1));
    }
    if (inside == chunks) return;
    PlanLaunch copy;
    copy.id = "L" + std::to_string(plan_.launches.size());
    copy.kind = LaunchKind::copy;
    copy.operation = "Copy";
    copy.weight = slice.tensor;
    plan_.launches.push_back(copy);
    slice.transforms.push_back({copy.id, inside, chunks - inside});
  }

  void close_lifetimes() {
    for (WeightSlice& slice : plan_.weights) {
      if (slice.residency == Residency::stream) slice.release_after = tensor(slice.tensor).last_use;
    }
    reuse_images();
  }

  /// An image for each that may be reused, by the first weight that may.
  void reuse_images() {
    std::map<std::string, std::size_t> positions;
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) positions[plan_.launches[i].id] = i;
    std::set<std::string> reused;
    for (WeightSlice& taker : plan_.weights) {
      for (const WeightSlice& owner : plan_.weights) {
        if (taker.transforms.empty() || owner.transforms.empty() || !taker.reuses.empty()) continue;
        const PlanTensor &from = tensor(owner.tensor), &to = tensor(taker.tensor);
        const bool fits = from.dtype == to.dtype &&
                          grid_extent(from.layout, from.shape) == grid_extent(to.layout, to.shape);
        const std::size_t released = positions.at(owner.release_after);
        const bool later = std::all_of(
            taker.transforms.begin(), taker.transforms.end(),
            [&](const WeightTransform& part) { return positions.at(part.launch) > released; });
        if (fits && later && reused.insert(owner.tensor).second) taker.reuses = owner.tensor;
      }
    }
  }

  std::mt19937 random_;
  Plan plan_;
  std::vector<std::size_t> kernels_;  // positions of kernel launches
};

}  // namespace fm
