#include "executor/memory_accountant.hpp"

#include <algorithm>
#include <numeric>

namespace fm {
namespace {

MemoryClaims claims_of(const std::array<std::uint64_t, 6>& bytes) {
  MemoryClaims claims;
  claims.preloaded = Bytes(bytes[trace::PRELOADED]);
  claims.um_in_flight = Bytes(bytes[trace::UM_IN_FLIGHT]);
  claims.tm_in_flight = Bytes(bytes[trace::TM_IN_FLIGHT]);
  claims.activations = Bytes(bytes[trace::ACTIVATIONS]);
  claims.staging = Bytes(bytes[trace::STAGING]);
  return claims;
}

std::uint64_t sum(const std::array<std::uint64_t, 6>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::uint64_t sum(const MemorySample& sample) {
  const MemoryClaims& c = sample.claims;
  return (c.preloaded + c.um_in_flight + c.tm_in_flight + c.activations + c.staging + sample.driver)
      .count();
}

}  // namespace

void MemoryAccountant::create(const trace::CreateObject& object, Nanoseconds now) {
  objects_[object.object()][object.memory_class()] += object.bytes();
  current_[object.memory_class()] += object.bytes();
  changed(now);
}

void MemoryAccountant::release(std::uint64_t object, Nanoseconds now) {
  const auto found = objects_.find(object);
  if (found == objects_.end()) return;
  for (std::size_t i = 0; i < classes; ++i) current_[i] -= found->second[i];
  objects_.erase(found);
  changed(now);
}

void MemoryAccountant::change(const trace::ChangeClass& change, Nanoseconds now) {
  ByClass& object = objects_.at(change.object());
  object[change.from()] -= change.bytes();
  object[change.to()] += change.bytes();
  current_[change.from()] -= change.bytes();
  current_[change.to()] += change.bytes();
  changed(now);
}

void MemoryAccountant::changed(Nanoseconds now) {
  for (std::size_t i = 0; i < classes; ++i) class_peak_[i] = std::max(class_peak_[i], current_[i]);
  peak_ = std::max(peak_, sum(current_));
  if (!sampling_) return;
  MemorySample sample;
  sample.time = now;
  sample.claims = claims_of(current_);
  sample.driver = Bytes(current_[trace::DRIVER]);
  samples_.push_back(sample);
}

Bytes MemoryAccountant::bytes(trace::MemoryClass memory_class) const {
  return Bytes(current_[memory_class]);
}

MemoryClaims MemoryAccountant::held() const { return claims_of(current_); }

Bytes MemoryAccountant::total() const { return Bytes(sum(current_)); }

void MemoryAccountant::stop_sampling(Nanoseconds now) {
  if (sampling_) sampled_until_ = now;
  sampling_ = false;
}

ResultMemory MemoryAccountant::summary(Nanoseconds now) const {
  ResultMemory memory;
  memory.peak = Bytes(peak_);
  memory.peak_by_class = claims_of(class_peak_);
  memory.peak_driver = Bytes(class_peak_[trace::DRIVER]);
  memory.over_time = samples_;
  const Nanoseconds end = sampling_ ? now : sampled_until_;
  double integral = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const Nanoseconds until = i + 1 < samples_.size() ? samples_[i + 1].time : end;
    if (until > samples_[i].time) {
      integral += static_cast<double>(sum(samples_[i])) *
                  static_cast<double>((until - samples_[i].time).count());
    }
  }
  if (end.count() > 0) {
    memory.average = Bytes(static_cast<std::uint64_t>(integral / static_cast<double>(end.count())));
  }
  return memory;
}

}  // namespace fm
