#include "core/atomic_file.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <set>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

// What a signal handler may touch: names of unfinished files in static storage, no allocation, no
// lock.
struct UnfinishedFile {
  std::atomic<bool> used{false};
  std::array<char, 4096> path{};
};
std::array<UnfinishedFile, 32> unfinished_files;
std::mutex registry_mutex;

extern "C" void remove_unfinished_files(int signal_number) {
  for (UnfinishedFile& file : unfinished_files) {
    if (file.used.load(std::memory_order_acquire)) ::unlink(file.path.data());
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

/// Only where nobody else handles the signal (a tool's own handler, or nohup's SIG_IGN).
void handle_signal_once(int signal_number) {
  struct sigaction current {};
  if (::sigaction(signal_number, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = remove_unfinished_files;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal_number, &action, nullptr);
}

void remember_unfinished(const std::string& path) {
  const std::lock_guard<std::mutex> lock(registry_mutex);
  for (const int ending : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}) handle_signal_once(ending);
  for (UnfinishedFile& file : unfinished_files) {
    if (file.used.load(std::memory_order_relaxed) || path.size() >= file.path.size()) continue;
    std::memcpy(file.path.data(), path.c_str(), path.size() + 1);
    file.used.store(true, std::memory_order_release);
    return;
  }
}

void forget_unfinished(const std::string& path) {
  const std::lock_guard<std::mutex> lock(registry_mutex);
  for (UnfinishedFile& file : unfinished_files) {
    if (file.used.load(std::memory_order_relaxed) && path == file.path.data()) {
      file.used.store(false, std::memory_order_release);
      return;
    }
  }
}

/// Devices and pipes (/dev/null, /dev/stdout) are written in place: renaming would replace them.
bool written_in_place(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
}

/// One name for all ways to write a path.
std::string place_of(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  const std::string place = std::filesystem::weakly_canonical(whole, error).string();
  return place.empty() ? path : place;
}

std::set<std::string>& places_in_use() {
  static std::set<std::string> places;
  return places;
}

void occupy(const std::string& place, const std::string& path) {
  const std::lock_guard<std::mutex> lock(registry_mutex);
  if (places_in_use().count(place) != 0) {
    throw UserError(path == "-" ? std::string("two outputs go to standard output: give one a file")
                                : path + ": two outputs go to this file: give each its own");
  }
  places_in_use().insert(place);
}

void vacate(const std::string& place) {
  const std::lock_guard<std::mutex> lock(registry_mutex);
  places_in_use().erase(place);
}

}  // namespace

void AtomicFile::refuse_input(const std::string& path, const std::vector<std::string>& inputs) {
  if (path == "-" || written_in_place(path)) return;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!std::filesystem::equivalent(path, input, error)) continue;
    throw UserError({path}, "is read by this command and would be replaced: write to another file");
  }
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), stream_(&std::cout) {
  if (path == "-") {
    occupy(path, path);
    place_ = path;
    return;
  }
  if (path.empty()) throw UserError("output file: the name is empty");
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UserError({path}, "is a folder, not a file");
  const bool in_place = written_in_place(path);
  temporary_path_ = in_place ? path : path + ".partial-" + std::to_string(::getpid());
  const std::string place = in_place ? "" : place_of(path);
  if (!in_place) occupy(place, path);
  if (!in_place) remember_unfinished(temporary_path_);
  errno = 0;
  file_.open(temporary_path_, std::ios::binary | std::ios::trunc);
  if (!file_) {
    const std::string reason = std::strerror(errno);
    if (!in_place) forget_unfinished(temporary_path_);
    if (!in_place) vacate(place);
    throw UserError({path}, "cannot be written: " + reason);
  }
  place_ = place;
  stream_ = &file_;
}

AtomicFile::~AtomicFile() {
  if (!place_.empty()) vacate(place_);
  if (committed_ || temporary_path_.empty() || temporary_path_ == path_) return;
  file_.close();
  std::remove(temporary_path_.c_str());
  forget_unfinished(temporary_path_);
}

void AtomicFile::commit() {
  stream_->flush();
  if (temporary_path_.empty()) {
    if (!*stream_) throw DeviceError("standard output: write failed");
    committed_ = true;
    return;
  }
  file_.close();
  if (!file_) throw DeviceError(path_ + ": write failed (is the disk full?)");
  if (temporary_path_ != path_) {
    if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
      throw DeviceError(path_ + ": cannot be renamed into place: " + std::strerror(errno));
    }
    forget_unfinished(temporary_path_);
  }
  committed_ = true;
}

}  // namespace fm
