#pragma once
// A progress bar on standard error, only on a terminal and only for what takes more than two
// seconds.

#include <chrono>
#include <cstddef>
#include <string>

namespace fm {

class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  /// Erases what was drawn.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::size_t done, std::size_t total);

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point started_;
  Clock::time_point last_;
};

}  // namespace fm
