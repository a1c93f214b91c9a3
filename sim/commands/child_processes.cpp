#include "sim/commands/child_processes.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "core/diagnostics.hpp"

extern char** environ;

namespace fm {
namespace {

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void open(int descriptor, const char* file, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, file, flags, 0666);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Process ids of the children that run, 0 where none does: for the signal handler, which may touch
/// nothing but these.
std::array<std::atomic<pid_t>, 256> running_pids{};

void end_with_children(int signal_number) {
  for (const std::atomic<pid_t>& pid : running_pids) {
    if (pid.load() > 0) ::kill(pid.load(), signal_number);
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void remember(pid_t before, pid_t after) {
  for (std::atomic<pid_t>& pid : running_pids) {
    if (pid.load() != before) continue;
    pid.store(after);
    return;
  }
}

pid_t start(const ChildProcess& child) {
  // Its own image, wherever it was started from and whatever PATH says.
  static const std::string program = "/proc/self/exe";
  std::vector<char*> argv{const_cast<char*>("fmsim")};
  for (const std::string& argument : child.arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  FileActions files;
  files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  files.open(STDOUT_FILENO, child.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  files.open(STDERR_FILENO, child.error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), files.get(), nullptr, argv.data(), environ);
  if (error != 0) throw DeviceError(std::string("no child process: ") + std::strerror(error));
  remember(0, pid);
  return pid;
}

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

std::vector<int> run_children(const std::vector<ChildProcess>& children, std::size_t jobs,
                              const std::function<void(std::size_t)>& on_end) {
  for (const int signal_number : {SIGINT, SIGTERM}) ::signal(signal_number, end_with_children);
  std::vector<int> statuses(children.size());
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0, ended = 0;
  const auto wait_for_one = [&] {
    int wait_status = 0;
    const pid_t pid = waitpid(-1, &wait_status, 0);
    if (pid < 0 && errno == EINTR) return;
    if (pid < 0) throw DeviceError(std::string("waiting for children: ") + std::strerror(errno));
    const auto child = running.find(pid);
    if (child == running.end()) return;
    statuses[child->second] = status_of(wait_status);
    remember(pid, 0);
    running.erase(child);
    on_end(++ended);
  };
  try {
    while (ended < children.size()) {
      while (next < children.size() && running.size() < jobs) {
        running.emplace(start(children[next]), next);
        ++next;
      }
      wait_for_one();
    }
  } catch (...) {
    while (!running.empty()) wait_for_one();
    throw;
  }
  return statuses;
}

}  // namespace fm
