#pragma once
// The host program's threads: each executes its operations one after the other.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "core/trace.pb.h"
#include "sim/memory/memory_system.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/replay/command_queues.hpp"
#include "sim/replay/deferred_release.hpp"
#include "sim/replay/host_cpu.hpp"
#include "sim/storage/flash_storage.hpp"

namespace fm {

/// What host threads act upon.
struct HostWorld {
  const DeviceConfig& config;
  Agenda& agenda;
  DeviceHeap& heap;
  MemorySystem& memory;
  FlashStorage& storage;
  CommandQueues& queues;
  HostCpu& cpu;
  DeferredRelease& releases;
  CompletionBoard& board;
  RunLog& log;
};

/// One thread. Host operations block it until their causes and then they themselves are complete;
/// launches and copies take host.enqueue_overhead and go to their queue; returns of ring bytes pass
/// at once.
class HostThread {
 public:
  HostThread(const HostWorld& world, std::uint32_t number) : world_(world), number_(number) {}

  void add(const trace::HostOperation& operation) {
    operations_.push_back(&operation);
    reads_ = reads_ || operation.has_disk_read();
  }
  void start() { next(); }
  bool ended() const { return position_ == operations_.size(); }
  /// "thread 0" or "thread 1"; for a thread that has not ended.
  Wait wait() const;

 private:
  void next();
  void execute(const trace::HostOperation& operation);
  void finish_after(Picoseconds delay);
  void finish();
  void create(const trace::CreateObject& object);
  void read_request(const trace::DiskRead& read, std::uint64_t done_bytes);
  void request_read(const trace::DiskRead& read, Bytes bytes, std::uint64_t done_bytes);
  void ask_for_range(const trace::DiskRead& read, int index);
  void take_ranges(const trace::DiskRead& read);
  void copy_from_page_cache(Address destination, Bytes bytes, std::function<void()> done);
  void transfer(const trace::HostTransfer& transfer);
  void maintain_caches(std::uint64_t object, Bytes bytes);
  void think(const trace::Think& think);
  std::string lane(const trace::HostOperation& operation) const;

  HostWorld world_;
  std::uint32_t number_;
  std::vector<const trace::HostOperation*> operations_;
  std::size_t position_ = 0;
  bool reads_ = false;  // from disk
  Picoseconds started_;
  // Of a scattered read
  std::deque<Address> arrived_;  // ranges not yet taken
  int ranges_left_ = 0;          // to be taken
  bool awaits_range_ = false;
};

/// Ring bytes return to staging when what used them is complete, whichever thread noted it and
/// whenever that got to it: from then on a reader can have them. To be called before any thread
/// starts; both arguments outlive the run.
void watch_returns(const HostWorld& world, const std::vector<trace::HostOperation>& operations);

/// Where a wait names an operation of the trace, it names the thread or queue that executes it
/// instead.
void name_executors(const std::vector<trace::HostOperation>& operations, std::vector<Wait>* waits);

/// All threads of a trace, main first.
std::vector<HostThread> host_threads(const HostWorld& world,
                                     const std::vector<trace::HostOperation>& operations);

}  // namespace fm
