#pragma once
// The phone's memory objects: addresses, layouts and what they add to each memory class.

#include <cstdint>
#include <map>
#include <string>

#include "core/device_config.hpp"
#include "core/trace.pb.h"
#include "sim/memory/image_layout.hpp"
#include "sim/replay/address_space.hpp"
#include "sim/replay/resident_memory.hpp"

namespace fm {

struct HeapObject {
  std::string name;
  Address address;
  Bytes bytes;      ///< as the trace asked for
  Bytes allocated;  ///< whole pages; for images with the padding of rows and tiles
  bool image = false;
  ImageLayout layout;    ///< images only
  BytesByClass dense{};  ///< `bytes` by class; padding counts with the class that holds most
};

class DeviceHeap {
 public:
  /// Objects take whole pages at allocator.buffer_alignment or image_alignment of a bounded address
  /// space. Reads mmu.page_size, allocator.*, limits.* and the texture layout.
  explicit DeviceHeap(const DeviceConfig& config);

  /// Throws UserError when the object is too large for the device, when the app's memory limit is
  /// exceeded (saying what was resident and what would fit), when the address space has no hole for
  /// it (saying whether only because it is fragmented) or when the id is in use.
  void create(const trace::CreateObject& object, Picoseconds now);
  /// Throws UserError for an object that is not there (the trace lacks a cause); so do all below.
  void release(std::uint64_t object, Picoseconds now);
  /// The object is gone for the program, its memory is not: returns the ticket for reclaim().
  std::uint64_t retire(std::uint64_t object);
  void reclaim(std::uint64_t ticket, Picoseconds now);
  /// Throws UserError when `from` holds fewer bytes of the object.
  void change_class(const trace::ChangeClass& change, Picoseconds now);
  const HeapObject& at(std::uint64_t object) const;

  /// Another repetition begins, with what is there.
  void restart(Picoseconds now);

  const ResidentMemory& resident() const { return resident_; }
  /// Holes and padding when the most memory was resident.
  const ResultFragmentation& fragmentation_at_peak() const { return fragmentation_; }

 private:
  Bytes allocated_bytes(const HeapObject& object) const;
  Address place(const HeapObject& object, Picoseconds now);
  void give_back(const HeapObject& object, Picoseconds now);
  void note_peak();
  void check_object_limits(const trace::CreateObject& object) const;
  void check_app_limit(const trace::CreateObject& object, Bytes bytes, Picoseconds now) const;
  std::string largest_objects() const;
  std::string awaiting_release() const;

  std::string device_;
  TexelLayout texels_;
  Bytes page_, app_limit_, object_limit_;
  Bytes buffer_alignment_, image_alignment_;
  std::uint64_t widest_, highest_;  // images, texels
  std::map<std::uint64_t, HeapObject> objects_;
  std::map<std::uint64_t, HeapObject> retired_;  // by ticket
  std::uint64_t tickets_ = 0;
  AddressSpace space_;
  Bytes asked_;  // bytes the trace asked for of all objects that hold memory
  Bytes peak_;
  ResultFragmentation fragmentation_;
  ResidentMemory resident_;
};

}  // namespace fm
