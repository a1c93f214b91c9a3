#pragma once
// Which host operations are complete, and who waits for which.

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/trace.pb.h"

namespace fm {

using OperationIds = google::protobuf::RepeatedField<std::uint64_t>;

class CompletionBoard {
 public:
  bool complete(std::uint64_t id) const { return complete_.count(id) != 0; }
  bool all_complete(const OperationIds& ids) const;
  /// Runs `action` as soon as all of `ids` are complete: now, or inside the finish() of the last of
  /// them.
  void when_complete(const OperationIds& ids, std::function<void()> action);
  /// Runs the actions that waited only for it, in the order they began to wait.
  void finish(std::uint64_t id);
  std::size_t finished() const { return complete_.size(); }
  /// Those of `ids` that are not complete: "operation 12".
  std::vector<std::string> missing(const OperationIds& ids) const;

 private:
  struct Waiter {
    std::size_t open = 0;
    std::function<void()> action;
  };
  std::unordered_set<std::uint64_t> complete_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>>
      waiting_;  // by operation: indices of waiters
  std::vector<Waiter> waiters_;
};

}  // namespace fm
