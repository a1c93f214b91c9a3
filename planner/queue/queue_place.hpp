#pragma once
// What a model's launches and tensors are called in a queue of models.

#include <cstddef>
#include <string>

#include "core/plan.hpp"

namespace fm {

struct QueuePlace {
  std::string name;                                ///< of the model in the queue
  std::size_t first_launch = 0, first_tensor = 0;  ///< numbers of its first ids
};

/// Names the model of a draft and of all it has, and moves its ids "L<n>" and "t<n>" behind those
/// of the models given before it.
void put_into_queue(const QueuePlace& place, Plan* draft);

/// The place behind a draft that was put into the queue; its name is left empty.
QueuePlace place_behind(const Plan& draft);

}  // namespace fm
