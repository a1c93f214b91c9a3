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
#include <string>
#include <vector>

#include "core/atomic_file.hpp"
#include "core/trace.pb.h"

namespace fm {

constexpr std::uint32_t trace_version = 1;

class TraceWriter {
 public:
  TraceWriter(const std::string& path, const trace::Header& header);
  void add(const trace::AccessProgram& program);
  void add(const trace::IndexContents& contents);
  /// Buffered; written in frames of a few thousand operations.
  void add(const trace::HostOperation& operation);
  /// Writes the trailer and makes the file appear.
  void finish();

 private:
  void write_frame(const trace::Frame& frame);
  void flush_operations();
  AtomicFile file_;
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

 private:
  trace::Frame read_frame();
  std::string path_;
  std::ifstream file_;
  trace::Header header_;
  trace::Trailer seen_;
  bool ended_ = false;
};

/// A whole trace in memory, for tools that need it all.
struct Trace {
  trace::Header header;
  std::vector<trace::AccessProgram> programs;
  std::vector<trace::IndexContents> index_contents;
  std::vector<trace::HostOperation> operations;
};
/// Reads and validates: references resolve, ids ascend, programs have an id each. Throws UserError.
Trace read_trace(const std::string& path);
void write_trace(const std::string& path, const Trace& trace);

}  // namespace fm
