#include "sim/replay/completion_board.hpp"

#include <algorithm>

namespace fm {

bool CompletionBoard::all_complete(const OperationIds& ids) const {
  return std::all_of(ids.begin(), ids.end(), [this](std::uint64_t id) { return complete(id); });
}

void CompletionBoard::when_complete(const OperationIds& ids, std::function<void()> action) {
  Waiter waiter;
  const std::size_t index = waiters_.size();
  for (const std::uint64_t id : ids) {
    if (complete(id)) continue;
    waiting_[id].push_back(index);
    ++waiter.open;
  }
  if (waiter.open == 0) return action();
  waiter.action = std::move(action);
  waiters_.push_back(std::move(waiter));
}

void CompletionBoard::finish(std::uint64_t id) {
  complete_.insert(id);
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  const std::vector<std::size_t> indices = std::move(found->second);
  waiting_.erase(found);
  for (const std::size_t index : indices) {
    if (--waiters_[index].open > 0) continue;
    // Moved out first: the action may add waiters.
    const std::function<void()> action = std::move(waiters_[index].action);
    action();
  }
}

std::vector<std::string> CompletionBoard::missing(const OperationIds& ids) const {
  std::vector<std::string> names;
  for (const std::uint64_t id : ids) {
    if (!complete(id)) names.push_back("operation " + std::to_string(id));
  }
  return names;
}

}  // namespace fm
