#pragma once
// Reading ranges of the weights file into memory, past the page cache: the model must not be in
// memory twice.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/units.hpp"

namespace fm {

class WeightsReader {
 public:
  static constexpr Bytes request_bytes{1 << 20};  ///< size of each read request

  /// `bytes_per_second`: slows reading down to this rate, to see what a slower disk does.
  WeightsReader(const std::string& path, std::optional<double> bytes_per_second);
  ~WeightsReader();
  WeightsReader(const WeightsReader&) = delete;
  WeightsReader& operator=(const WeightsReader&) = delete;

  /// Reads [offset, offset + bytes) of the file; direct where can_read_directly(), else through the
  /// page cache, whose pages are given back at once. Gives up between requests, with DeviceError,
  /// when `stop` is set. Throws UserError when the file ends early, DeviceError when the disk
  /// fails.
  void read(Bytes offset, Bytes bytes, std::uint8_t* to, const std::atomic<bool>& stop);

  /// The file system takes direct I/O, and place and memory are aligned for it.
  bool can_read_directly(Bytes offset, Bytes bytes, const std::uint8_t* to) const;

  Bytes file_bytes() const { return file_bytes_; }
  const std::string& path() const { return path_; }

 private:
  void read_request(int descriptor, Bytes offset, Bytes bytes, std::uint8_t* to);
  void hold_to_rate(Bytes bytes);

  std::string path_;
  int buffered_ = -1;
  int direct_ = -1;  // -1: not possible here
  Bytes file_bytes_;
  std::optional<double> bytes_per_second_;
  std::chrono::steady_clock::time_point rate_clock_{};
};

}  // namespace fm
