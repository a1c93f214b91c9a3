#include "executor/recorder/group_log.hpp"

#include <utility>

namespace fm {

GroupLog::GroupLog(GroupId group, std::array<std::uint32_t, 3> local_size,
                   const std::uint32_t* slots, std::uint32_t room)
    : group_(group), local_size_(local_size) {
  const std::uint32_t items = local_size[0] * local_size[1] * local_size[2];
  first_.push_back(0);
  for (std::uint32_t item = 0; item < items; ++item) {
    const std::uint32_t* slot = slots + std::size_t{item} * room;
    first_.push_back(first_.back() + slot[0] - 1);
  }
  words_.reserve(first_.back());
  for (std::uint32_t item = 0; item < items; ++item) {
    const std::uint32_t* slot = slots + std::size_t{item} * room;
    words_.insert(words_.end(), slot + 1, slot + slot[0]);
  }
}

GroupLog::GroupLog(GroupId group, std::array<std::uint32_t, 3> local_size,
                   std::vector<std::uint32_t> words, std::vector<std::size_t> first)
    : group_(group), local_size_(local_size), words_(std::move(words)), first_(std::move(first)) {}

ItemLog GroupLog::item(std::uint32_t linear) const {
  const std::uint32_t lx = local_size_[0], ly = local_size_[1];
  return {group_,
          {linear % lx, linear / lx % ly, linear / lx / ly},
          words_.data() + first_[linear],
          words_.data() + first_[linear + 1]};
}

}  // namespace fm
