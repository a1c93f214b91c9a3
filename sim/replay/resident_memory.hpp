#pragma once
// Memory by class over simulated time.

#include <array>
#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "core/trace.pb.h"

namespace fm {

constexpr std::size_t memory_class_count = 6;
std::string to_string(trace::MemoryClass memory_class);

/// Bytes by trace::MemoryClass.
using BytesByClass = std::array<std::uint64_t, memory_class_count>;

/// Follows the bytes of every class. All times ascend.
class ResidentMemory {
 public:
  void add(trace::MemoryClass memory_class, Bytes bytes, Picoseconds now);
  /// Throws std::logic_error when the class holds fewer bytes.
  void remove(trace::MemoryClass memory_class, Bytes bytes, Picoseconds now);
  void move(const BytesByClass& before, const BytesByClass& after, Picoseconds now);

  /// Another repetition begins: peaks, average and samples are those from here on, times since now.
  void restart(Picoseconds now);

  Bytes total() const;
  Bytes bytes(trace::MemoryClass memory_class) const;
  Bytes added() const { return added_; }      ///< ever
  Bytes removed() const { return removed_; }  ///< ever
  /// "preloaded 12.0 MiB, activations 3.1 MiB": the classes that hold anything.
  std::string description() const;
  /// Peaks, time-weighted average until `end` and a sample a change.
  ResultMemory summary(Picoseconds end) const;

 private:
  void changed(Picoseconds now);
  MemorySample sample(Picoseconds time) const;

  BytesByClass current_{}, peak_by_class_{};
  std::uint64_t peak_ = 0;
  Picoseconds start_;
  Bytes added_, removed_;
  std::vector<MemorySample> samples_;
};

}  // namespace fm
