#include "sim/sampling/launch_selection.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "core/diagnostics.hpp"
#include "sim/sampling/touched_memory.hpp"

namespace fm {
namespace {

std::vector<std::string> ids_of(const Trace& trace) {
  std::vector<std::string> ids;
  for (const auto& operation : trace.operations) {
    if (operation.has_launch()) ids.push_back(operation.launch().launch());
  }
  return ids;
}

/// Position of a launch given by id or number; `ids`.size() is a number too: the end.
std::size_t position(const std::string& word, const std::vector<std::string>& ids,
                     const std::string& text) {
  const auto found = std::find(ids.begin(), ids.end(), word);
  if (found != ids.end()) return static_cast<std::size_t>(found - ids.begin());
  std::size_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error == std::errc{} && stop == end && !word.empty() && number <= ids.size()) return number;
  throw UserError("--launches " + text + ": `" + word +
                  "` is neither the id of a launch nor 0 to " + std::to_string(ids.size()) +
                  ", the launches of the trace");
}

bool is_instant(const trace::HostOperation& operation) {
  return operation.has_create() || operation.has_release() || operation.has_change_class() ||
         operation.has_launch() || operation.has_wait();
}

}  // namespace

std::set<std::string> selected_launches(const std::string& text, const Trace& trace) {
  const std::vector<std::string> ids = ids_of(trace);
  const std::size_t colon = text.find(':');
  const std::size_t first = position(text.substr(0, colon), ids, text);
  const std::size_t last =
      colon == std::string::npos ? first + 1 : position(text.substr(colon + 1), ids, text);
  if (first >= last || last > ids.size()) {
    throw UserError("--launches " + text + ": names no launch; the first comes before the last, " +
                    "which is excluded, e.g. 0:" + std::to_string(ids.size()));
  }
  return {ids.begin() + static_cast<std::ptrdiff_t>(first),
          ids.begin() + static_cast<std::ptrdiff_t>(last)};
}

Trace launches_only(const Trace& trace) {
  Trace reduced = trace;
  for (trace::HostOperation& operation : reduced.operations) {
    if (!is_instant(operation)) operation.mutable_wait();
  }
  return reduced;
}

bool SelectedLaunches::skips(const GpuLaunch& launch) {
  if (ids_.count(launch.id) != 0) return false;
  if (warm_) touch_arguments(launch, memory_);
  return true;
}

LaunchStep SelectedLaunches::next(Ticks) {
  if (ran_) return {LaunchStep::Kind::end, 0};
  ran_ = true;
  return {LaunchStep::Kind::run, 0};
}

}  // namespace fm
