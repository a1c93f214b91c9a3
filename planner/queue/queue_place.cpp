#include "planner/queue/queue_place.hpp"

#include <algorithm>

namespace fm {
namespace {

std::size_t number_of(const std::string& id) { return std::stoul(id.substr(1)); }

void move_id(std::size_t first, std::string* id) {
  *id = id->front() + std::to_string(first + number_of(*id));
}

}  // namespace

void put_into_queue(const QueuePlace& place, Plan* draft) {
  draft->models.at(0).name = place.name;
  for (PlanTensor& tensor : draft->tensors) {
    tensor.model = place.name;
    move_id(place.first_tensor, &tensor.id);
  }
  for (PlanLaunch& launch : draft->launches) {
    launch.model = place.name;
    move_id(place.first_launch, &launch.id);
    for (LaunchArgument& argument : launch.arguments) {
      if (auto* used = std::get_if<TensorArgument>(&argument)) {
        move_id(place.first_tensor, &used->tensor);
      }
    }
  }
  for (WeightGather& gather : draft->gathers) {
    move_id(place.first_tensor, &gather.tensor);
    move_id(place.first_tensor, &gather.indices);
    for (std::string& part : gather.table) move_id(place.first_tensor, &part);
  }
}

QueuePlace place_behind(const Plan& draft) {
  QueuePlace place;
  for (const PlanLaunch& launch : draft.launches) {
    place.first_launch = std::max(place.first_launch, number_of(launch.id) + 1);
  }
  for (const PlanTensor& tensor : draft.tensors) {
    place.first_tensor = std::max(place.first_tensor, number_of(tensor.id) + 1);
  }
  return place;
}

}  // namespace fm
