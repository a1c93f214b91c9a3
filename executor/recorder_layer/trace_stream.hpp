#pragma once
// Host operations on their way into a trace file, while the program that makes them runs on.

#include <cstdint>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "core/trace_file.hpp"

namespace fm {

/// Numbers operations and writes each once it and all before it are complete: what is not known
/// when a call returns (the device's times) is filled in later. Not thread-safe.
class TraceStream {
 public:
  /// Throws UserError when the file cannot be written.
  explicit TraceStream(const std::string& path);

  /// Before the first operation.
  void write_header(const trace::Header& header) { writer_.emplace(file_, header); }
  bool has_header() const { return writer_.has_value(); }

  /// Written at once: before the launches that are still open.
  void add(const trace::AccessProgram& program);
  /// Returns its id. It is written when closed, or at once.
  std::uint64_t add(trace::HostOperation operation, bool open = false);
  /// Null when it is closed: the file may be finished while commands run.
  trace::HostOperation* open_operation(std::uint64_t id);
  void close(std::uint64_t id);
  void leave_out(const std::string& what, std::uint64_t times = 1) { left_out_[what] += times; }
  /// Closes what is open and ends the file.
  void finish();

 private:
  struct Entry {
    trace::HostOperation operation;
    bool open;
  };
  Entry* find(std::uint64_t id);
  void write_closed();
  void check_written();

  const std::string path_;
  std::ofstream file_;
  std::optional<TraceWriter> writer_;
  std::deque<Entry> entries_;  // ids next_id_ - entries_.size() ..
  std::uint64_t next_id_ = 1;
  std::map<std::string, std::uint64_t> left_out_;
};

}  // namespace fm
