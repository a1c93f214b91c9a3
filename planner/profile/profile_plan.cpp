#include "planner/profile/profile_plan.hpp"

#include <algorithm>
#include <map>

#include "core/diagnostics.hpp"
#include "core/plan_streams.hpp"
#include "core/version.hpp"
#include "core/weights_file.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/launch_builders.hpp"
#include "planner/activation_memory.hpp"
#include "planner/dependencies.hpp"
#include "planner/streaming.hpp"

namespace fm {
namespace {

/// Texels a row of what is streamed when a plan has no image weights to take the width of.
constexpr std::int64_t usual_width = 192;
/// Read before each variant: more than any config's system-level cache holds.
constexpr std::int64_t swept_side = 2048;
/// Every device with images has at least so many rows (OpenCL 1.2, CL_DEVICE_IMAGE2D_MAX_HEIGHT).
constexpr std::uint64_t most_rows = 8192;

/// Texels a row of the plan's largest image weight.
std::int64_t image_width(const Plan& plan) {
  const PlanTensor* largest = nullptr;
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.role != TensorRole::weight || tensor.placement != Placement::image2d) continue;
    if (largest == nullptr || tensor.bytes > largest->bytes) largest = &tensor;
  }
  if (largest == nullptr) return usual_width;
  return static_cast<std::int64_t>(grid_extent(largest->layout, largest->shape).width);
}

class ProfilePlanMaker {
 public:
  explicit ProfilePlanMaker(const std::vector<ProfiledVariant>& variants) : variants_(variants) {}

  ProfilePlan make() {
    const Plan& first = *variants_.front().plan;
    plan_.generator = std::string("fmplan ") + version;
    plan_.models = {{"profile", "profile.onnx", "xxh3:profile", 17}};
    plan_.config = "any";  // so that a recording serves them all
    plan_.policy = "profile";
    plan_.storage = first.storage;
    plan_.accumulate = first.accumulate;
    plan_.chunk_bytes = default_chunk_bytes;
    seed_ = add("seed", TensorRole::input, plan_.storage, {1}, Layout::linear, Placement::buffer);
    add_sweep();
    for (const ProfiledVariant& variant : variants_) {
      if (variant.plan->storage != plan_.storage || variant.plan->accumulate != plan_.accumulate) {
        throw UserError("plans of one storage and accumulator type are profiled together");
      }
      add_variant(variant);
    }
    // So that no variant is the last launch: what is simulated is named by the launch after it.
    const std::string end =
        add("end", TensorRole::activation, plan_.storage, {1, 4}, Layout::rows, Placement::buffer);
    append(build_move(plan_.tensor(seed_), plan_.tensor(end), {0, 0}));
    finish();
    ProfilePlan made;
    made.plan = std::move(plan_);
    made.launches = std::move(launches_);
    made.streamed = std::move(streamed_);
    made.prepared_from = std::move(prepared_from_);
    return made;
  }

 private:
  std::string add(const std::string& name, TensorRole role, DataType dtype, const Shape& shape,
                  Layout layout, Placement placement) {
    PlanTensor tensor;
    tensor.id = "t" + std::to_string(plan_.tensors.size());
    tensor.name = name;
    tensor.role = role;
    tensor.dtype = dtype;
    tensor.shape = shape;
    tensor.layout = layout;
    tensor.placement = placement;
    tensor.bytes = storage_bytes(layout, dtype, shape);
    plan_.tensors.push_back(tensor);
    return tensor.id;
  }

  const std::string& append(PlanLaunch launch) {
    launch.id = "L" + std::to_string(plan_.launches.size());
    launch.model = "profile";
    plan_.launches.push_back(std::move(launch));
    return plan_.launches.back().id;
  }

  /// What a row is multiplied with. Weights, as a network reads them between two writes: caches
  /// full of what was written before would have the next launch pay for its way to memory.
  void add_sweep() {
    const auto placed = [&](const char* name, TensorRole role, const Shape& shape) {
      return add(name, role, plan_.storage, shape, Layout::rows, Placement::buffer);
    };
    row_ = placed("row", TensorRole::input, {1, swept_side});
    swept_ = placed("swept", TensorRole::weight, {swept_side, swept_side});
    sums_ = placed("sums", TensorRole::activation, {1, swept_side});
  }

  void sweep() {
    MatmulOperands operands{};
    operands.a = &plan_.tensor(row_);
    operands.b = &plan_.tensor(swept_);
    operands.c = &plan_.tensor(sums_);
    append(build_matmul(operands));
  }

  void add_variant(const ProfiledVariant& variant) {
    sweep();
    PlanLaunch launch = *variant.launch;
    launch.parameters.erase(streams_parameter);
    launch.nodes.clear();
    launch.depends.clear();
    std::map<std::string, std::string> tensors;  // of the source plan -> of this one
    const std::size_t begin = plan_.launches.size();
    for (const bool write : {true, false}) {  // outputs were used longest ago
      for (const LaunchArgument& argument : launch.arguments) {
        const auto* used = std::get_if<TensorArgument>(&argument);
        if (used == nullptr || used->write != write) continue;
        const auto [place, added] = tensors.emplace(used->tensor, "");
        if (added) place->second = operand(*variant.plan, used->tensor, used->write);
      }
    }
    prepared_from_.push_back("L" + std::to_string(begin));
    for (LaunchArgument& argument : launch.arguments) {
      auto* used = std::get_if<TensorArgument>(&argument);
      if (used != nullptr) used->tensor = tensors.at(used->tensor);
    }
    if (variant.streamed == Bytes(0)) {
      launches_.push_back(append(std::move(launch)));
      streamed_.emplace_back();
      return;
    }
    launch.parameters[streams_parameter] = "1";
    const std::string id = append(std::move(launch));
    launches_.push_back(id);
    stream(variant, id);
  }

  /// Each variant has weights of its own, which no cache has seen; indices are inputs; activations
  /// are written right before.
  std::string operand(const Plan& source, const std::string& id, bool write) {
    const PlanTensor& tensor = source.tensor(id);
    const bool weight = tensor.role == TensorRole::weight;
    const bool indices = tensor.dtype == DataType::i32 || tensor.dtype == DataType::u8;
    const bool given = !write && indices && !weight;
    std::string& shared = shared_[{&source, id}];
    if (given && !shared.empty()) return shared;
    const TensorRole role = weight  ? TensorRole::weight
                            : given ? TensorRole::input
                                    : TensorRole::activation;
    const std::string made =
        add(tensor.name, role, tensor.dtype, tensor.shape, tensor.layout, tensor.placement);
    if (given) return shared = made;
    if (!weight) {
      const std::vector<std::int64_t> nowhere(tensor.shape.size(), 0);
      append(build_move(plan_.tensor(seed_), plan_.tensor(made), nowhere));
    }
    return made;
  }

  void stream(const ProfiledVariant& variant, const std::string& launch) {
    const Bytes texel = size_of(plan_.storage) * 4;
    std::int64_t width = image_width(*variant.plan);
    while (variant.streamed > texel * (static_cast<std::uint64_t>(width) * most_rows)) width *= 2;
    const Bytes row = texel * static_cast<std::uint64_t>(width);
    const auto rows =
        static_cast<std::int64_t>(std::max<std::uint64_t>(1, (variant.streamed + row / 2) / row));
    const std::string weight = add("streamed", TensorRole::weight, plan_.storage, {rows, 4 * width},
                                   Layout::rows, Placement::image2d);
    const std::string user =
        add("user", TensorRole::activation, plan_.storage, {1, 4}, Layout::rows, Placement::buffer);
    const std::string used_by =
        append(build_move(plan_.tensor(weight), plan_.tensor(user), {0, 1}));
    const Bytes bytes = plan_.tensor(weight).bytes;
    transforms_[weight] = {launch, used_by};
    streamed_.push_back(bytes);
    plan_.staging_ring_bytes =
        std::max(plan_.staging_ring_bytes, round_up(bytes, plan_.chunk_bytes));
  }

  void finish() {
    set_uses(&plan_);
    list_weights(&plan_);
    for (WeightSlice& slice : plan_.weights) {
      const auto streamed = transforms_.find(slice.tensor);
      if (streamed == transforms_.end()) continue;
      slice.residency = Residency::stream;
      slice.transforms = {
          {streamed->second.inside, 0, ceil_div(slice.bytes.count(), plan_.chunk_bytes.count())}};
      slice.release_after = streamed->second.user;
    }
    assign_pools(&plan_);
    set_dependencies(&plan_);
    set_claims(&plan_);
    validate(plan_);
    validate_launches(plan_);
  }

  struct Transform {
    std::string inside, user;  ///< launches
  };

  const std::vector<ProfiledVariant>& variants_;
  Plan plan_;
  std::string seed_, row_, swept_, sums_;
  std::vector<std::string> launches_;
  std::vector<Bytes> streamed_;
  std::vector<std::string> prepared_from_;
  std::map<std::pair<const Plan*, std::string>, std::string> shared_;
  std::map<std::string, Transform> transforms_;  // by weight
};

}  // namespace

ProfilePlan make_profile_plan(const std::vector<ProfiledVariant>& variants) {
  return ProfilePlanMaker(variants).make();
}

void write_profile_weights(const Plan& plan, const std::string& path) {
  WeightsWriter writer(path, expected_index(plan));
  for (const WeightSlice& slice : plan.weights) {
    const PlanTensor& tensor = plan.tensor(slice.tensor);
    std::vector<float> values(static_cast<std::size_t>(element_count(tensor.shape)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i * 37 % 101) / 1024.0F - 0.05F;
    }
    writer.append(pack(tensor.layout, tensor.dtype, tensor.shape, values.data()));
  }
  writer.finish();
}

}  // namespace fm
