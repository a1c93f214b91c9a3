#include "sim/memory/memory_system.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/memory/cache_level.hpp"
#include "sim/memory/dram_accounts.hpp"
#include "sim/memory/dram_channel.hpp"
#include "sim/memory/memory_parameters.hpp"
#include "sim/memory/mmu.hpp"

namespace fm {
namespace {

void add_to(TrafficCounts* sum, const TrafficCounts& part) {
  for (std::size_t client = 0; client < memory_client_count; ++client) {
    for (std::size_t kind = 0; kind < access_kind_count; ++kind) {
      sum->requests[client][kind] += part.requests[client][kind];
      sum->answers[client][kind] += part.answers[client][kind];
    }
  }
}

/// What one side of an edge sent the other received, for clients that come no other way.
void check_edge(const std::string& edge, const TrafficCounts& sent, const TrafficCounts& arrived,
                std::initializer_list<MemoryClient> clients, std::vector<ResultCheck>* checks) {
  for (const MemoryClient client : clients) {
    for (std::size_t kind = 0; kind < access_kind_count; ++kind) {
      const std::uint64_t left = sent.requests[index_of(client)][kind];
      const std::uint64_t right = arrived.requests[index_of(client)][kind];
      if (left == 0 && right == 0) continue;
      checks->push_back({edge + ": requests sent = requests arrived (" + to_string(client) + " " +
                             to_string(static_cast<AccessKind>(kind)) + ")",
                         static_cast<double>(left), static_cast<double>(right)});
    }
  }
}

Clock changing(Clock clock) {
  clock.rate = std::make_shared<ClockRate>(ClockRate{clock.period, 0, 0});
  return clock;
}

}  // namespace

MemorySystem::MemorySystem(const DeviceConfig& config, CounterRegistry& registry)
    : MemorySystem(memory_parameters(config), registry) {}

MemorySystem::MemorySystem(const MemoryParameters& parameters, CounterRegistry& registry)
    : clock_(changing(parameters.clock)),
      maintenance_latency_(parameters.l2_to_slc),
      to_l2_(parameters.l2_request_cycles * parameters.clock.period),
      cluster_latency_(parameters.request_cycles * parameters.clock.period),
      cluster_cores_(parameters.cluster_cores) {
  dram_ = std::make_unique<DramSystem>(clock_, parameters.dram);
  slc_ = std::make_unique<CacheLevel>("slc", clock_, parameters.slc, dram_.get(),
                                      parameters.slc_to_dram);
  l2_ = std::make_unique<CacheLevel>("l2", clock_, parameters.l2, slc_.get(), parameters.l2_to_slc);
  if (parameters.cluster.bytes != 0) {
    for (std::uint32_t core = 0; core < parameters.cores; core += cluster_cores_) {
      const std::string name = "cluster" + std::to_string(clusters_.size());
      clusters_.push_back(std::make_unique<CacheLevel>(name.c_str(), clock_, parameters.cluster,
                                                       l2_.get(), to_l2_));
      clusters_.back()->register_counters(registry);
    }
  }
  CacheLevel* const tables = parameters.mmu.walks_through_l2 ? l2_.get() : slc_.get();
  mmu_ = std::make_unique<Mmu>("mmu", clock_, parameters.mmu, tables,
                               parameters.mmu.walks_through_l2 ? to_l2_ : parameters.l2_to_slc);
  ports_.push_back(std::make_unique<MemoryPort>(
      "copy_port", clock_, l2_.get(), MemoryClient::copy_engine, parameters.port_lines, to_l2_));
  for (const MemoryClient client : {MemoryClient::storage, MemoryClient::host,
                                    MemoryClient::display, MemoryClient::background}) {
    const std::string name = to_string(client) + "_port";
    ports_.push_back(std::make_unique<MemoryPort>(name.c_str(), clock_, slc_.get(), client,
                                                  parameters.port_lines, parameters.l2_to_slc));
  }
  mmu_->register_counters(registry);
  for (const auto& port : ports_) registry.follow(port->traffic());
  l2_->register_counters(registry);
  slc_->register_counters(registry);
  register_counters(*dram_, registry);
}

MemorySystem::~MemorySystem() = default;

CacheLevel& MemorySystem::core_level(std::uint32_t core) {
  return clusters_.empty() ? *l2_ : *clusters_.at(core / cluster_cores_);
}

TrafficCounts MemorySystem::core_traffic() const {
  if (clusters_.empty()) return l2_->above();
  TrafficCounts sum;
  for (const auto& cluster : clusters_) add_to(&sum, cluster->above());
  return sum;
}

void MemorySystem::begin_launch() {
  const Ticks time = Block::now() + cluster_latency_;
  for (const auto& cluster : clusters_) {
    cluster->invalidate(Address(0), Bytes(std::uint64_t{1} << 62), time);
  }
}

MemoryPort& MemorySystem::port(MemoryClient client) {
  for (const auto& port : ports_) {
    if (port->client() == client) return *port;
  }
  throw std::out_of_range("no memory port for " + to_string(client));
}

void MemorySystem::invalidate(Address address, Bytes bytes) {
  if (bytes.count() == 0) return;
  l2_->invalidate(address, bytes, Block::now() + maintenance_latency_);
}

void MemorySystem::watch(RequestPort port, RequestTap* tap) {
  switch (port) {
    case RequestPort::core_cluster:
      if (clusters_.empty()) {
        throw UserError(
            "port core-cluster: the device has no cluster caches (cluster.size is 0 B)");
      }
      for (const auto& cluster : clusters_) cluster->set_tap(tap);
      break;
    case RequestPort::core_l2:
      l2_->set_tap(tap);
      break;
    case RequestPort::l2_slc:
      l2_->set_tap_below(tap);
      break;
    case RequestPort::slc_dram:
      slc_->set_tap_below(tap);
      break;
  }
}

void MemorySystem::change_gpu_period(Ticks period) {
  clock_.change_period(period, Block::now());
  for (const auto& cluster : clusters_) {
    cluster->change_cycle(period, clock_.period);
    cluster->change_below_latency(to_l2_ * period / clock_.period);
  }
  mmu_->change_cycle(period, clock_.period);
  l2_->change_cycle(period, clock_.period);
  port(MemoryClient::copy_engine).change_cycle(period, clock_.period);
}

void MemorySystem::set_dram_speed(double speed) { dram_->set_speed(speed); }

bool MemorySystem::idle() const { return waits().empty(); }

std::vector<Wait> MemorySystem::waits() const {
  std::vector<Wait> waits;
  for (const auto& port : ports_) port->append_waits(&waits);
  for (const auto& cluster : clusters_) cluster->append_waits(&waits);
  mmu_->append_waits(&waits);
  l2_->append_waits(&waits);
  slc_->append_waits(&waits);
  for (const auto& channel : dram_->channels()) channel->append_waits(&waits);
  return waits;
}

double MemorySystem::peak_dram_bytes_per_second() const { return dram_->peak_bytes_per_second(); }

std::uint64_t MemorySystem::dram_bytes() const { return dram_->bytes_moved(); }

void MemorySystem::append_checks(std::vector<ResultCheck>* checks) const {
  using Client = MemoryClient;
  if (!clusters_.empty()) {
    TrafficCounts below;
    for (const auto& cluster : clusters_) {
      cluster->append_checks(checks);
      add_to(&below, cluster->below());
    }
    check_edge("clusters to l2", below, l2_->above(), {Client::load_store, Client::texture},
               checks);
  }
  l2_->append_checks(checks);
  slc_->append_checks(checks);
  check_edge("l2 to slc", l2_->below(), slc_->above(),
             {Client::load_store, Client::texture, Client::copy_engine}, checks);
  const bool through_l2 = mmu_->parameters().walks_through_l2;
  mmu_->append_checks(checks);
  check_edge("mmu to tables", mmu_->traffic(), (through_l2 ? *l2_ : *slc_).above(), {Client::mmu},
             checks);
  if (through_l2) check_edge("l2 to slc", l2_->below(), slc_->above(), {Client::mmu}, checks);
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
