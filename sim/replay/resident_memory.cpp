#include "sim/replay/resident_memory.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sim/stats/quantity_text.hpp"

namespace fm {
namespace {

std::size_t index_of(trace::MemoryClass memory_class) {
  return static_cast<std::size_t>(memory_class);
}

MemoryClaims claims_of(const BytesByClass& bytes) {
  return {Bytes(bytes[trace::PRELOADED]), Bytes(bytes[trace::UM_IN_FLIGHT]),
          Bytes(bytes[trace::TM_IN_FLIGHT]), Bytes(bytes[trace::ACTIVATIONS]),
          Bytes(bytes[trace::STAGING])};
}

}  // namespace

std::string to_string(trace::MemoryClass memory_class) {
  constexpr std::array<const char*, memory_class_count> names{
      "preloaded", "um_in_flight", "tm_in_flight", "activations", "staging", "driver"};
  return names.at(index_of(memory_class));
}

void ResidentMemory::add(trace::MemoryClass memory_class, Bytes bytes, Picoseconds now) {
  current_[index_of(memory_class)] += bytes.count();
  added_ += bytes;
  changed(now);
}

void ResidentMemory::remove(trace::MemoryClass memory_class, Bytes bytes, Picoseconds now) {
  std::uint64_t& held = current_[index_of(memory_class)];
  if (held < bytes.count()) {
    throw std::logic_error("memory class " + to_string(memory_class) +
                           " would hold less than nothing");
  }
  held -= bytes.count();
  removed_ += bytes;
  changed(now);
}

void ResidentMemory::move(const BytesByClass& before, const BytesByClass& after, Picoseconds now) {
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    if (current_[i] + after[i] < before[i])
      throw std::logic_error("a memory class would hold less than nothing");
    current_[i] = current_[i] + after[i] - before[i];
  }
  changed(now);
}

void ResidentMemory::restart(Picoseconds now) {
  start_ = now;
  peak_ = 0;
  peak_by_class_ = {};
  samples_.clear();
  changed(now);
}

Bytes ResidentMemory::total() const {
  return Bytes(std::accumulate(current_.begin(), current_.end(), std::uint64_t{0}));
}

Bytes ResidentMemory::bytes(trace::MemoryClass memory_class) const {
  return Bytes(current_[index_of(memory_class)]);
}

std::string ResidentMemory::description() const {
  std::string text;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    if (current_[i] == 0) continue;
    if (!text.empty()) text += ", ";
    text += to_string(static_cast<trace::MemoryClass>(i)) + " " + text_of(Bytes(current_[i]));
  }
  return text.empty() ? "nothing" : text;
}

void ResidentMemory::changed(Picoseconds now) {
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    peak_by_class_[i] = std::max(peak_by_class_[i], current_[i]);
  }
  peak_ = std::max(peak_, total().count());
  const MemorySample last = sample(now);
  if (!samples_.empty() && samples_.back().time == last.time) {
    samples_.back() = last;
  } else {
    samples_.push_back(last);
  }
}

MemorySample ResidentMemory::sample(Picoseconds time) const {
  return {to_nanoseconds(time - start_), claims_of(current_), Bytes(current_[trace::DRIVER])};
}

ResultMemory ResidentMemory::summary(Picoseconds end) const {
  ResultMemory memory;
  memory.peak = Bytes(peak_);
  memory.peak_by_class = claims_of(peak_by_class_);
  memory.peak_driver = Bytes(peak_by_class_[trace::DRIVER]);
  const Nanoseconds last = to_nanoseconds(end - start_);
  // What the driver gives back after the run's last operation is no part of the run.
  for (const MemorySample& sample : samples_) {
    if (sample.time <= last) memory.over_time.push_back(sample);
  }
  double byte_nanoseconds = 0;
  for (std::size_t i = 0; i < memory.over_time.size(); ++i) {
    const MemorySample& sample = memory.over_time[i];
    const Nanoseconds until = i + 1 < memory.over_time.size() ? memory.over_time[i + 1].time : last;
    byte_nanoseconds += static_cast<double>((sample.claims.total() + sample.driver).count()) *
                        static_cast<double>((until - sample.time).count());
  }
  if (last.count() > 0) {
    memory.average =
        Bytes(static_cast<std::uint64_t>(byte_nanoseconds / static_cast<double>(last.count())));
  }
  return memory;
}

}  // namespace fm
