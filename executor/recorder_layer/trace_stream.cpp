#include "executor/recorder_layer/trace_stream.hpp"

#include <cerrno>
#include <cstring>

#include "core/diagnostics.hpp"

namespace fm {

TraceStream::TraceStream(const std::string& path) : path_(path) {
  file_.open(path, std::ios::binary | std::ios::trunc);
  if (!file_) throw UserError({path}, std::string("cannot be written: ") + std::strerror(errno));
}

void TraceStream::add(const trace::AccessProgram& program) {
  if (!writer_) write_header({});
  writer_->add(program);
  check_written();
}

std::uint64_t TraceStream::add(trace::HostOperation operation, bool open) {
  operation.set_id(next_id_);
  entries_.push_back({std::move(operation), open});
  if (!open) write_closed();
  return next_id_++;
}

TraceStream::Entry* TraceStream::find(std::uint64_t id) {
  const std::uint64_t from_the_end = next_id_ - id;
  if (from_the_end > entries_.size()) return nullptr;
  return &entries_[entries_.size() - from_the_end];
}

trace::HostOperation* TraceStream::open_operation(std::uint64_t id) {
  Entry* const entry = find(id);
  return entry == nullptr || !entry->open ? nullptr : &entry->operation;
}

void TraceStream::close(std::uint64_t id) {
  if (Entry* const entry = find(id)) entry->open = false;
  write_closed();
}

void TraceStream::write_closed() {
  if (!writer_) return;
  while (!entries_.empty() && !entries_.front().open) {
    writer_->add(std::move(entries_.front().operation));
    entries_.pop_front();
  }
  check_written();
}

void TraceStream::check_written() {
  if (!file_) throw DeviceError("writing " + path_ + " failed; is the disk full?");
}

void TraceStream::finish() {
  for (Entry& entry : entries_) {
    if (entry.open) leave_out("ends of commands that still ran when the program ended");
    entry.open = false;
  }
  if (!writer_) write_header({});
  write_closed();
  for (const auto& [what, times] : left_out_) writer_->leave_out(what, times);
  writer_->finish();
  writer_.reset();
  file_.close();
  check_written();
}

}  // namespace fm
