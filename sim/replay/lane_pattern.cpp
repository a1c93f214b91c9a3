#include <deque>
#include <unordered_map>

#include "core/digest.hpp"
#include "sim/replay/wave_cursor.hpp"

namespace fm {
namespace {

std::uint64_t hash_of(const LanePattern& pattern) {
  const std::size_t bytes = pattern.x.size() * sizeof(std::int64_t);
  std::uint64_t hash = checksum_of(pattern.x.data(), bytes);
  if (pattern.has_y) hash = hash * 0x9e3779b97f4a7c15 + checksum_of(pattern.y.data(), bytes);
  return hash ^ (pattern.mask.words[0] * 0xff51afd7ed558ccd) ^
         (pattern.mask.words[1] * 0xc4ceb9fe1a85ec53);
}

bool same(const LanePattern& a, const LanePattern& b) {
  return a.mask == b.mask && a.has_y == b.has_y && a.x == b.x && (!a.has_y || a.y == b.y);
}

}  // namespace

struct PatternTable::Index {
  std::uint32_t capacity = 0;
  std::deque<LanePattern> patterns;  // a deque, because cursors keep pointers into it
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash;
};

PatternTable::PatternTable(std::uint32_t capacity) : index_(std::make_unique<Index>()) {
  index_->capacity = capacity;
}
PatternTable::~PatternTable() = default;
PatternTable::PatternTable(PatternTable&&) noexcept = default;
PatternTable& PatternTable::operator=(PatternTable&&) noexcept = default;

const LanePattern* PatternTable::intern(const LanePattern& candidate) {
  const std::uint64_t hash = hash_of(candidate);
  const auto range = index_->by_hash.equal_range(hash);
  for (auto found = range.first; found != range.second; ++found) {
    const LanePattern& pattern = index_->patterns[found->second];
    if (same(pattern, candidate)) return &pattern;
  }
  if (index_->patterns.size() >= index_->capacity) return nullptr;
  const auto id = static_cast<std::uint32_t>(index_->patterns.size());
  index_->patterns.push_back(candidate);
  index_->patterns.back().id = id;
  if (!candidate.has_y) index_->patterns.back().y.clear();
  index_->by_hash.emplace(hash, id);
  return &index_->patterns.back();
}

std::size_t PatternTable::size() const { return index_->patterns.size(); }
const LanePattern& PatternTable::at(std::uint32_t id) const { return index_->patterns.at(id); }

}  // namespace fm
