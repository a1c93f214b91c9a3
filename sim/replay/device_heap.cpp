#include "sim/replay/device_heap.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"
#include "sim/stats/quantity_text.hpp"

namespace fm {
namespace {

constexpr std::size_t objects_named = 5;

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
      buffer_alignment_(std::max(page_, config.bytes("allocator.buffer_alignment"))),
      image_alignment_(std::max(page_, config.bytes("allocator.image_alignment"))),
      widest_(config.count("limits.image_width")),
      highest_(config.count("limits.image_height")),
      space_(config.bytes("allocator.address_space"),
             config.word("allocator.placement") == "best_fit" ? HoleChoice::best_fit
                                                              : HoleChoice::first_fit) {}

void DeviceHeap::create(const trace::CreateObject& given, Picoseconds now) {
  check_object_limits(given);
  HeapObject object;
  object.name = given.name();
  object.bytes = Bytes(given.bytes());
  object.image = given.image();
  if (object.image) {
    object.layout = ImageLayout(texels_, given.width(), given.height(), given.texel_bytes());
  }
  object.allocated = allocated_bytes(object);
  object.dense[static_cast<std::size_t>(given.memory_class())] = given.bytes();
  check_app_limit(given, object.allocated, now);
  object.address = place(object, now);
  if (!objects_.emplace(given.object(), object).second) {
    throw UserError("the trace creates object " + std::to_string(given.object()) + " twice");
  }
  asked_ += object.bytes;
  resident_.add(given.memory_class(), object.allocated, now);
  note_peak();
}

Bytes DeviceHeap::allocated_bytes(const HeapObject& object) const {
  const Bytes needed =
      object.image ? std::max(object.layout.allocated_bytes(), object.bytes) : object.bytes;
  return round_up(std::max(needed, Bytes(1)), page_);
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
  const Bytes total = resident_.total();
  if (total + bytes <= app_limit_) return;
  throw UserError("out of memory on " + device_ + " at " + text_of(to_nanoseconds(now)) + ": `" +
                  object.name() + "` needs " + text_of(bytes) + " (" +
                  to_string(object.memory_class()) + "), an app may hold " + text_of(app_limit_) +
                  " (limits.app_memory) and held " + text_of(total) + ": " +
                  resident_.description() + "; " + text_of(app_limit_ - total) +
                  " would still fit" + awaiting_release() + largest_objects() +
                  ". Stream more of the weights, or raise the limit with --set");
}

std::string DeviceHeap::awaiting_release() const {
  Bytes bytes;
  for (const auto& [ticket, object] : retired_) bytes += object.allocated;
  if (bytes == Bytes(0)) return "";
  return "; " + text_of(bytes) + " of it released but not yet given back (allocator.release)";
}

std::string DeviceHeap::largest_objects() const {
  std::vector<const HeapObject*> objects;
  for (const auto& [id, object] : objects_) objects.push_back(&object);
  std::stable_sort(objects.begin(), objects.end(), [](const HeapObject* a, const HeapObject* b) {
    return a->allocated > b->allocated;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(objects_named, objects.size()); ++i) {
    text += (i == 0 ? "; the largest objects: `" : ", `") + objects[i]->name + "` " +
            text_of(objects[i]->allocated);
  }
  return text;
}

void DeviceHeap::release(std::uint64_t id, Picoseconds now) { reclaim(retire(id), now); }

std::uint64_t DeviceHeap::retire(std::uint64_t id) {
  at(id);  // refuses unknown objects
  auto node = objects_.extract(id);
  retired_.emplace(tickets_, std::move(node.mapped()));
  return tickets_++;
}

void DeviceHeap::reclaim(std::uint64_t ticket, Picoseconds now) {
  give_back(retired_.at(ticket), now);
  retired_.erase(ticket);
}

void DeviceHeap::give_back(const HeapObject& object, Picoseconds now) {
  const BytesByClass bytes = allocated_by_class(object);
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    if (bytes[i] > 0) resident_.remove(static_cast<trace::MemoryClass>(i), Bytes(bytes[i]), now);
  }
  space_.free(object.address, object.allocated);
  asked_ -= object.bytes;
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

Address DeviceHeap::place(const HeapObject& object, Picoseconds now) {
  const Bytes alignment = object.image ? image_alignment_ : buffer_alignment_;
  if (const auto address = space_.allocate(object.allocated, alignment)) return *address;
  const bool fragmented = object.allocated <= space_.free_bytes();
  throw UserError("no address for `" + object.name + "` on " + device_ + " at " +
                  text_of(to_nanoseconds(now)) + ": it needs " + text_of(object.allocated) +
                  " in one piece, and " + text_of(space_.free_bytes()) +
                  " of allocator.address_space are free" +
                  (fragmented ? ", but only because of fragmentation it does not fit: the largest "
                                "hole is " +
                                    text_of(space_.largest_hole())
                              : "") +
                  ". Resident: " + resident_.description() + largest_objects());
}

void DeviceHeap::restart(Picoseconds now) {
  resident_.restart(now);
  peak_ = Bytes(0);
  note_peak();
}

void DeviceHeap::note_peak() {
  const Bytes total = resident_.total();
  if (total <= peak_) return;
  peak_ = total;
  fragmentation_.padding = total - asked_;
  fragmentation_.free = space_.free_bytes();
  fragmentation_.largest_hole = space_.largest_hole();
}

}  // namespace fm
