#pragma once
// Logs written by hand: what a kernel's recording build would log for one work-item.

#include <cstdint>
#include <functional>
#include <vector>

#include "executor/recorder/log_walk.hpp"

namespace fm {

class LogBuilder {
 public:
  LogBuilder& record(RecordKind kind, std::uint32_t id, std::uint32_t detail,
                     const std::vector<std::int64_t>& operands = {}) {
    words_.push_back(id << 12 | detail << 4 | static_cast<std::uint32_t>(kind));
    for (const std::int64_t operand : operands) {
      words_.push_back(static_cast<std::uint32_t>(operand));
    }
    return *this;
  }
  LogBuilder& loop(std::uint32_t id, std::int64_t begin, std::int64_t end,
                   const std::function<void(std::int64_t)>& body, std::int64_t step = 1) {
    record(RecordKind::loop, id, 0, {begin, end, step});
    for (std::int64_t i = begin; i < end; i += step) {
      record(RecordKind::iteration, 0, 0);
      body(i);
    }
    return record(RecordKind::end, 0, 0);
  }
  LogBuilder& guard(std::uint32_t id, std::int64_t left, trace::Relation relation,
                    std::int64_t right, const std::function<void()>& body) {
    record(RecordKind::guard, id, relation, {left, right});
    if (holds(left, relation, right)) body();
    return record(RecordKind::end, 0, 0);
  }
  LogBuilder& load(std::uint32_t id, std::int64_t element) {
    return record(RecordKind::element, id, 0, {element});
  }

  ItemLog item(std::array<std::uint32_t, 3> group, std::array<std::uint32_t, 3> local) const {
    return {group, local, words_.data(), words_.data() + words_.size()};
  }

 private:
  std::vector<std::uint32_t> words_;
};

}  // namespace fm
