#include "sim/commands/child_processes.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

namespace fm {
namespace {

/// While it lives, signals are waited for instead of handled: nothing runs at a moment of their own
/// choosing.
class SignalWait {
 public:
  SignalWait() {
    sigemptyset(&awaited_);
    ::signal(SIGCHLD, SIG_DFL);  // who started us may have ignored it: then it would never come
    sigaddset(&awaited_, SIGCHLD);
    for (const int ending : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction current {};
      ::sigaction(ending, nullptr, &current);
      if (current.sa_handler != SIG_IGN) sigaddset(&awaited_, ending);
    }
    ::sigprocmask(SIG_BLOCK, &awaited_, &before_);
  }
  ~SignalWait() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalWait(const SignalWait&) = delete;
  SignalWait& operator=(const SignalWait&) = delete;
  /// The next signal.
  int next() const {
    int number = -1;
    while (number < 0) number = ::sigwaitinfo(&awaited_, nullptr);
    return number;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t awaited_{}, before_{};
};

class OutputFile {
 public:
  explicit OutputFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw DeviceError(path + ": cannot be written: " + std::strerror(errno));
  }
  ~OutputFile() { ::close(descriptor_); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// In the child, between fork and exec: system calls only.
[[noreturn]] void become(char* const* argv, int output, int error, pid_t parent,
                         const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);  // it ended before the line above
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  // Its own image, wherever it was started from and whatever PATH says.
  ::execv("/proc/self/exe", argv);
  ::_exit(static_cast<int>(ExitStatus::device_failed));
}

pid_t start(const ChildProcess& child, const sigset_t& mask) {
  std::vector<char*> argv{const_cast<char*>("fmsim")};
  for (const std::string& argument : child.arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const OutputFile output(child.output_file), error(child.error_file);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw DeviceError(std::string("no child process: ") + std::strerror(errno));
  if (pid == 0) become(argv.data(), output.descriptor(), error.descriptor(), parent, mask);
  return pid;
}

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

class Children {
 public:
  Children(const std::vector<ChildProcess>& children,
           const std::function<void(std::size_t, int)>& on_end)
      : children_(children), on_end_(on_end) {}

  void run(std::size_t jobs) {
    std::size_t next = 0;
    while (next < children_.size() || !running_.empty()) {
      while (next < children_.size() && running_.size() < jobs) {
        running_.emplace(start(children_[next], signals_.before()), next);
        ++next;
      }
      const int signal_number = signals_.next();
      if (signal_number != SIGCHLD) {
        send(signal_number);
        drain();
        throw Interruption{signal_number};
      }
      for (const auto& [child, status] : ended()) on_end_(child, status);
    }
  }

  /// Waits for all that run. A second signal leaves them no choice.
  void drain() {
    while (!running_.empty()) {
      if (signals_.next() != SIGCHLD) send(SIGKILL);
      ended();
    }
  }

 private:
  void send(int signal_number) const {
    for (const auto& [pid, child] : running_) ::kill(pid, signal_number);
  }

  std::map<std::size_t, int> ended() {
    std::map<std::size_t, int> statuses;
    int wait_status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0;) {
      const auto child = running_.find(pid);
      if (child == running_.end()) continue;
      statuses[child->second] = status_of(wait_status);
      running_.erase(child);
    }
    return statuses;
  }

  const std::vector<ChildProcess>& children_;
  const std::function<void(std::size_t, int)>& on_end_;
  SignalWait signals_;
  std::map<pid_t, std::size_t> running_;
};

}  // namespace

void run_children(const std::vector<ChildProcess>& children, std::size_t jobs,
                  const std::function<void(std::size_t, int)>& on_end) {
  Children processes(children, on_end);
  try {
    processes.run(jobs);
  } catch (...) {
    processes.drain();
    throw;
  }
}

ExitStatus unless_interrupted(const std::function<ExitStatus()>& body) {
  try {
    return body();
  } catch (const Interruption& interruption) {
    ::signal(interruption.signal_number, SIG_DFL);
    ::raise(interruption.signal_number);
    std::_Exit(128 + interruption.signal_number);
  }
}

}  // namespace fm
