#pragma once
// Reading ranges of the weights file into memory, past the page cache: the model must not be in
// memory twice.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/staged_piece.hpp"
#include "core/units.hpp"
#include "executor/streamer/gathered_rows.hpp"

namespace fm {

/// What tells one state of a file from another.
struct FileState {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileState& other) const;
};

/// Thread-safe.
class WeightsReader {
 public:
  static constexpr Bytes request_bytes = disk_request;  ///< size of each read request

  /// `bytes_per_second`: slows reading down to this rate, to see what a slower disk does.
  WeightsReader(const std::string& path, std::optional<double> bytes_per_second);
  ~WeightsReader();
  WeightsReader(const WeightsReader&) = delete;
  WeightsReader& operator=(const WeightsReader&) = delete;

  /// Reads [offset, offset + bytes) of the file; direct where can_read_directly(), else through the
  /// page cache, whose pages are given back at once. Gives up between requests, with DeviceError,
  /// when `stop` is set. Throws UserError when the file ends early, or was changed or replaced
  /// since it was opened, DeviceError when the disk fails.
  void read(Bytes offset, Bytes bytes, std::uint8_t* to, const std::atomic<bool>& stop);

  /// Reads rows of a table, each to the first of its places in `to`. Rows are smaller than a block
  /// and lie apart, so they pass through the page cache, without read-ahead; all are asked for
  /// before the first is waited for, since a disk serves many at once. Throws as read() does.
  void read_rows(const std::vector<RowRead>& rows, Bytes row_bytes, std::uint8_t* to,
                 const std::atomic<bool>& stop);

  /// The file system takes direct I/O, and place and memory are aligned for it. What is smaller
  /// than a block passes through a block of its own.
  bool can_read_directly(Bytes offset, Bytes bytes, const std::uint8_t* to) const;

  Bytes file_bytes() const { return Bytes(state_.bytes); }
  const std::string& path() const { return path_; }

 private:
  void check_unchanged() const;
  void advise_rows(const std::vector<RowRead>& rows, Bytes row_bytes, int advice) const;
  void read_request(int descriptor, Bytes offset, Bytes bytes, std::uint8_t* to);
  void read_bytes(int descriptor, Bytes offset, Bytes bytes, std::uint8_t* to) const;
  void read_part_of_block(Bytes offset, Bytes bytes, std::uint8_t* to);
  void hold_to_rate(Bytes bytes);

  std::string path_;
  int buffered_ = -1;
  int scattered_ = -1;  // buffered, without read-ahead
  int direct_ = -1;     // -1: not possible here
  FileState state_;     // when it was opened
  std::optional<double> bytes_per_second_;
  std::mutex rate_mutex_;
  std::chrono::steady_clock::time_point rate_clock_{};  // when what was read so far may be there
};

}  // namespace fm
