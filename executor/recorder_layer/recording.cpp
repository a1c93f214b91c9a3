#include "executor/recorder_layer/recording.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace fm {
namespace {

std::string tool;

void say(const std::string& text) { std::cerr << tool << ": " << text << std::endl; }

std::string with_process_id(std::string path) {
  for (std::size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at)) {
    path.replace(at, 2, std::to_string(getpid()));
  }
  return path;
}

void finish_at_exit() {
  record([](ApiRecorder& recorder) { recorder.finish_file(); });
  Recording::give_up("");
}

}  // namespace

std::atomic<ApiRecorder*> Recording::active_{nullptr};

void Recording::start(const RecorderTraits& traits) {
  tool = traits.tool;
  const char* const path = std::getenv("FM_TRACE_FILE");
  if (path == nullptr || *path == '\0') {
    return say("FM_TRACE_FILE names no file: nothing is recorded");
  }
  try {
    active_ = new ApiRecorder(with_process_id(path), traits);
  } catch (const std::exception& error) {
    return say(std::string(error.what()) + "; nothing is recorded");
  }
  std::atexit(finish_at_exit);
  // A forked child would write into its parent's file.
  pthread_atfork(nullptr, nullptr, [] { active_ = nullptr; });
}

void Recording::give_up(const std::string& why) {
  if (active_.exchange(nullptr) != nullptr && !why.empty()) say(why + "; recording ends here");
}

}  // namespace fm
