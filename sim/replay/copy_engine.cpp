#include "sim/replay/copy_engine.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

constexpr std::uint64_t piece_bytes = 4096;
constexpr std::uint64_t pieces_in_flight = 4;

/// Bytes [first, first + size) of `total` that piece `index` of `pieces` covers.
std::pair<std::uint64_t, std::uint64_t> share(std::uint64_t total, std::uint64_t index,
                                              std::uint64_t pieces) {
  const std::uint64_t first = total / pieces * index + std::min(index, total % pieces);
  return {first, total / pieces + (index < total % pieces ? 1 : 0)};
}

}  // namespace

CopyEngine::CopyEngine(const DeviceConfig& config, MemoryPort& port, Agenda& agenda,
                       CounterRegistry& registry)
    : overhead_(config.time("host.launch_overhead")),
      bytes_per_second_(config.bytes_per_second("host.copy_bandwidth")),
      port_(port),
      agenda_(agenda) {
  registry.add("copy.copies", "copies", "copies and fills completed", &copies_);
  registry.add("copy.read_bytes", "bytes", "bytes copies read from buffers", &read_bytes_);
  registry.add("copy.written_bytes", "bytes", "bytes copies wrote, padding of images included",
               &written_bytes_);
}

void CopyEngine::copy(const CopyJob& job, std::function<void()> start, std::function<void()> done) {
  Job added;
  added.job = job;
  added.start = std::move(start);
  added.done = std::move(done);
  const Bytes paced = job.source_bytes.count() > 0 ? job.source_bytes : job.destination_bytes;
  added.pieces = ceil_div(paced.count(), piece_bytes);
  jobs_.push_back(std::move(added));
  if (jobs_.size() == 1) begin();
}

void CopyEngine::begin() {
  jobs_.front().start();
  agenda_.after(overhead_, [this] { progress(); });
}

/// Issues the next piece if it may, and ends the copy after its last one.
void CopyEngine::progress() {
  Job& job = jobs_.front();
  if (job.finished == job.pieces && !job.rate_limited) return finish();
  if (job.rate_limited || job.issued == job.pieces || job.issued - job.finished >= pieces_in_flight)
    return;
  const auto [from, from_bytes] = share(job.job.source_bytes.count(), job.issued, job.pieces);
  const auto [to, to_bytes] = share(job.job.destination_bytes.count(), job.issued, job.pieces);
  ++job.issued;
  job.rate_limited = true;
  read_bytes_ += from_bytes;
  const double seconds = static_cast<double>(std::max(from_bytes, to_bytes)) / bytes_per_second_;
  agenda_.after(Picoseconds(static_cast<std::uint64_t>(std::ceil(seconds * 1e12))), [this] {
    jobs_.front().rate_limited = false;
    progress();
  });
  const MemoryTransfer write{job.job.destination + Bytes(to), Bytes(to_bytes), true};
  const auto write_piece = [this, write] {
    port_.submit(write, [this, write] {
      written_bytes_ += write.bytes.count();
      ++jobs_.front().finished;
      progress();
    });
  };
  if (from_bytes == 0) return write_piece();
  port_.submit({job.job.source + Bytes(from), Bytes(from_bytes), false}, write_piece);
}

void CopyEngine::finish() {
  ++copies_;
  const std::function<void()> done = std::move(jobs_.front().done);
  jobs_.pop_front();
  if (!jobs_.empty()) begin();
  done();
}

void CopyEngine::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  const Job& job = jobs_.front();
  Wait wait;
  wait.block = "copy engine";
  wait.state = std::to_string(job.finished) + " of " + std::to_string(job.pieces) +
               " pieces copied, " + std::to_string(jobs_.size() - 1) + " copies behind it";
  if (job.issued > job.finished) wait.waits_for = {"copy_engine port"};
  waits->push_back(wait);
}

}  // namespace fm
