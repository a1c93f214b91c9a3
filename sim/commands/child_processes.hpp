#pragma once
// Child processes side by side.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {

struct ChildProcess {
  std::vector<std::string> arguments;  ///< argv after the program's name
  std::string output_file;             ///< takes its standard output
  std::string error_file;              ///< takes its standard error
};

/// A signal asked this process to end; its children have.
struct Interruption {
  int signal_number;
};

/// Runs this very program once for each of `children`, `jobs` of them at a time, in their order.
/// `on_end` is told which child ended and its exit status (128 + n when signal n ended it). SIGINT,
/// SIGTERM, SIGHUP and SIGQUIT, unless this process ignores them, are handed to the children, which
/// are waited for; then Interruption is thrown. Children end with this process however it ends.
/// Throws DeviceError when the system makes no more processes or files; children already running
/// are waited for first.
void run_children(const std::vector<ChildProcess>& children, std::size_t jobs,
                  const std::function<void(std::size_t child, int status)>& on_end);

/// What `body`, which runs children, returns. An Interruption out of it, all cleaned up by then,
/// ends this process by the signal, as if nobody had handled it.
ExitStatus unless_interrupted(const std::function<ExitStatus()>& body);

}  // namespace fm
