#include "sim/replay/host_cpu.hpp"

#include <algorithm>
#include <cmath>

namespace fm {

HostCpu::HostCpu(const DeviceConfig& config, MemorySystem& memory, Agenda& agenda,
                 CounterRegistry& registry)
    : config_(config), page_(config.bytes("mmu.page_size")), memory_(memory), agenda_(agenda) {
  registry.add("host.busy_time", "ps", "time host threads worked, all threads", &busy_ps_);
  registry.add("host.active_time", "ps",
               "the same, each times voltage squared and clock over those of the fastest point",
               &active_ps_);
  registry.add("host.allocated_pages", "pages", "pages given to memory objects", &pages_);
  registry.add("host.zeroed_bytes", "bytes", "bytes of new pages overwritten with zeros", &zeroed_);
}

void HostCpu::work(Picoseconds cost, std::function<void()> done) {
  progress();
  busy_.begin(Agenda::now());
  running_.emplace(works_, Work{static_cast<double>(cost.count()), std::move(done)});
  schedule(works_++);
}

void HostCpu::schedule(std::uint64_t number) {
  const double time = std::ceil(std::max(0.0, running_.at(number).left) / speed_);
  agenda_.after(Picoseconds(static_cast<std::uint64_t>(time)), [this, number, speed = speeds_] {
    if (speed != speeds_) return;  // planned anew since
    progress();
    busy_.end(Agenda::now());
    const auto node = running_.extract(number);
    node.mapped().done();
  });
}

void HostCpu::set_speed(double speed, double voltage) {
  progress();
  speed_ = speed;
  voltage_ = voltage;
  ++speeds_;
  for (const auto& [number, work] : running_) schedule(number);
}

void HostCpu::progress() {
  const Picoseconds time = Agenda::now() - since_;
  since_ = Agenda::now();
  for (auto& [number, work] : running_) {
    work.left -= static_cast<double>(time.count()) * speed_;
    count(time);
  }
}

void HostCpu::count(Picoseconds time) {
  busy_ps_ += time.count();
  active_ps_ += static_cast<std::uint64_t>(
      std::llround(static_cast<double>(time.count()) * speed_ * voltage_ * voltage_));
}

void HostCpu::move(std::vector<MemoryTransfer> transfers, double bytes_per_second,
                   std::function<void()> done) {
  const Picoseconds start = Agenda::now();
  busy_.begin(start);
  const double seconds = static_cast<double>(transfers.front().bytes.count()) / bytes_per_second;
  const Picoseconds earliest =
      start + Picoseconds(static_cast<std::uint64_t>(std::ceil(seconds * 1e12)));
  MemoryPort& port = memory_.port(MemoryClient::host);
  for (std::size_t i = 0; i + 1 < transfers.size(); ++i) port.submit(transfers[i], nullptr);
  // The port serves transfers in their order: the last one ends last.
  port.submit(transfers.back(), [this, start, earliest, done = std::move(done)] {
    const Picoseconds now = Agenda::now();
    agenda_.after(now < earliest ? earliest - now : Picoseconds(0), [this, start, done] {
      count(Agenda::now() - start);
      busy_.end(Agenda::now());
      done();
    });
  });
}

void HostCpu::allocate(const HeapObject& object, std::function<void()> done) {
  const std::uint64_t pages = object.allocated / page_;
  pages_ += pages;
  const Picoseconds cost =
      config_.time("allocator.base_cost") + config_.time("allocator.page_cost") * pages;
  if (!config_.flag("allocator.zero_pages")) return work(cost, std::move(done));
  zeroed_ += object.allocated.count();
  move({{object.address, object.allocated, true}},
       config_.bytes_per_second("allocator.zeroing_bandwidth"),
       [this, cost, done = std::move(done)] { work(cost, done); });
}

}  // namespace fm
