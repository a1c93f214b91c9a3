#include "sim/replay/host_threads.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fm {
namespace {

Picoseconds duration(Bytes bytes, double bytes_per_second) {
  return Picoseconds(static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(bytes.count()) / bytes_per_second * 1e12)));
}

std::string name_of(const trace::HostOperation& operation) {
  switch (operation.operation_case()) {
    case trace::HostOperation::kCreate:
      return "create " + operation.create().name();
    case trace::HostOperation::kRelease:
      return "release";
    case trace::HostOperation::kDiskRead:
      return "read " + operation.disk_read().weight();
    case trace::HostOperation::kMap:
      return "map";
    case trace::HostOperation::kUnmap:
      return "unmap";
    case trace::HostOperation::kCopy:
      return "enqueue copy " + operation.copy().launch();
    case trace::HostOperation::kLaunch:
      return "enqueue launch " + operation.launch().launch();
    case trace::HostOperation::kWait:
      return "wait";
    case trace::HostOperation::kThink:
      return operation.think().phase() == trace::Think::CONTEXT    ? "create context"
             : operation.think().phase() == trace::Think::PROGRAMS ? "load programs"
                                                                   : "think";
    case trace::HostOperation::kChangeClass:
      return "change class";
    case trace::HostOperation::kTransfer:
      return operation.transfer().to_device() ? "write input" : "read output";
    case trace::HostOperation::OPERATION_NOT_SET:
      break;
  }
  return "nothing";
}

bool returns_to_staging(const trace::HostOperation& operation) {
  return operation.has_change_class() && operation.change_class().to() == trace::STAGING &&
         operation.after_size() > 0;
}

}  // namespace

void watch_returns(const HostWorld& world, const std::vector<trace::HostOperation>& operations) {
  for (const trace::HostOperation& operation : operations) {
    if (!returns_to_staging(operation)) continue;
    world.board.when_complete(operation.after(), [&world, &operation] {
      world.heap.change_class(operation.change_class(), Agenda::now());
      world.board.finish(operation.id());
    });
  }
}

void HostThread::next() {
  while (!ended() && returns_to_staging(*operations_[position_])) ++position_;
  if (ended()) return;
  const trace::HostOperation& operation = *operations_[position_];
  const bool command = operation.has_launch() || operation.has_copy();
  if (command) return execute(operation);
  // Through the agenda: completions must not nest as deep as the program is long.
  world_.board.when_complete(operation.after(), [this, &operation] {
    world_.agenda.after(Picoseconds(0), [this, &operation] { execute(operation); });
  });
}

void HostThread::execute(const trace::HostOperation& operation) {
  started_ = Agenda::now();
  switch (operation.operation_case()) {
    case trace::HostOperation::kCreate:
      return create(operation.create());
    case trace::HostOperation::kRelease:
      world_.releases.release(operation.release().object());
      return finish_after(Picoseconds(0));
    case trace::HostOperation::kDiskRead:
      if (operation.disk_read().scattered_size() > 0)
        return ask_for_range(operation.disk_read(), 0);
      return read_request(operation.disk_read(), 0);
    case trace::HostOperation::kMap:
      return maintain_caches(operation.map().object(), Bytes(operation.map().bytes()));
    case trace::HostOperation::kUnmap:
      return maintain_caches(operation.unmap().object(), Bytes(operation.unmap().bytes()));
    case trace::HostOperation::kLaunch:
    case trace::HostOperation::kCopy:
      return finish_after(world_.config.time("host.enqueue_overhead"));
    case trace::HostOperation::kThink:
      return think(operation.think());
    case trace::HostOperation::kChangeClass:
      world_.heap.change_class(operation.change_class(), started_);
      return finish_after(Picoseconds(0));
    case trace::HostOperation::kTransfer:
      return transfer(operation.transfer());
    case trace::HostOperation::kWait:
    case trace::HostOperation::OPERATION_NOT_SET:
      return finish_after(Picoseconds(0));
  }
}

void HostThread::finish_after(Picoseconds delay) {
  world_.cpu.work(delay, [this] { finish(); });
}

void HostThread::finish() {
  const trace::HostOperation& operation = *operations_[position_];
  const Picoseconds now = Agenda::now();
  world_.log.end = std::max(world_.log.end, now);
  if (now > started_) {
    world_.log.intervals.push_back({lane(operation), name_of(operation), started_, now});
  }
  ++position_;
  if (operation.has_launch() || operation.has_copy()) {
    world_.queues.enqueue(operation);
  } else {
    world_.board.finish(operation.id());
  }
  next();
}

void HostThread::create(const trace::CreateObject& object) {
  world_.heap.create(object, started_);
  world_.cpu.allocate(world_.heap.at(object.object()), [this] { finish(); });
}

/// One request after the other, as a thread that calls pread does: the CPU's part of each, then the
/// storage's.
void HostThread::read_request(const trace::DiskRead& read, std::uint64_t done_bytes) {
  if (done_bytes >= read.bytes()) return finish_after(Picoseconds(0));
  const Bytes bytes(std::min(read.request_bytes(), read.bytes() - done_bytes));
  world_.cpu.work(world_.config.time("host.disk_request_cpu"),
                  [this, &read, bytes, done_bytes] { request_read(read, bytes, done_bytes); });
}

/// Without O_DIRECT the CPU then copies the bytes out of the page cache.
void HostThread::request_read(const trace::DiskRead& read, Bytes bytes, std::uint64_t done_bytes) {
  const Address destination =
      world_.heap.at(read.object()).address + Bytes(read.object_offset() + done_bytes);
  const auto next = [this, &read, bytes, done_bytes] {
    read_request(read, done_bytes + bytes.count());
  };
  world_.storage.read({read.file_offset() + done_bytes, destination, bytes},
                      [this, &read, bytes, destination, next] {
                        if (read.direct()) return next();
                        copy_from_page_cache(destination, bytes, next);
                      });
}

/// The storage serves ranges together, as many as its queue holds, while the CPU asks for more; it
/// takes them in the order they arrive.
void HostThread::ask_for_range(const trace::DiskRead& read, int index) {
  world_.cpu.work(world_.config.time("host.disk_request_cpu"), [this, &read, index] {
    const trace::ScatteredRange& range = read.scattered(index);
    const Address destination =
        world_.heap.at(read.object()).address + Bytes(range.object_offset());
    world_.storage.read({range.file_offset(), destination, Bytes(read.request_bytes())},
                        [this, &read, destination] {
                          arrived_.push_back(destination);
                          if (!std::exchange(awaits_range_, false)) return;
                          take_ranges(read);
                        });
    if (index + 1 < read.scattered_size()) return ask_for_range(read, index + 1);
    ranges_left_ = read.scattered_size();
    take_ranges(read);
  });
}

void HostThread::take_ranges(const trace::DiskRead& read) {
  if (ranges_left_ == 0) return finish();
  if (arrived_.empty()) {
    awaits_range_ = true;
    return;
  }
  --ranges_left_;
  const Address destination = arrived_.front();
  arrived_.pop_front();
  copy_from_page_cache(destination, Bytes(read.request_bytes()),
                       [this, &read] { take_ranges(read); });
}

void HostThread::copy_from_page_cache(Address destination, Bytes bytes,
                                      std::function<void()> done) {
  world_.cpu.move({{destination, bytes, false}, {destination, bytes, true}},
                  world_.config.bytes_per_second("host.transfer_bandwidth"), std::move(done));
}

/// The CPU's copy between its own memory and the object.
void HostThread::transfer(const trace::HostTransfer& transfer) {
  const HeapObject& object = world_.heap.at(transfer.object());
  world_.cpu.move(
      {{object.address + Bytes(transfer.offset()), Bytes(transfer.bytes()), transfer.to_device()}},
      world_.config.bytes_per_second("host.transfer_bandwidth"), [this] { finish(); });
}

/// Map and unmap: the driver writes back and invalidates the range.
void HostThread::maintain_caches(std::uint64_t object, Bytes bytes) {
  world_.memory.invalidate(world_.heap.at(object).address, bytes);
  finish_after(world_.config.time("host.map_overhead") +
               duration(bytes, world_.config.bytes_per_second("host.cache_maintenance_bandwidth")));
}

/// Only a start-up's phases cost time, and the config's: what the recording machine's host did
/// between operations is a fact about that machine.
void HostThread::think(const trace::Think& think) {
  Picoseconds cost;
  if (think.phase() == trace::Think::CONTEXT) cost = world_.config.time("host.context_creation");
  if (think.phase() == trace::Think::PROGRAMS)
    cost = world_.config.time("host.program_load") * think.programs();
  world_.log.startup += cost;
  finish_after(cost);
}

std::string HostThread::lane(const trace::HostOperation& operation) const {
  if (operation.has_disk_read()) return "disk";
  return number_ == 0 || operation.has_think() || !reads_ ? "host" : "reader";
}

Wait HostThread::wait() const {
  const trace::HostOperation& operation = *operations_[position_];
  Wait wait;
  wait.block = "thread " + std::to_string(number_);
  wait.state = "operation " + std::to_string(operation.id()) + " (" + name_of(operation) + ")";
  // Commands are enqueued whether their causes are complete or not.
  const bool command = operation.has_launch() || operation.has_copy();
  if (!command) wait.waits_for = world_.board.missing(operation.after());
  if (!wait.waits_for.empty()) return wait;
  if (operation.has_disk_read()) wait.waits_for = {"storage queue"};
  if (operation.has_transfer()) wait.waits_for = {"host port"};
  return wait;
}

void name_executors(const std::vector<trace::HostOperation>& operations, std::vector<Wait>* waits) {
  std::map<std::string, std::string> executors;
  for (const trace::HostOperation& operation : operations) {
    const std::string executor =
        operation.has_launch() ? "queue " + std::to_string(operation.launch().queue())
        : operation.has_copy() ? "queue " + std::to_string(operation.copy().queue())
                               : "thread " + std::to_string(operation.thread());
    executors["operation " + std::to_string(operation.id())] = executor;
  }
  for (Wait& wait : *waits) {
    for (std::string& name : wait.waits_for) {
      const auto executor = executors.find(name);
      if (executor == executors.end()) continue;
      wait.state += ", " + name + " missing";
      name = executor->second;
    }
  }
}

std::vector<HostThread> host_threads(const HostWorld& world,
                                     const std::vector<trace::HostOperation>& operations) {
  std::map<std::uint32_t, HostThread> by_number;
  for (const trace::HostOperation& operation : operations) {
    by_number.try_emplace(operation.thread(), world, operation.thread())
        .first->second.add(operation);
  }
  std::vector<HostThread> threads;
  for (auto& [number, thread] : by_number) threads.push_back(std::move(thread));
  return threads;
}

}  // namespace fm
