#include "sim/replay/repetition.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace fm {
namespace {

/// What outlives a run.
class KeptObjects {
 public:
  explicit KeptObjects(const Trace& trace) {
    for (const auto& operation : trace.operations) {
      if (operation.has_create()) {
        ids_.insert(operation.create().object());
        if (operation.create().memory_class() == trace::PRELOADED) {
          preloaded_.insert(operation.create().object());
        }
      }
      if (operation.has_release()) {
        ids_.erase(operation.release().object());
        preloaded_.erase(operation.release().object());
      }
    }
  }
  bool has(std::uint64_t object) const { return ids_.count(object) != 0; }
  bool is_preloaded(std::uint64_t object) const { return preloaded_.count(object) != 0; }

 private:
  std::set<std::uint64_t> ids_, preloaded_;
};

/// Whether what `read` reads only fills a kept object: it lies there, or the next copy that reads
/// those bytes brings it there.
bool fills_kept(const trace::DiskRead& read, const KeptObjects& kept,
                const std::vector<trace::HostOperation>& operations, std::size_t next) {
  if (kept.is_preloaded(read.object())) return true;
  const std::uint64_t first = read.object_offset(), last = first + read.bytes();
  for (; next < operations.size(); ++next) {
    const trace::Copy& copy = operations[next].copy();
    if (!operations[next].has_copy() || copy.source() != read.object()) continue;
    if (copy.source_offset() >= last || copy.source_offset() + copy.bytes() <= first) continue;
    return kept.is_preloaded(copy.destination());
  }
  return false;
}

}  // namespace

Trace warm_repetition(const Trace& trace) {
  const KeptObjects kept(trace);
  Trace warm = trace;
  std::map<std::uint32_t, trace::HostOperation*> map_before;  // by thread, not yet read into
  std::set<std::uint32_t> unmap_next;                         // threads whose read was dropped
  for (std::size_t i = 0; i < warm.operations.size(); ++i) {
    trace::HostOperation& operation = warm.operations[i];
    const std::uint32_t thread = operation.thread();
    bool drop = false;
    if (operation.has_create()) drop = kept.has(operation.create().object());
    if (operation.has_think()) drop = operation.think().phase() != trace::Think::OTHER;
    if (operation.has_copy()) drop = kept.is_preloaded(operation.copy().destination());
    if (operation.has_map()) map_before[thread] = &operation;
    if (operation.has_disk_read()) {
      drop = fills_kept(operation.disk_read(), kept, trace.operations, i + 1);
      const auto map = map_before.find(thread);
      if (drop && map != map_before.end()) {
        map->second->mutable_wait();
        unmap_next.insert(thread);
      }
      map_before.erase(thread);
    }
    if (operation.has_unmap()) drop = unmap_next.erase(thread) != 0;
    if (drop) operation.mutable_wait();
  }
  return warm;
}

}  // namespace fm
