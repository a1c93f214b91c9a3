#pragma once
// Reading and writing .trace files.
//   8 bytes magic "FMTRACE\n", u32 container version (little-endian), then frames:
//   u32 compressed bytes, u32 raw bytes, u64 XXH3-64 of the compressed bytes, one zstd frame
//   holding a trace::Frame.
// The last frame is a Trailer. Streamable both ways: neither reader nor writer holds the whole
// trace.

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/atomic_file.hpp"
#include "core/trace.pb.h"

namespace fm {

/// Version 2 added launches without an access program and copies between buffers.
constexpr std::uint32_t trace_version = 2;
constexpr std::uint32_t oldest_trace_version = 1;

class TraceWriter {
 public:
  TraceWriter(const std::string& path, const trace::Header& header);
  /// Onto a stream that outlives it, frame by frame: what was written stays when the process dies.
  /// Takes less time and a little more room.
  TraceWriter(std::ostream& stream, const trace::Header& header);
  void add(const trace::AccessProgram& program);
  void add(const trace::IndexContents& contents);
  /// Buffered; written in frames of a few thousand operations.
  void add(trace::HostOperation operation);
  /// Goes into the trailer.
  void leave_out(const std::string& what, std::uint64_t times);
  /// Writes the trailer and makes the file appear.
  void finish();

 private:
  void write_start(const trace::Header& header);
  void write_frame(const trace::Frame& frame);
  void flush_operations();
  std::optional<AtomicFile> file_;
  std::ostream& stream_;
  trace::HostOperations pending_;
  trace::Trailer trailer_;
};

class TraceReader {
 public:
  /// Throws UserError: not a trace, an older or newer version (which), truncated or damaged (at
  /// which byte).
  explicit TraceReader(const std::string& path);
  const trace::Header& header() const { return header_; }
  /// The next frame after the header; false at the trailer. Throws UserError on damage or
  /// truncation.
  bool next(trace::Frame* frame);
  /// Complete once next() returned false.
  const std::map<std::string, std::uint64_t>& left_out() const { return left_out_; }

 private:
  trace::Frame read_frame();
  std::string path_;
  std::ifstream file_;
  trace::Header header_;
  trace::Trailer seen_;
  std::map<std::string, std::uint64_t> left_out_;
  bool ended_ = false;
};

/// A whole trace in memory, for tools that need it all.
struct Trace {
  trace::Header header;
  std::vector<trace::AccessProgram> programs;
  std::vector<trace::IndexContents> index_contents;
  std::vector<trace::HostOperation> operations;
  std::map<std::string, std::uint64_t> left_out;  ///< Trailer.left_out
};
/// Reads and validates: references resolve, ids ascend, programs have an id each. Throws UserError.
Trace read_trace(const std::string& path);
void write_trace(const std::string& path, const Trace& trace);

}  // namespace fm
