#pragma once
// Child processes side by side.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace fm {

struct ChildProcess {
  std::vector<std::string> arguments;  ///< argv after the program's name
  std::string output_file;             ///< takes its standard output
  std::string error_file;              ///< takes its standard error
};

/// Runs this very program once for each of `children`, `jobs` (at most 256) of them at a time, in
/// their order. `on_end` is told how many have ended. Returns each one's exit status (128 + n when
/// signal n ended it). A SIGINT or SIGTERM to this process reaches the children as well. Throws
/// DeviceError when the system makes no more processes; children already running are waited for
/// first.
std::vector<int> run_children(const std::vector<ChildProcess>& children, std::size_t jobs,
                              const std::function<void(std::size_t ended)>& on_end);

}  // namespace fm
