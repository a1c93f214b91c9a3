#include "sim/replay/background_traffic.hpp"

#include <cmath>

namespace fm {
namespace {

/// Bytes a stream walks through before it begins again: more than a system-level cache holds.
constexpr std::uint64_t region_bytes = std::uint64_t{256} << 20;

}  // namespace

BackgroundTraffic::BackgroundTraffic(const DeviceConfig& config, MemorySystem& memory,
                                     PeriodicWork& periodic, CounterRegistry& registry)
    : next_base_(config.bytes("allocator.address_space").count()) {
  add(config, "display", memory.port(MemoryClient::display), false, periodic, registry);
  add(config, "background", memory.port(MemoryClient::background), true, periodic, registry);
}

void BackgroundTraffic::add(const DeviceConfig& config, const std::string& name, MemoryPort& port,
                            bool writes, PeriodicWork& periodic, CounterRegistry& registry) {
  const double bandwidth = config.bytes_per_second("traffic." + name + "_bandwidth");
  const std::uint64_t burst = config.bytes("traffic." + name + "_burst").count();
  streams_.push_back(std::make_unique<Stream>(Stream{&port, next_base_, burst, writes}));
  next_base_ += region_bytes;
  Stream* stream = streams_.back().get();
  registry.add("traffic." + name + "_bursts", "bursts", "bursts of memory traffic due",
               &stream->bursts);
  registry.add("traffic." + name + "_late_bursts", "bursts",
               "bursts dropped because the one before was still under way", &stream->late);
  if (bandwidth == 0) return;
  const double period = std::ceil(static_cast<double>(burst) / bandwidth * 1e12);
  periodic.every(Picoseconds(static_cast<std::uint64_t>(period)), [stream] { send(stream); });
}

void BackgroundTraffic::send(Stream* stream) {
  const std::uint64_t number = stream->bursts++;
  if (!stream->port->idle()) {
    ++stream->late;
    return;
  }
  const std::uint64_t slots = region_bytes / stream->burst;
  const Address address(stream->base + number % slots * stream->burst);
  stream->port->submit({address, Bytes(stream->burst), stream->writes && number % 2 == 1}, nullptr);
}

}  // namespace fm
