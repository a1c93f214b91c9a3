#pragma once
// Device memory by class over time, as the executor asked for it from OpenCL.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/result.hpp"
#include "core/trace.pb.h"

namespace fm {

/// Follows creates, releases and changes of class. Not thread-safe; HostRecorder calls it under its
/// lock.
class MemoryAccountant {
 public:
  void create(const trace::CreateObject& object, Nanoseconds now);
  void release(std::uint64_t object, Nanoseconds now);
  void change(const trace::ChangeClass& change, Nanoseconds now);

  Bytes bytes(trace::MemoryClass memory_class) const;
  Bytes total() const;
  MemoryClaims held() const;
  /// Peak, average over [0, now], each class's own peak and the samples kept so far.
  ResultMemory summary(Nanoseconds now) const;
  /// Later changes count for peaks but leave no samples: repeated runs must not grow the log.
  void stop_sampling(Nanoseconds now);

 private:
  static constexpr std::size_t classes = 6;
  using ByClass = std::array<std::uint64_t, classes>;
  void changed(Nanoseconds now);

  std::map<std::uint64_t, ByClass> objects_;
  ByClass current_{};
  ByClass class_peak_{};
  std::uint64_t peak_ = 0;
  std::vector<MemorySample> samples_;
  bool sampling_ = true;
  Nanoseconds sampled_until_;
};

}  // namespace fm
