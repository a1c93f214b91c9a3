#pragma once
// The logs of work-groups, and where a recording gets them from.

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "executor/recorder/log_walk.hpp"

namespace fm {

using GroupId = std::array<std::uint32_t, 3>;

/// The logs of one work-group's items, in linear local order.
class GroupLog {
 public:
  /// `slots`: items times `room` words as the device wrote them.
  GroupLog(GroupId group, std::array<std::uint32_t, 3> local_size, const std::uint32_t* slots,
           std::uint32_t room);
  /// `first`: where each item's words begin, and the end of the last.
  GroupLog(GroupId group, std::array<std::uint32_t, 3> local_size, std::vector<std::uint32_t> words,
           std::vector<std::size_t> first);
  const GroupId& group() const { return group_; }
  std::uint32_t items() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  ItemLog item(std::uint32_t linear) const;
  const std::vector<std::uint32_t>& words() const { return words_; }
  const std::vector<std::size_t>& first() const { return first_; }
  std::size_t bytes() const { return 4 * words_.size(); }

 private:
  GroupId group_;
  std::array<std::uint32_t, 3> local_size_;
  std::vector<std::uint32_t> words_;
  std::vector<std::size_t> first_;  // of each item, plus the end
};

/// Where the logs of a launch's groups come from.
class GroupSource {
 public:
  virtual ~GroupSource() = default;
  /// Hands over the groups' logs in order.
  virtual void record(const std::vector<GroupId>& groups,
                      const std::function<void(GroupLog)>& take) = 0;
};

}  // namespace fm
