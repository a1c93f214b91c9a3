#pragma once
// Least recently used replacement, as simply as can be: what the simulator's caches and TLBs are
// checked against.

#include <cstdint>
#include <list>
#include <vector>

namespace fm::test {

/// Sets of std::list, the most recent key in front. Keys are whole numbers of lines or pages; the
/// caller says in which set one lies.
class ReferenceCache {
 public:
  ReferenceCache(std::uint64_t sets, std::uint64_t ways) : sets_(sets), ways_(ways) {}

  /// Whether `key` was there; it is afterwards, the most recent of its set.
  bool access(std::uint64_t key, std::uint64_t set, bool write = false) {
    std::list<Entry>& entries = sets_.at(set);
    for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
      if (entry->key != key) continue;
      entries.push_front({key, entry->dirty || write});
      entries.erase(entry);
      return true;
    }
    if (entries.size() == ways_) {
      if (entries.back().dirty) written_back_.push_back(entries.back().key);
      entries.pop_back();
    }
    entries.push_front({key, write});
    return false;
  }
  std::uint64_t set_count() const { return sets_.size(); }
  /// Keys of dirty entries that had to go, in order.
  const std::vector<std::uint64_t>& written_back() const { return written_back_; }

 private:
  struct Entry {
    std::uint64_t key;
    bool dirty;
  };
  std::vector<std::list<Entry>> sets_;
  std::uint64_t ways_;
  std::vector<std::uint64_t> written_back_;
};

}  // namespace fm::test
