#pragma once
// LRU stack distances of a stream in one pass: hit ratios of all capacities at once.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace fm {

/// The distance of an access is the number of different keys used since the last access to the same
/// key, itself included: a fully associative LRU cache of that many lines or more hits (Mattson et
/// al., Evaluation techniques for storage hierarchies, IBM Systems Journal 9(2), 1970). Kept in a
/// Fenwick tree over access times, O(log n) an access; memory grows with the number of keys, not of
/// accesses.
class ReuseDistance {
 public:
  static constexpr std::uint64_t first_use = ~std::uint64_t{0};
  /// Returns the distance, 1 for an immediate reuse, or `first_use`.
  std::uint64_t access(std::uint64_t key);

  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t keys() const { return last_.size(); }
  /// Accesses by distance, first uses apart.
  const std::map<std::uint64_t, std::uint64_t>& distances() const { return distances_; }
  /// How many accesses a fully associative LRU cache of `lines` hits.
  std::uint64_t hits(std::uint64_t lines) const;

 private:
  void add(std::size_t slot, std::int64_t change);
  std::uint64_t sum_through(std::size_t slot) const;
  /// Numbers the last uses anew, without gaps.
  void compact();
  std::unordered_map<std::uint64_t, std::size_t> last_;  ///< slot of each key's last use
  std::vector<std::uint32_t> tree_;    ///< Fenwick: 1 at slots that are the last use of a key
  std::vector<std::uint64_t> key_of_;  ///< by slot
  std::size_t next_ = 0;
  std::uint64_t accesses_ = 0;
  std::map<std::uint64_t, std::uint64_t> distances_;
};

}  // namespace fm
