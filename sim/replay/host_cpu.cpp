#include "sim/replay/host_cpu.hpp"

#include <algorithm>
#include <cmath>

namespace fm {

HostCpu::HostCpu(const DeviceConfig& config, MemorySystem& memory, Agenda& agenda,
                 CounterRegistry& registry)
    : config_(config), page_(config.bytes("mmu.page_size")), memory_(memory), agenda_(agenda) {
  registry.add("host.busy_time", "ps", "time host threads worked, all threads", &busy_ps_);
  registry.add("host.allocated_pages", "pages", "pages given to memory objects", &pages_);
  registry.add("host.zeroed_bytes", "bytes", "bytes of new pages overwritten with zeros", &zeroed_);
}

void HostCpu::work(Picoseconds cost, std::function<void()> done) {
  busy_ps_ += cost.count();
  agenda_.after(cost, std::move(done));
}

void HostCpu::move(std::vector<MemoryTransfer> transfers, double bytes_per_second,
                   std::function<void()> done) {
  const Picoseconds start = Agenda::now();
  const double seconds = static_cast<double>(transfers.front().bytes.count()) / bytes_per_second;
  const Picoseconds earliest =
      start + Picoseconds(static_cast<std::uint64_t>(std::ceil(seconds * 1e12)));
  MemoryPort& port = memory_.port(MemoryClient::host);
  for (std::size_t i = 0; i + 1 < transfers.size(); ++i) port.submit(transfers[i], nullptr);
  // The port serves transfers in their order: the last one ends last.
  port.submit(transfers.back(), [this, start, earliest, done = std::move(done)] {
    const Picoseconds now = Agenda::now();
    busy_ps_ += (std::max(now, earliest) - start).count();
    agenda_.after(now < earliest ? earliest - now : Picoseconds(0), done);
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
