#pragma once
// A chain of matrix products with bias and ReLU, ended by a tanh, as plans of every placement and
// policy, with a host reference: what the executor's tests run.

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/weights_file.hpp"
#include "kernels/launch_builders.hpp"

namespace fm::test {

struct NetworkOptions {
  int layers = 4;
  std::int64_t rows = 5;
  std::int64_t width = 48;  ///< of every layer
  DataType storage = DataType::f32;
  Placement weights = Placement::buffer;
  Placement activations = Placement::buffer;
  bool stream = false;        ///< each weight is read when the launch before starts
  Bytes chunk{2048};          ///< of streamed image weights
  Bytes ring{16384};          ///< of streamed image weights
  bool split_copies = false;  ///< two copy launches a weight
  int streams = 0;  ///< above 0: weights move inside earlier kernels, where `seed` says, at
                    ///< most so many a launch
  int ahead = 0;  ///< streaming: the first layers' weights are preloaded and go after their layer,
                  ///< and the next so many layers' take over their memory
  int enqueue_ahead = 2;
  std::uint64_t seed = 1;
};

inline std::vector<float> random_values(std::int64_t count, std::uint64_t seed, float scale) {
  std::mt19937 bits(static_cast<std::uint32_t>(seed));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = scale * (static_cast<float>(bits() % 20001) / 10000.0f - 1.0f);
  }
  return values;
}

class SmallNetwork {
 public:
  explicit SmallNetwork(const NetworkOptions& options) : options_(options) {
    plan_.generator = "small_network";
    plan_.models.push_back({"small", "small.onnx", "xxh3:0123456789abcdef0123456789abcdef", 17});
    plan_.config = "none";
    plan_.policy = options.stream ? "always-next" : "preload";
    plan_.storage = options.storage;
    plan_.enqueue_ahead = options.enqueue_ahead;
    const bool staged = options.stream && options.weights == Placement::image2d;
    plan_.chunk_bytes = options.chunk;
    if (staged) plan_.staging_ring_bytes = options.ring;
    add_tensors();
    for (int layer = 0; layer < options.layers; ++layer) add_layer(layer);
    add_tanh();
    if (options.streams > 0) stream_inside_kernels();
    place_weights();
    set_uses();
    validate(plan_);
  }

  const Plan& plan() const { return plan_; }
  Plan& plan() { return plan_; }

  void write_weights(const std::string& path) const {
    WeightsWriter writer(path, expected_index(plan_));
    for (std::size_t i = 0; i < plan_.weights.size(); ++i) writer.append(packed_weight(i));
    writer.finish();
  }
  std::vector<std::uint8_t> packed_weight(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensor(plan_.weights[i].tensor);
    return pack(tensor.layout, tensor.dtype, tensor.shape, values_[i].data());
  }
  bool same_weights(const SmallNetwork& other) const {
    return values_ == other.values_ && options_.storage == other.options_.storage;
  }

  std::vector<float> input() const {
    return random_values(options_.rows * options_.width, options_.seed + 1000, 1.0f);
  }

  /// What the network computes, in double, with weights and activations rounded to the storage
  /// type.
  std::vector<float> reference(const std::vector<float>& x) const {
    const auto width = static_cast<std::size_t>(options_.width);
    std::vector<double> current(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) current[i] = stored(x[i]);
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(options_.layers); ++layer) {
      const std::vector<float>& w = values_[2 * layer];
      const std::vector<float>& bias = values_[2 * layer + 1];
      std::vector<double> next(current.size());
      for (std::size_t r = 0; r < static_cast<std::size_t>(options_.rows); ++r) {
        for (std::size_t n = 0; n < width; ++n) {
          double sum = stored(bias[n]);
          for (std::size_t k = 0; k < width; ++k) {
            sum += current[r * width + k] * stored(w[k * width + n]);
          }
          next[r * width + n] = stored(static_cast<float>(std::max(sum, 0.0)));
        }
      }
      current = next;
    }
    std::vector<float> y;
    y.reserve(current.size());
    for (double value : current) {
      y.push_back(static_cast<float>(stored(static_cast<float>(std::tanh(value)))));
    }
    return y;
  }

 private:
  double stored(float value) const {
    return options_.storage == DataType::f16 ? float_from_half(half_from_float(value)) : value;
  }

  std::string launch_id(int layer) const { return "L" + std::to_string(layer); }

  PlanTensor& add_tensor(const std::string& id, TensorRole role, const Shape& shape,
                         Placement placement) {
    PlanTensor tensor;
    tensor.id = id;
    tensor.name = "/small/" + id;
    tensor.role = role;
    tensor.dtype = options_.storage;
    tensor.shape = shape;
    tensor.layout = Layout::rows;
    tensor.placement = placement;
    tensor.bytes = storage_bytes(tensor.layout, tensor.dtype, shape);
    plan_.tensors.push_back(tensor);
    return plan_.tensors.back();
  }

  /// Activations alternate between two places: x in neither.
  void add_pooled(const std::string& id, TensorRole role, int place) {
    PlanTensor& tensor =
        add_tensor(id, role, {1, options_.rows, options_.width}, options_.activations);
    if (options_.activations == Placement::buffer) {
      const Bytes step = round_up(tensor.bytes, pool_alignment);
      if (plan_.pools.empty()) {
        plan_.pools.push_back({"pool", Placement::buffer, step * 4, {}, options_.storage});
      }
      tensor.pool = "pool";
      tensor.offset = step * static_cast<std::uint64_t>(place);
      return;
    }
    tensor.pool = "pool" + std::to_string(place);
    for (const Pool& pool : plan_.pools) {
      if (pool.id == tensor.pool) return;
    }
    const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
    plan_.pools.push_back(
        {tensor.pool, Placement::image2d, tensor.bytes, extent, options_.storage});
  }

  void add_tensors() {
    add_pooled("x", TensorRole::input, 0);
    for (int layer = 0; layer < options_.layers; ++layer) {
      add_pooled("h" + std::to_string(layer), TensorRole::activation, 1 + layer % 2);
    }
    add_pooled("y", TensorRole::output, 3);
    for (int layer = 0; layer < options_.layers; ++layer) {
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(layer) * 2;
      add_tensor("w" + std::to_string(layer), TensorRole::weight, {options_.width, options_.width},
                 options_.weights);
      values_.push_back(random_values(options_.width * options_.width, seed, 0.3f));
      add_tensor("b" + std::to_string(layer), TensorRole::weight, {options_.width},
                 Placement::buffer);
      values_.push_back(random_values(options_.width, seed + 1, 0.5f));
    }
  }

  void add_layer(int layer) {
    const std::string number = std::to_string(layer);
    WeightSlice weight;
    weight.tensor = "w" + number;
    weight.bytes = plan_.tensor(weight.tensor).bytes;
    WeightSlice bias;
    bias.tensor = "b" + number;
    bias.bytes = plan_.tensor(bias.tensor).bytes;
    const bool ahead = layer < options_.ahead;
    for (WeightSlice* slice : {&weight, &bias}) {
      if (!options_.stream) continue;
      slice->release_after = launch_id(layer);
      if (ahead) continue;
      slice->residency = Residency::stream;
      if (layer > 0) slice->earliest_launch = launch_id(layer - 1);
      const int owner = layer - std::max(2, options_.ahead);
      if (options_.ahead > 0 && owner >= 0) {
        slice->reuses = slice->tensor.substr(0, 1) + std::to_string(owner);
      }
    }
    const bool copied = options_.stream && !ahead && options_.weights == Placement::image2d;
    if (copied) add_copies(layer, &weight);
    plan_.weights.push_back(weight);
    plan_.weights.push_back(bias);

    MatmulOperands operands{};
    operands.a = &plan_.tensor(layer == 0 ? "x" : "h" + std::to_string(layer - 1));
    operands.b = &plan_.tensor("w" + number);
    operands.bias = &plan_.tensor("b" + number);
    operands.c = &plan_.tensor("h" + number);
    operands.epilogue.activation = Activation::relu;
    add_launch(build_matmul(operands), launch_id(layer));
  }

  void add_copies(int layer, WeightSlice* slice) {
    const std::uint64_t chunks = ceil_div(slice->bytes.count(), plan_.chunk_bytes.count());
    const std::uint64_t first = options_.split_copies ? chunks / 2 : chunks;
    const auto add = [&](const std::string& id, std::uint64_t begin, std::uint64_t end) {
      if (begin == end) return;
      PlanLaunch copy;
      copy.id = id;
      copy.kind = LaunchKind::copy;
      copy.operation = "Copy";
      copy.weight = slice->tensor;
      slice->transforms.push_back({id, begin, end - begin});
      plan_.launches.push_back(copy);
    };
    add("C" + std::to_string(layer) + "a", 0, first);
    add("C" + std::to_string(layer) + "b", first, chunks);
  }

  /// Copies of all but the first weight are replaced: its chunks are cut at random and moved inside
  /// random kernels before its use, in order, as far as slots and ring allow; what is left stays a
  /// copy.
  void stream_inside_kernels() {
    std::mt19937 random(static_cast<std::uint32_t>(options_.seed));
    std::map<std::string, int> slots;
    std::map<std::string, Bytes> bytes;
    for (std::size_t w = 2; w < plan_.weights.size(); w += 2) {
      WeightSlice& slice = plan_.weights[w];
      const std::uint64_t chunks = ceil_div(slice.bytes.count(), plan_.chunk_bytes.count());
      const std::size_t use = launch_at("L" + slice.tensor.substr(1));
      std::vector<WeightTransform> moved;
      std::uint64_t next = 0;
      for (std::size_t at = 0; at < use && next < chunks; ++at) {
        const PlanLaunch& launch = plan_.launches[at];
        if (launch.kind != LaunchKind::kernel || slots[launch.id] >= options_.streams) continue;
        if (random() % 3 == 0) continue;
        const Bytes room = plan_.staging_ring_bytes - bytes[launch.id];
        const std::uint64_t count =
            std::min({chunks - next, 1 + random() % chunks, room / plan_.chunk_bytes});
        if (count == 0) continue;
        ++slots[launch.id];
        bytes[launch.id] += plan_.chunk_bytes * count;
        moved.push_back({launch.id, next, count});
        next += count;
      }
      replace_copies(&slice, moved, next, chunks);
    }
    for (PlanLaunch& launch : plan_.launches) {
      if (slots[launch.id] > 0) {
        launch.parameters["STREAMS"] = std::to_string(
            std::max(slots[launch.id], static_cast<int>(random() % (options_.streams + 1))));
      }
    }
  }

  void replace_copies(WeightSlice* slice, const std::vector<WeightTransform>& moved,
                      std::uint64_t from, std::uint64_t chunks) {
    if (moved.empty()) return;
    const std::string kept = from < chunks ? slice->transforms.back().launch : "";
    for (const WeightTransform& transform : slice->transforms) {
      if (transform.launch != kept)
        plan_.launches.erase(plan_.launches.begin() +
                             static_cast<std::ptrdiff_t>(launch_at(transform.launch)));
    }
    slice->transforms = moved;
    if (from < chunks) slice->transforms.push_back({kept, from, chunks - from});
    slice->earliest_launch.clear();
    const std::size_t first = launch_at(moved.front().launch);
    if (first > 0) slice->earliest_launch = plan_.launches[first - 1].id;
  }

  std::size_t launch_at(const std::string& id) const {
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      if (plan_.launches[i].id == id) return i;
    }
    throw std::out_of_range(id);
  }

  void add_launch(PlanLaunch launch, const std::string& id) {
    launch.id = id;
    launch.model = "small";
    if (!last_kernel_.empty()) launch.depends.push_back(last_kernel_);
    last_kernel_ = id;
    plan_.launches.push_back(launch);
  }

  void add_tanh() {
    Epilogue epilogue;
    epilogue.activation = Activation::tanh;
    const PlanTensor& last = plan_.tensor("h" + std::to_string(options_.layers - 1));
    add_launch(build_unary(last, plan_.tensor("y"), epilogue), "LT");
  }

  void place_weights() {
    Bytes offset = first_slice_offset(expected_index(plan_).entries);
    for (WeightSlice& slice : plan_.weights) {
      slice.file_offset = offset;
      offset = round_up(offset + slice.bytes, slice_alignment);
    }
    plan_.weights_index_digest = index_digest(expected_index(plan_));
  }

  void set_uses() {
    for (PlanTensor& tensor : plan_.tensors) {
      for (const PlanLaunch& launch : plan_.launches) {
        bool touched = launch.weight == tensor.id;
        for (const LaunchArgument& argument : launch.arguments) {
          const auto* used = std::get_if<TensorArgument>(&argument);
          touched = touched || (used && used->tensor == tensor.id);
        }
        if (!touched) continue;
        if (tensor.first_use.empty()) tensor.first_use = launch.id;
        tensor.last_use = launch.id;
      }
    }
  }

  NetworkOptions options_;
  Plan plan_;
  std::vector<std::vector<float>> values_;  // by weight slice
  std::string last_kernel_;
};

/// ||a - b|| / ||b||; infinite when a is not a number.
inline double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(a.at(i))) return HUGE_VAL;
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference / norm);
}

/// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fm_executor_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace fm::test
