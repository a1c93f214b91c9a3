#pragma once
// The logs of a launch's work-groups, compressed in a temporary file: a group is run once, and all
// that must be in memory is what is looked at.

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "executor/recorder/group_log.hpp"

namespace fm {

class GroupStore : public GroupSource {
 public:
  GroupStore(std::array<std::uint32_t, 3> local_size, std::array<std::uint32_t, 3> group_count);

  /// Throws UserError where the temporary folder is full.
  void add(const GroupLog& log);
  /// Whether every group was added.
  bool complete() const { return added_ == places_.size(); }

  void record(const std::vector<GroupId>& groups,
              const std::function<void(GroupLog)>& take) override;

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0, words = 0;
  };
  std::uint64_t linear(const GroupId& group) const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::array<std::uint32_t, 3> local_size_, group_count_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<Place> places_;
  std::uint64_t end_ = 0, added_ = 0;
  std::vector<char> packed_;
};

}  // namespace fm
