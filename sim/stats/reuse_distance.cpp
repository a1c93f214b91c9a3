#include "sim/stats/reuse_distance.hpp"

#include <algorithm>

namespace fm {

std::uint64_t ReuseDistance::access(std::uint64_t key) {
  ++accesses_;
  if (next_ == key_of_.size()) compact();
  const auto [entry, is_new] = last_.try_emplace(key, next_);
  std::uint64_t distance = first_use;
  if (!is_new) {
    // Keys used after its last use, and itself.
    distance = last_.size() - sum_through(entry->second) + 1;
    add(entry->second, -1);
    entry->second = next_;
    ++distances_[distance];
  }
  key_of_[next_] = key;
  add(next_, 1);
  ++next_;
  return distance;
}

std::uint64_t ReuseDistance::hits(std::uint64_t lines) const {
  std::uint64_t hits = 0;
  for (const auto& [distance, count] : distances_) {
    if (distance > lines) break;
    hits += count;
  }
  return hits;
}

void ReuseDistance::add(std::size_t slot, std::int64_t change) {
  for (std::size_t i = slot + 1; i <= tree_.size(); i += i & (~i + 1)) {
    tree_[i - 1] = static_cast<std::uint32_t>(tree_[i - 1] + change);
  }
}

std::uint64_t ReuseDistance::sum_through(std::size_t slot) const {
  std::uint64_t sum = 0;
  for (std::size_t i = slot + 1; i != 0; i -= i & (~i + 1)) sum += tree_[i - 1];
  return sum;
}

void ReuseDistance::compact() {
  std::vector<std::uint64_t> keys;
  keys.reserve(last_.size());
  for (std::size_t slot = 0; slot < next_; ++slot) {
    const auto entry = last_.find(key_of_[slot]);
    if (entry != last_.end() && entry->second == slot) keys.push_back(key_of_[slot]);
  }
  constexpr std::size_t fewest_slots = 1024;
  const std::size_t slots = std::max(fewest_slots, 4 * keys.size());
  key_of_.assign(slots, 0);
  tree_.assign(slots, 0);
  for (std::size_t slot = 0; slot < keys.size(); ++slot) {
    key_of_[slot] = keys[slot];
    last_[keys[slot]] = slot;
    tree_[slot] = 1;
  }
  // A Fenwick tree from its leaves in one pass.
  for (std::size_t i = 1; i <= slots; ++i) {
    const std::size_t parent = i + (i & (~i + 1));
    if (parent <= slots) tree_[parent - 1] += tree_[i - 1];
  }
  next_ = keys.size();
}

}  // namespace fm
