#include "core/progress_bar.hpp"

#include <unistd.h>

#include <iostream>

namespace fm {

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) != 0), started_(Clock::now()) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
}

void ProgressBar::show(std::size_t done, std::size_t total) {
  using std::chrono::milliseconds;
  const Clock::time_point now = Clock::now();
  if (!terminal_ || total == 0 || now - started_ < milliseconds(2000)) return;
  if (now - last_ < milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  constexpr std::size_t width = 40;
  const std::size_t filled = width * done / total;
  std::cerr << "\r" << label_ << " [" << std::string(filled, '#')
            << std::string(width - filled, ' ') << "] " << 100 * done / total << " %" << std::flush;
}

}  // namespace fm
