#include "planner/profile/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/diagnostics.hpp"

extern char** environ;

namespace fm {
namespace {

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw DeviceError("cannot make a pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
  std::string read_all() const {
    std::string text;
    std::array<char, 4096> block;
    ssize_t count = 0;
    while ((count = read(ends[0], block.data(), block.size())) > 0) {
      text.append(block.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  std::array<int, 2> ends{-1, -1};
};

pid_t spawn(const std::vector<std::string>& words, const Pipe& out, const Pipe& err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int status =
      posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) throw DeviceError("cannot run " + words[0] + ": " + std::strerror(status));
  return child;
}

}  // namespace

std::string tool_beside_this(const std::string& name) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto beside = self.parent_path() / name;
  if (!failed && std::filesystem::exists(beside, failed)) return beside.string();
  return name;
}

std::string run_child(const std::vector<std::string>& words) {
  Pipe out, err;
  const pid_t child = spawn(words, out, err);
  out.close_end(1);
  err.close_end(1);
  std::string errors;
  std::thread reader([&] { errors = err.read_all(); });
  const std::string text = out.read_all();
  reader.join();
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  const std::string tool = std::filesystem::path(words[0]).filename().string();
  if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitStatus::user_error)) {
    throw UserError(tool + " refuses: " + errors);
  }
  throw DeviceError(tool + " failed: " + errors);
}

}  // namespace fm
