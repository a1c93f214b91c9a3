#include "sim/sampling/launch_sampler.hpp"

#include <algorithm>
#include <cmath>

#include "sim/sampling/touched_memory.hpp"

namespace fm {
namespace {

/// Wave accesses from which on a launch is long to simulate.
constexpr std::uint64_t long_launch = 500'000;
/// Shorter launches are mostly dispatch, and say nothing about long ones.
constexpr Ticks telling_duration = 50'000'000;
/// Least relative difference taken for that of two launches of a class that was run once.
constexpr double unknown_spread = 0.03;
/// Least relative error of a model, however well two launches agreed.
constexpr double least_error = 0.005;
/// Relative error of a launch that finds caches as a skipped one is thought to leave them.
constexpr double state_error = 0.05;
/// Relative error of launches after that: open rows, translations and older lines differ a little,
/// and launches of one class that differ in no more than these differ by about so much.
constexpr double later_error = 0.01;
/// A launch is settled when lines that start-up had left are at most one in so many of its DRAM
/// bytes.
constexpr std::uint64_t settled_part = 16;
/// Launches since an argument was touched, beyond which it counts as touched long ago.
constexpr std::uint64_t recent_launches = 16;

}  // namespace

LaunchSampler::LaunchSampler(MemorySystem& memory, const CounterRegistry& registry,
                             TransferSampler& transfers)
    : memory_(memory), transfers_(transfers), cells_(registry) {}

void LaunchSampler::begin(const GpuLaunch& launch, Ticks) {
  transfers_.stop();
  if (launches_ == 0) memory_.mark_uses();
  finish_record();
  simulated_last_ = phase_ != Phase::skipping;
  launch_ = &launch;
  class_ = &classes_[key_of(launch)];
  phase_ = Phase::begun;
}

LaunchSampler::Key LaunchSampler::key_of(const GpuLaunch& launch) {
  const std::uint64_t program =
      programs_.try_emplace(launch.program, programs_.size() + 1).first->second;
  Key key{program, previous_program_, launch.registers, launch.half_arithmetic ? 1u : 0u,
          memory_.clock().period};
  previous_program_ = program;
  for (const TouchedRange& range : launch.touched) {
    key.push_back(range.image ? 1 : 0);
    if (!range.write) key.push_back(recency(range));
  }
  ++launches_;
  for (const TouchedRange& range : launch.touched) last_touch_[range.tensor.count()] = launches_;
  return key;
}

/// 0: never touched, 1: long ago, 2: by a recent launch.
std::uint64_t LaunchSampler::recency(const TouchedRange& range) const {
  const auto found = last_touch_.find(range.tensor.count());
  if (found == last_touch_.end()) return 0;
  return launches_ - found->second < recent_launches ? 2 : 1;
}

/// What the last simulated launch moved, its write-backs included, unless others moved data too.
void LaunchSampler::finish_record() {
  if (!pending_) return;
  if (memory_.port_bytes() == pending_->port_bytes && quiet()) {
    pending_->of->records.push_back({pending_->duration, settled(*pending_), pending_->in_turn,
                                     cells_.since(pending_->before)});
  }
  pending_.reset();
}

LaunchStep LaunchSampler::next(Ticks now) {
  switch (phase_) {
    case Phase::begun: {
      if (may_skip(*class_)) {
        phase_ = Phase::skipping;
        skip_port_bytes_ = memory_.port_bytes();
        return {LaunchStep::Kind::rest, class_->model().duration};
      }
      phase_ = Phase::running;
      start_ = now;
      if (quiet()) {
        pending_ = Pending{class_,
                           cells_.now(),
                           memory_.bytes_unused_since_mark(),
                           memory_.dram_bytes(),
                           simulated_last_,
                           memory_.port_bytes(),
                           0};
      }
      return {LaunchStep::Kind::run, 0};
    }
    case Phase::running:
      if (pending_) pending_->duration = now - start_;
      if (!simulated_last_) {
        out_of_turn_ += now - start_;
      } else if (left_out_ || transfers_.left_out()) {
        later_ += now - start_;
      }
      break;
    case Phase::skipping:
      account();
      break;
  }
  return {LaunchStep::Kind::end, 0};
}

void LaunchSampler::account() {
  cells_.add(class_->model().moves);
  ++class_->skipped;
  left_out_ = true;
  contended_bytes_ += memory_.port_bytes() - skip_port_bytes_;
  touch_arguments(*launch_, memory_);
}

const LaunchSampler::Record& LaunchSampler::LaunchClass::model() const {
  const auto found = std::find_if(records.rbegin(), records.rend(),
                                  [](const Record& record) { return record.in_turn; });
  return found != records.rend() ? *found : records.back();
}

void LaunchSampler::count_from_here() {
  for (auto& [key, one] : classes_) one.skipped = 0;
  out_of_turn_ = later_ = 0;
  contended_bytes_ = 0;
}

bool LaunchSampler::may_skip(const LaunchClass& one) const {
  if (one.records.size() > 1) return true;
  return one.records.size() == 1 && one.model().settled && is_long(one.model());
}

/// Lines that start-up had left in the shared caches played no part worth mentioning: what it used
/// or replaced of them is little beside its traffic.
bool LaunchSampler::settled(const Pending& launch) const {
  // Lines that were on their way when start-up ended come to it later.
  const Bytes left = std::min(launch.start_up_left, memory_.bytes_unused_since_mark());
  const std::uint64_t part = (launch.start_up_left - left).count();
  return part * settled_part <= memory_.dram_bytes() - launch.dram_bytes;
}

bool LaunchSampler::is_long(const Record& record) const {
  return cells_.of("core.accesses", record.moves) >= long_launch;
}

double LaunchSampler::spread(const LaunchClass& one) {
  const auto [shortest, longest] =
      std::minmax_element(one.records.begin(), one.records.end(),
                          [](const Record& a, const Record& b) { return a.duration < b.duration; });
  return static_cast<double>(longest->duration - shortest->duration) /
         static_cast<double>(longest->duration);
}

/// The largest of classes run twice after start-up, or the least to be expected.
double LaunchSampler::spread_of_others() const {
  double largest = unknown_spread;
  for (const auto& [key, one] : classes_) {
    const bool tells = one.records.size() > 1 && one.records.front().settled &&
                       one.model().duration >= telling_duration;
    if (tells) largest = std::max(largest, spread(one));
  }
  return largest;
}

Ticks LaunchSampler::time_bound() const {
  double bound = 0;
  const double others = spread_of_others();
  for (const auto& [key, one] : classes_) {
    if (one.skipped == 0) continue;
    const double error = least_error + (one.records.size() > 1 ? spread(one) : others) +
                         (one.model().in_turn ? 0 : state_error);
    bound += static_cast<double>(one.skipped) * error * static_cast<double>(one.model().duration);
  }
  bound += state_error * static_cast<double>(out_of_turn_);
  bound += later_error * static_cast<double>(later_);
  // At worst, skipped launches and other traffic would have taken turns at the DRAM.
  bound += static_cast<double>(contended_bytes_) / memory_.peak_dram_bytes_per_second() * 1e12;
  return static_cast<Ticks>(std::ceil(bound));
}

}  // namespace fm
