#include "sim/storage/flash_storage.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

constexpr std::uint64_t page_bytes = 4096;

Picoseconds duration(std::uint64_t bytes, double bytes_per_second) {
  return Picoseconds(
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_second * 1e12)));
}

}  // namespace

FlashStorage::FlashStorage(const DeviceConfig& config, MemoryPort& port, Agenda& agenda,
                           CounterRegistry& registry)
    : timing_(config),
      command_latency_(config.time("storage.command_latency")),
      queue_depth_(config.count("storage.queue_depth")),
      buffered_pages_(config.bytes("storage.buffer").count() / page_bytes),
      port_(port),
      agenda_(agenda),
      queues_(config.count("storage.queues")) {
  registry.add("storage.requests", "requests", "read commands the flash storage completed",
               &requests_);
  registry.add("storage.sequential_requests", "requests",
               "read commands that began where the one before ended", &sequential_);
  registry.add("storage.random_requests", "requests", "all other read commands", &random_);
  registry.add("storage.read_bytes", "bytes", "bytes read from the flash storage", &bytes_read_);
  registry.add("storage.dma_bytes", "bytes", "bytes the storage wrote to memory", &bytes_written_);
  registry.add("storage.busy_time", "ps", "time pages were on their way from the flash", &busy_ps_);
}

void FlashStorage::read(const StorageRead& read, std::function<void()> done) {
  Request request;
  request.read = read;
  request.place = pattern_.add(read.file_offset, read.bytes);
  request.done = std::move(done);
  ++(request.place.sequential ? sequential_ : random_);
  const auto shortest =
      std::min_element(queues_.begin(), queues_.end(),
                       [](const Queue& a, const Queue& b) { return a.size() < b.size(); });
  shortest->push_back(std::move(request));
  enter(&*shortest);
}

/// Commands enter the device's queue while it has room.
void FlashStorage::enter(Queue* queue) {
  for (std::size_t i = 0; i < std::min(queue_depth_, queue->size()); ++i) {
    Request& request = (*queue)[i];
    if (request.entered) continue;
    request.entered = true;
    request.ready = Agenda::now() + command_latency_;
    agenda_.after(command_latency_, [this, queue] { fetch_page(queue); });
  }
}

/// Takes the next page off the flash, unless one is coming or memory lags behind.
void FlashStorage::fetch_page(Queue* queue) {
  if (queue->empty()) return;
  Request& request = queue->front();
  if (!request.entered || Agenda::now() < request.ready) return;
  const std::uint64_t all = request.read.bytes.count();
  if (all == 0) return page_written(queue, 0);
  if (request.page_due || request.unwritten >= buffered_pages_ || request.arrived == all) return;
  if (request.arrived == 0) {
    request.bandwidth =
        timing_.bandwidth(request.place, request.read.bytes, std::min(queue_depth_, queue->size()));
  }
  const std::uint64_t bytes = std::min(page_bytes, all - request.arrived);
  const Picoseconds start = std::max(Agenda::now(), device_free_);
  const Picoseconds length = duration(bytes, request.bandwidth);
  device_free_ = start + length;
  busy_ps_ += length.count();
  request.page_due = true;
  agenda_.after(device_free_ - Agenda::now(), [this, queue, bytes] { page_arrived(queue, bytes); });
}

void FlashStorage::page_arrived(Queue* queue, std::uint64_t bytes) {
  Request& request = queue->front();
  const Address destination = request.read.destination + Bytes(request.arrived);
  request.arrived += bytes;
  request.page_due = false;
  ++request.unwritten;
  bytes_read_ += bytes;
  port_.submit({destination, Bytes(bytes), true}, [this, queue, bytes] {
    --queue->front().unwritten;
    page_written(queue, bytes);
  });
  fetch_page(queue);
}

void FlashStorage::page_written(Queue* queue, std::uint64_t bytes) {
  Request& request = queue->front();
  bytes_written_ += bytes;
  if (request.arrived < request.read.bytes.count() || request.unwritten > 0)
    return fetch_page(queue);
  ++requests_;
  const std::function<void()> done = std::move(request.done);
  queue->pop_front();
  enter(queue);
  fetch_page(queue);
  done();
}

bool FlashStorage::idle() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.empty(); });
}

void FlashStorage::append_waits(std::vector<Wait>* waits) const {
  for (const Queue& queue : queues_) {
    if (queue.empty()) continue;
    const Request& request = queue.front();
    Wait wait;
    wait.block = "storage queue " + std::to_string(&queue - queues_.data());
    wait.state = "a read of " + std::to_string(request.read.bytes.count()) + " B, " +
                 std::to_string(request.arrived) + " B off the flash, " +
                 std::to_string(queue.size() - 1) + " behind it";
    if (request.unwritten > 0) wait.waits_for = {"storage port"};
    waits->push_back(wait);
  }
}

Picoseconds FlashStorage::floor() const { return duration(bytes_read_, timing_.best_bandwidth()); }

void FlashStorage::append_checks(std::vector<ResultCheck>* checks) const {
  checks->push_back({"storage: bytes read = bytes written to memory by DMA",
                     static_cast<double>(bytes_read_), static_cast<double>(bytes_written_)});
  checks->push_back({"storage: requests completed = sequential + random ones",
                     static_cast<double>(requests_), static_cast<double>(sequential_ + random_)});
}

}  // namespace fm
