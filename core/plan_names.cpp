#include <stdexcept>

#include "core/plan.hpp"

namespace fm {
namespace {

template <class Item>
const Item& find_by_id(const std::vector<Item>& items, const std::string& id, const char* what) {
  for (const Item& item : items) {
    if (item.id == id) return item;
  }
  throw std::out_of_range(std::string("the plan has no ") + what + " '" + id + "'");
}

}  // namespace

std::string to_string(Placement value) {
  switch (value) {
    case Placement::buffer:
      return "buffer";
    case Placement::image2d:
      return "image2d";
    case Placement::constant:
      return "constant";
    case Placement::local:
      return "local";
  }
  return "unknown";
}

std::string to_string(TensorRole value) {
  switch (value) {
    case TensorRole::input:
      return "input";
    case TensorRole::output:
      return "output";
    case TensorRole::weight:
      return "weight";
    case TensorRole::activation:
      return "activation";
    case TensorRole::gathered:
      return "gathered";
  }
  return "unknown";
}

std::string to_string(Residency value) {
  switch (value) {
    case Residency::preload:
      return "preload";
    case Residency::stream:
      return "stream";
    case Residency::disk:
      return "disk";
  }
  return "unknown";
}

std::string to_string(LaunchKind value) { return value == LaunchKind::kernel ? "kernel" : "copy"; }

bool stays(const WeightSlice& slice) {
  return slice.residency == Residency::preload && slice.release_after.empty();
}

const PlanTensor& Plan::tensor(const std::string& id) const {
  return find_by_id(tensors, id, "tensor");
}

const PlanLaunch& Plan::launch(const std::string& id) const {
  return find_by_id(launches, id, "launch");
}

}  // namespace fm
