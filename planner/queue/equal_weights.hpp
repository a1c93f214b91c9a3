#pragma once
// Which weights of a queue have equal contents.

#include <string>
#include <vector>

#include "planner/queue/queue_draft.hpp"

namespace fm {

/// Weights (PlanTensor::id) of one form (type, layout, shape, placement) and equal contents, two or
/// more in each group. Weights of one name from one file are equal; contents of weights from
/// different files are read and compared (a model without contents has none to share).
std::vector<std::vector<std::string>> equal_weights(const QueueDraft& draft);

}  // namespace fm
