#include "executor/oclgrind_plugin/group_store.hpp"

#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr int level = 1;
constexpr std::uint64_t most_groups = std::uint64_t{1} << 22;
constexpr std::uint64_t most_bytes = std::uint64_t{8} << 30;

[[noreturn]] void fail(const std::string& what) {
  throw UserError("the logs of its work-groups " + what + ": " + std::strerror(errno));
}

std::uint64_t product(std::array<std::uint32_t, 3> counts) {
  return std::uint64_t{counts[0]} * counts[1] * counts[2];
}

}  // namespace

GroupStore::GroupStore(std::array<std::uint32_t, 3> local_size,
                       std::array<std::uint32_t, 3> group_count)
    : local_size_(local_size), group_count_(group_count), file_(std::tmpfile()) {
  if (!file_) fail("need a temporary file");
  if (product(group_count) > most_groups) throw UserError("it has more than 2^22 work-groups");
  places_.resize(product(group_count));
}

std::uint64_t GroupStore::linear(const GroupId& group) const {
  return group[0] +
         std::uint64_t{group_count_[0]} * (group[1] + std::uint64_t{group_count_[1]} * group[2]);
}

void GroupStore::add(const GroupLog& log) {
  std::vector<std::uint32_t> words;
  words.reserve(log.first().size() + log.words().size());
  for (std::size_t i = 1; i < log.first().size(); ++i) {
    words.push_back(static_cast<std::uint32_t>(log.first()[i] - log.first()[i - 1]));
  }
  words.insert(words.end(), log.words().begin(), log.words().end());
  packed_.resize(ZSTD_compressBound(4 * words.size()));
  const std::size_t size =
      ZSTD_compress(packed_.data(), packed_.size(), words.data(), 4 * words.size(), level);
  if (ZSTD_isError(size) != 0) throw UserError("the logs of its work-groups cannot be compressed");
  if (end_ + size > most_bytes) throw UserError("the logs of its work-groups exceed 8 GiB");
  if (fseeko(file_.get(), static_cast<off_t>(end_), SEEK_SET) != 0 ||
      std::fwrite(packed_.data(), 1, size, file_.get()) != size) {
    fail("cannot be written to a temporary file");
  }
  places_.at(linear(log.group())) = {end_, static_cast<std::uint32_t>(size),
                                     static_cast<std::uint32_t>(words.size())};
  end_ += size;
  ++added_;
}

void GroupStore::record(const std::vector<GroupId>& groups,
                        const std::function<void(GroupLog)>& take) {
  const std::size_t items = product(local_size_);
  for (const GroupId& group : groups) {
    const Place& place = places_.at(linear(group));
    packed_.resize(place.bytes);
    std::vector<std::uint32_t> words(place.words);
    if (fseeko(file_.get(), static_cast<off_t>(place.offset), SEEK_SET) != 0 ||
        std::fread(packed_.data(), 1, place.bytes, file_.get()) != place.bytes) {
      fail("cannot be read again");
    }
    ZSTD_decompress(words.data(), 4 * words.size(), packed_.data(), packed_.size());
    std::vector<std::size_t> first{0};
    for (std::size_t i = 0; i < items; ++i) first.push_back(first.back() + words[i]);
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(items));
    take(GroupLog(group, local_size_, std::move(words), std::move(first)));
  }
}

}  // namespace fm
