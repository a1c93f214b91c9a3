#pragma once
// Small networks one behind the other in one plan, as `fmplan queue` makes them.

#include <string>
#include <vector>

#include "tests/executor/small_network.hpp"

namespace fm::test {

/// Models "a", "b", .. of the networks in their order. Networks of one seed and form share their
/// slices: the weights of the later one are read again.
class QueueNetwork {
 public:
  explicit QueueNetwork(std::vector<SmallNetwork> networks) : networks_(std::move(networks)) {
    plan_ = networks_.front().plan();
    plan_.models.clear(), plan_.pools.clear(), plan_.tensors.clear();
    plan_.weights.clear(), plan_.launches.clear();
    for (std::size_t m = 0; m < networks_.size(); ++m) add(name_of(m), networks_[m].plan());
    place_weights();
    validate(plan_);
  }

  static std::string name_of(std::size_t model) {
    return std::string(1, static_cast<char>('a' + model));
  }
  const Plan& plan() const { return plan_; }
  const SmallNetwork& network(std::size_t model) const { return networks_[model]; }

  void write_weights(const std::string& path) const {
    const WeightsIndex index = expected_index(plan_);
    const std::vector<std::size_t> stored = stored_entries(index.entries);
    WeightsWriter writer(path, index);
    std::size_t i = 0;
    for (const SmallNetwork& network : networks_) {
      for (std::size_t w = 0; w < network.plan().weights.size(); ++w, ++i) {
        if (stored[i] == i) writer.append(network.packed_weight(w));
      }
    }
    writer.finish();
  }

 private:
  void add(const std::string& name, const Plan& plan) {
    const auto named = [&](const std::string& id) { return id.empty() ? id : name + "_" + id; };
    PlanModel model = plan.models[0];
    model.name = name;
    model.file = name + ".onnx";
    plan_.models.push_back(model);
    for (Pool pool : plan.pools) {
      pool.id = named(pool.id);
      plan_.pools.push_back(pool);
    }
    for (PlanTensor tensor : plan.tensors) {
      for (std::string* id : {&tensor.id, &tensor.pool, &tensor.first_use, &tensor.last_use}) {
        *id = named(*id);
      }
      tensor.model = name;
      plan_.tensors.push_back(tensor);
    }
    for (WeightSlice slice : plan.weights) {
      for (std::string* id : {&slice.tensor, &slice.earliest_launch, &slice.release_after}) {
        *id = named(*id);
      }
      for (WeightTransform& transform : slice.transforms)
        transform.launch = named(transform.launch);
      plan_.weights.push_back(slice);
    }
    for (PlanLaunch launch : plan.launches) {
      for (std::string* id : {&launch.id, &launch.weight}) *id = named(*id);
      for (std::string& id : launch.depends) id = named(id);
      for (LaunchArgument& argument : launch.arguments) {
        if (auto* used = std::get_if<TensorArgument>(&argument)) used->tensor = named(used->tensor);
      }
      launch.model = name;
      plan_.launches.push_back(launch);
    }
  }

  void place_weights() {
    Bytes offset = first_slice_offset(expected_index(plan_).entries);
    std::vector<Bytes> places;  // by weight of the plan
    std::size_t i = 0;
    for (std::size_t m = 0; m < networks_.size(); ++m) {
      for (std::size_t w = 0; w < networks_[m].plan().weights.size(); ++w, ++i) {
        const std::size_t first = twin_of(m);
        if (first < m) {
          places.push_back(places[first_weight(first) + w]);
        } else {
          places.push_back(offset);
          offset = round_up(offset + plan_.weights[i].bytes, slice_alignment);
        }
        plan_.weights[i].file_offset = places.back();
      }
    }
    plan_.weights_index_digest = index_digest(expected_index(plan_));
  }

  /// The first model with the same weights.
  std::size_t twin_of(std::size_t model) const {
    for (std::size_t m = 0; m < model; ++m) {
      if (networks_[m].same_weights(networks_[model])) return m;
    }
    return model;
  }
  std::size_t first_weight(std::size_t model) const {
    std::size_t weights = 0;
    for (std::size_t m = 0; m < model; ++m) weights += networks_[m].plan().weights.size();
    return weights;
  }

  std::vector<SmallNetwork> networks_;
  Plan plan_;
};

}  // namespace fm::test
