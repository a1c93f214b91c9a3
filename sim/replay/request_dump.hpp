#pragma once
// Requests between two levels as a CSV file.

#include <string>

#include "core/atomic_file.hpp"
#include "sim/memory/line_request.hpp"
#include "sim/memory/request_order.hpp"
#include "sim/memory/request_port.hpp"

namespace fm {

/// Columns time_ps, client, kind, address (hexadecimal, of the first byte), bytes (of a read's
/// answer, or of the line a write belongs to). Compressed with zstd when the path ends in .zst.
class RequestDump {
 public:
  /// Throws UserError when the file cannot be created.
  explicit RequestDump(const std::string& path);
  void write(const LineRequest& request);
  /// Makes the file appear.
  void finish();

 private:
  void flush();
  AtomicFile file_;
  const bool compressed_;
  std::string text_;
};

/// `--dump-requests PORT=FILE`: the requests of a port, in order of arrival.
class PortDump {
 public:
  /// Throws UserError: no such port, no file, or one that cannot be created.
  explicit PortDump(const std::string& port_and_file);
  RequestPort port() const { return port_; }
  RequestTap* tap() { return &order_; }
  /// After the run: the file appears.
  void finish();

 private:
  RequestPort port_;
  RequestDump dump_;
  RequestOrder order_;
};

}  // namespace fm
