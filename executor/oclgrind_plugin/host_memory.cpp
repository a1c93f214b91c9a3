#include "executor/oclgrind_plugin/host_memory.hpp"

#include <core/Memory.h>

#include <atomic>
#include <utility>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr std::size_t offset_mask = (std::size_t{1} << 48) - 1;
/// Bounds what is held back for objects that may turn out to be images.
constexpr std::uint64_t most_waiting = 1 << 16;

/// Contexts number their buffers alike, and numbers are used again: handles are not.
template <class Handle>
Handle new_handle() {
  static std::atomic<std::uintptr_t> last{0};
  return reinterpret_cast<Handle>(++last);  // NOLINT(performance-no-int-to-ptr): a name only
}

std::size_t beginning(std::size_t address) { return address & ~offset_mask; }

}  // namespace

HostMemory::HostMemory(ApiRecorder& recorder)
    : recorder_(recorder), queue_(new_handle<cl_command_queue>()) {
  recorder_.add_queue(queue_, {});
}

cl_mem HostMemory::handle(std::size_t address) const {
  const auto found = handles_.find(beginning(address));
  return found == handles_.end() ? nullptr : found->second;
}

void HostMemory::allocated(std::size_t address, std::uint64_t bytes, bool filled) {
  flush();
  const cl_mem made = new_handle<cl_mem>();
  CreatedObject created;
  created.bytes = bytes;
  created.undecided = true;
  handles_[address] = made;
  ids_[made] = recorder_.add_object(made, created, filled, recorder_.now());
  undecided_[made] = created;
}

void HostMemory::freed(std::size_t address) {
  flush();
  const auto found = handles_.find(beginning(address));
  if (found == handles_.end()) return;
  decide(found->second, std::nullopt);
  recorder_.destroyed(ids_.at(found->second));
  ids_.erase(found->second);
  handles_.erase(found);
}

void HostMemory::load(const oclgrind::Memory& memory, std::size_t address, std::uint64_t bytes) {
  Transfer piece;
  piece.object = handle(address);
  piece.offset = address & offset_mask;
  piece.bytes = piece.last_bytes = bytes;
  piece.data = static_cast<const std::uint8_t*>(memory.getPointer(address));
  add(piece);
}

void HostMemory::store(const oclgrind::Memory&, std::size_t address, std::uint64_t bytes,
                       const std::uint8_t* data) {
  Transfer piece;
  piece.object = handle(address);
  piece.offset = address & offset_mask;
  piece.bytes = piece.last_bytes = bytes;
  piece.data = data;
  piece.to_device = true;
  const bool copies = pending_ && !pending_->to_device && pending_->pieces == 1 &&
                      pending_->data == data && pending_->bytes == bytes;
  if (copies && undecided_.count(piece.object) == 0) {
    piece.from = recorder_.memory(pending_->object);
    if (piece.from) piece.from->offset += pending_->offset;
    pending_.reset();
  }
  add(piece);
}

/// A row of a box, a pattern once more, or something else.
void HostMemory::add(const Transfer& piece) {
  if (piece.object == nullptr) return;
  const bool continues = pending_ && pending_->object == piece.object &&
                         pending_->to_device == piece.to_device && !pending_->from && !piece.from &&
                         pending_->offset + pending_->bytes == piece.offset;
  if (continues) {
    pending_->same_data = pending_->same_data && pending_->data == piece.data;
    pending_->bytes += piece.bytes;
    pending_->data = piece.data;
    ++pending_->pieces;
    return;
  }
  flush();
  pending_ = piece;
  pending_->pieces = 1;
}

void HostMemory::flush() {
  if (!pending_) return;
  const Transfer transfer = *std::exchange(pending_, std::nullopt);
  const std::optional<MemoryView> object = recorder_.memory(transfer.object);
  if (!object) return;
  trace::HostOperation operation;
  const bool pattern = transfer.to_device && transfer.pieces > 1 && transfer.same_data;
  if (transfer.from || (pattern && undecided_.count(transfer.object) == 0)) {
    trace::Copy* copy = operation.mutable_copy();
    std::vector<MemoryView> uses{*object};
    if (transfer.from) {
      copy->set_source(transfer.from->object->id);
      copy->set_source_offset(transfer.from->offset);
      uses.push_back(*transfer.from);
    }
    copy->set_destination(object->object->id);
    copy->set_bytes(transfer.bytes);
    if (object->object->image) {
      const std::uint64_t row = object->width * object->element;
      copy->set_first_row(static_cast<std::uint32_t>(transfer.offset / row));
      copy->set_rows(static_cast<std::uint32_t>((transfer.bytes + row - 1) / row));
    } else {
      copy->set_destination_offset(transfer.offset);
    }
    return record(std::move(operation), CommandKind::device, uses);
  }
  trace::HostTransfer* moved = operation.mutable_transfer();
  moved->set_object(object->object->id);
  moved->set_offset(transfer.offset);
  moved->set_bytes(transfer.bytes);
  moved->set_to_device(transfer.to_device);
  record(std::move(operation), CommandKind::blocking, {*object});
}

void HostMemory::map(const oclgrind::Memory& memory, std::size_t address, std::uint64_t bytes,
                     cl_map_flags flags) {
  flush();
  const cl_mem object = handle(address);
  const std::optional<MemoryView> view = recorder_.memory(object);
  if (!view) return;
  trace::HostOperation operation;
  operation.mutable_map()->set_object(view->object->id);
  operation.mutable_map()->set_bytes(bytes);
  operation.mutable_map()->set_write((flags & CL_MAP_READ) == 0);
  record(std::move(operation), CommandKind::blocking, {*view});
  recorder_.mapped(object, memory.getPointer(address), bytes);
}

void HostMemory::unmap(std::size_t address, const void* pointer) {
  flush();
  const cl_mem object = handle(address);
  const std::optional<MemoryView> view = recorder_.memory(object);
  if (!view) return;
  trace::HostOperation operation;
  operation.mutable_unmap()->set_object(view->object->id);
  operation.mutable_unmap()->set_bytes(recorder_.unmapped(object, pointer));
  record(std::move(operation), CommandKind::deferred, {*view});
}

void HostMemory::launch(trace::Launch launch, const LaunchObjects& objects) {
  flush();
  std::vector<MemoryView> uses;
  for (const LaunchObjects::Argument& argument : objects.arguments()) {
    const cl_mem object = handle(argument.address);
    if (object == nullptr) continue;
    decide(object, argument.image);
    const std::optional<MemoryView> view = recorder_.memory(object);
    if (!view) continue;
    if (argument.image && !view->object->image) launch.set_program(0);
    uses.push_back(*view);
    trace::Argument* bound = launch.add_arguments();
    bound->set_index(argument.index);
    bound->set_object(view->object->id);
    bound->set_offset(argument.image ? 0 : argument.address & offset_mask);
  }
  if (launch.program() != 0) launch.clear_kernel();
  trace::HostOperation operation;
  *operation.mutable_launch() = std::move(launch);
  record(std::move(operation), CommandKind::device, uses);
}

void HostMemory::record(trace::HostOperation operation, CommandKind kind,
                        const std::vector<MemoryView>& uses) {
  const OperationId id =
      recorder_.begin(queue_, kind, std::move(operation), uses, nullptr, 0, recorder_.now());
  recorder_.begun(id, nullptr);
  recorder_.ended(id, std::nullopt);
  if (!undecided_.empty() && ++waiting_ > most_waiting) decide_all();
}

void HostMemory::decide(cl_mem object, const std::optional<ImageArgument>& image) {
  const auto found = undecided_.find(object);
  if (found == undecided_.end()) return;
  CreatedObject created = found->second;
  if (image) {
    const std::uint64_t bytes = image->width * image->height * image->texel_bytes;
    created.image = bytes != 0 && bytes == created.bytes;
    created.element = image->texel_bytes;
    created.width = image->width;
    created.height = image->height;
  }
  recorder_.decide(object, created);
  undecided_.erase(found);
}

void HostMemory::decide_all() {
  while (!undecided_.empty()) decide(undecided_.begin()->first, std::nullopt);
  waiting_ = 0;
}

void HostMemory::finish() {
  flush();
  decide_all();
}

}  // namespace fm
