#include "sim/memory/memory_system.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/memory/cache_level.hpp"
#include "sim/memory/dram_accounts.hpp"
#include "sim/memory/dram_channel.hpp"
#include "sim/memory/memory_parameters.hpp"

namespace fm {

MemorySystem::MemorySystem(const DeviceConfig& config, CounterRegistry& registry)
    : MemorySystem(memory_parameters(config), registry) {}

MemorySystem::MemorySystem(const MemoryParameters& parameters, CounterRegistry& registry)
    : clock_(parameters.clock), maintenance_latency_(parameters.l2_to_slc) {
  dram_ = std::make_unique<DramSystem>(clock_, parameters.dram);
  slc_ = std::make_unique<CacheLevel>("slc", clock_, parameters.slc, dram_.get(),
                                      parameters.slc_to_dram);
  l2_ = std::make_unique<CacheLevel>("l2", clock_, parameters.l2, slc_.get(), parameters.l2_to_slc);
  const Ticks to_l2 = parameters.request_cycles * clock_.period;
  ports_.push_back(std::make_unique<MemoryPort>(
      "copy_port", clock_, l2_.get(), MemoryClient::copy_engine, parameters.port_lines, to_l2));
  for (const MemoryClient client :
       {MemoryClient::storage, MemoryClient::host, MemoryClient::display}) {
    const std::string name = to_string(client) + "_port";
    ports_.push_back(std::make_unique<MemoryPort>(name.c_str(), clock_, slc_.get(), client,
                                                  parameters.port_lines, parameters.l2_to_slc));
  }
  l2_->register_counters(registry);
  slc_->register_counters(registry);
  register_counters(*dram_, registry);
}

MemorySystem::~MemorySystem() = default;

MemoryPort& MemorySystem::port(MemoryClient client) {
  for (const auto& port : ports_) {
    if (port->client() == client) return *port;
  }
  throw std::out_of_range("no memory port for " + to_string(client));
}

void MemorySystem::invalidate(Address address, Bytes bytes) {
  if (bytes.count() == 0) return;
  const Ticks time = Block::now() + maintenance_latency_;
  l2_->invalidate(address, bytes, time);
  // What the L2 writes back has arrived below by then.
  slc_->invalidate(address, bytes, time + 2 * maintenance_latency_);
}

bool MemorySystem::idle() const { return waiting().empty(); }

std::vector<std::string> MemorySystem::waiting() const {
  std::vector<std::string> lines;
  for (const auto& port : ports_) {
    if (!port->idle()) lines.push_back(port->waiting());
  }
  l2_->append_waiting(&lines);
  slc_->append_waiting(&lines);
  for (const auto& channel : dram_->channels()) {
    if (!channel->idle()) lines.push_back(channel->waiting());
  }
  return lines;
}

double MemorySystem::peak_dram_bytes_per_second() const { return dram_->peak_bytes_per_second(); }

std::uint64_t MemorySystem::dram_bytes() const { return dram_->bytes_moved(); }

void MemorySystem::append_checks(std::vector<ResultCheck>* checks) const {
  l2_->append_checks(checks);
  slc_->append_checks(checks);
  append_dram_checks(*dram_, *slc_, checks);
  for (const auto& port : ports_) {
    for (std::size_t kind = 0; kind < access_kind_count; ++kind) {
      const TrafficCounts& traffic = port->traffic();
      const std::size_t row = index_of(port->client());
      if (traffic.requests[row][kind] == 0) continue;
      checks->push_back({to_string(port->client()) + " port: lines sent = lines answered (" +
                             to_string(static_cast<AccessKind>(kind)) + ")",
                         static_cast<double>(traffic.requests[row][kind]),
                         static_cast<double>(traffic.answers[row][kind])});
    }
  }
}

}  // namespace fm
