#pragma once
// The phone's memory objects: addresses, layouts and what they add to each memory class.

#include <cstdint>
#include <map>
#include <string>

#include "core/device_config.hpp"
#include "core/trace.pb.h"
#include "sim/memory/image_layout.hpp"
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
  /// Objects take whole pages. Reads mmu.page_size, limits.* and the texture layout.
  explicit DeviceHeap(const DeviceConfig& config);

  /// Throws UserError when the object is too large for the device, when the app's memory limit is
  /// exceeded (saying what was resident) or when the id is in use.
  void create(const trace::CreateObject& object, Picoseconds now);
  /// Throws UserError for an object that is not there (the trace lacks a cause); so do all below.
  void release(std::uint64_t object, Picoseconds now);
  /// Throws UserError when `from` holds fewer bytes of the object.
  void change_class(const trace::ChangeClass& change, Picoseconds now);
  const HeapObject& at(std::uint64_t object) const;

  const ResidentMemory& resident() const { return resident_; }

 private:
  Address allocate(Bytes bytes);
  void deallocate(Address address, Bytes bytes);
  void check_object_limits(const trace::CreateObject& object) const;
  void check_app_limit(const trace::CreateObject& object, Bytes bytes, Picoseconds now) const;

  std::string device_;
  TexelLayout texels_;
  Bytes page_, app_limit_, object_limit_;
  std::uint64_t widest_, highest_;  // images, texels
  std::map<std::uint64_t, HeapObject> objects_;
  std::map<std::uint64_t, std::uint64_t> free_;  // address -> bytes, coalesced
  ResidentMemory resident_;
};

}  // namespace fm
