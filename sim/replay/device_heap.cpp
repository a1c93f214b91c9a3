#include "sim/replay/device_heap.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"
#include "sim/stats/quantity_text.hpp"

namespace fm {
namespace {

constexpr std::uint64_t address_space = std::uint64_t{1} << 40;

/// Allocated bytes by class: the object's padding counts with the class that holds most of it.
BytesByClass allocated_by_class(const HeapObject& object) {
  BytesByClass bytes = object.dense;
  *std::max_element(bytes.begin(), bytes.end()) += object.allocated.count() - object.bytes.count();
  return bytes;
}

}  // namespace

DeviceHeap::DeviceHeap(const DeviceConfig& config)
    : device_(config.name()),
      texels_(TexelLayout::from(config)),
      page_(config.bytes("mmu.page_size")),
      app_limit_(config.bytes("limits.app_memory")),
      object_limit_(config.bytes("limits.max_allocation")),
      widest_(config.count("limits.image_width")),
      highest_(config.count("limits.image_height")) {
  free_[0] = address_space;
}

void DeviceHeap::create(const trace::CreateObject& given, Picoseconds now) {
  check_object_limits(given);
  HeapObject object;
  object.name = given.name();
  object.bytes = Bytes(given.bytes());
  object.image = given.image();
  if (object.image) {
    object.layout = ImageLayout(texels_, given.width(), given.height(), given.texel_bytes());
  }
  const Bytes needed =
      object.image ? std::max(object.layout.allocated_bytes(), object.bytes) : object.bytes;
  object.allocated = round_up(std::max(needed, Bytes(1)), page_);
  object.dense[static_cast<std::size_t>(given.memory_class())] = given.bytes();
  check_app_limit(given, object.allocated, now);
  object.address = allocate(object.allocated);
  if (!objects_.emplace(given.object(), object).second) {
    throw UserError("the trace creates object " + std::to_string(given.object()) + " twice");
  }
  resident_.add(given.memory_class(), object.allocated, now);
}

void DeviceHeap::check_object_limits(const trace::CreateObject& object) const {
  if (Bytes(object.bytes()) > object_limit_) {
    throw UserError("`" + object.name() + "` of " + text_of(Bytes(object.bytes())) +
                    " is too large for one object on " + device_ + ": at most " +
                    text_of(object_limit_) + " (limits.max_allocation)");
  }
  if (!object.image()) return;
  const std::uint32_t texel = object.texel_bytes();
  if (texel == 0 || texel > 16 || (texel & (texel - 1)) != 0) {
    throw UserError("image `" + object.name() + "` has texels of " + std::to_string(texel) +
                    " bytes; images of 1, 2, 4, 8 and 16 bytes a texel can be simulated");
  }
  if (object.width() > widest_ || object.height() > highest_) {
    throw UserError("image `" + object.name() + "` of " + std::to_string(object.width()) + " x " +
                    std::to_string(object.height()) + " texels is too large for " + device_ +
                    ": at most " + std::to_string(widest_) + " x " + std::to_string(highest_) +
                    " (limits.image_width, limits.image_height); plan for this device");
  }
}

void DeviceHeap::check_app_limit(const trace::CreateObject& object, Bytes bytes,
                                 Picoseconds now) const {
  if (resident_.total() + bytes <= app_limit_) return;
  throw UserError("out of memory on " + device_ + " at " + text_of(to_nanoseconds(now)) + ": `" +
                  object.name() + "` needs " + text_of(bytes) + " (" +
                  to_string(object.memory_class()) + "), an app may hold " + text_of(app_limit_) +
                  " (limits.app_memory) and held " + text_of(resident_.total()) + ": " +
                  resident_.description() +
                  ". Stream more of the weights, or raise the limit with --set");
}

void DeviceHeap::release(std::uint64_t id, Picoseconds now) {
  const HeapObject& object = at(id);
  const BytesByClass bytes = allocated_by_class(object);
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    if (bytes[i] > 0) resident_.remove(static_cast<trace::MemoryClass>(i), Bytes(bytes[i]), now);
  }
  deallocate(object.address, object.allocated);
  objects_.erase(id);
}

void DeviceHeap::change_class(const trace::ChangeClass& change, Picoseconds now) {
  at(change.object());  // refuses unknown objects
  HeapObject& object = objects_[change.object()];
  std::uint64_t& from = object.dense[static_cast<std::size_t>(change.from())];
  if (from < change.bytes()) {
    throw UserError("the trace moves " + std::to_string(change.bytes()) + " bytes of `" +
                    object.name + "` out of " + to_string(change.from()) + ", which holds " +
                    std::to_string(from));
  }
  const BytesByClass before = allocated_by_class(object);
  from -= change.bytes();
  object.dense[static_cast<std::size_t>(change.to())] += change.bytes();
  resident_.move(before, allocated_by_class(object), now);
}

const HeapObject& DeviceHeap::at(std::uint64_t object) const {
  const auto found = objects_.find(object);
  if (found == objects_.end()) {
    throw UserError("the trace uses object " + std::to_string(object) +
                    " when the replay has not created it or released it already: a cause is "
                    "missing in the trace");
  }
  return found->second;
}

/// First fit, lowest address.
Address DeviceHeap::allocate(Bytes bytes) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second < bytes.count()) continue;
    const auto [address, available] = *range;
    free_.erase(range);
    if (available > bytes.count()) free_[address + bytes.count()] = available - bytes.count();
    return Address(address);
  }
  throw UserError("the simulated address space is exhausted");
}

void DeviceHeap::deallocate(Address address, Bytes bytes) {
  auto range = free_.emplace(address.count(), bytes.count()).first;
  const auto next = std::next(range);
  if (next != free_.end() && range->first + range->second == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return;
  const auto previous = std::prev(range);
  if (previous->first + previous->second == range->first) {
    previous->second += range->second;
    free_.erase(range);
  }
}

}  // namespace fm
