#include "planner/queue/queue_entries.hpp"

#include <filesystem>
#include <map>
#include <set>

#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "planner/plan_flags.hpp"

namespace fm {
namespace {

std::vector<QueueEntry> named_entries(const std::vector<std::string>& paths) {
  std::vector<QueueEntry> entries;
  std::map<std::string, std::string> files;  // first one of each stem
  std::set<std::string> taken;
  for (const std::string& path : paths) {
    taken.insert(std::filesystem::path(path).stem().string());
  }
  for (const std::string& path : paths) {
    const std::string stem = std::filesystem::path(path).stem().string();
    const auto [first, is_first] = files.emplace(stem, path);
    std::string name = stem;
    if (!is_first) {
      if (digest_of_file(first->second) != digest_of_file(path)) {
        throw UserError("two models are named `" + stem + "`, but " + first->second + " and " +
                        path + " differ: rename one of the files");
      }
      for (int again = 2; taken.count(name) != 0; ++again)
        name = stem + "." + std::to_string(again);
      taken.insert(name);
    }
    entries.push_back({name, path, {}});
  }
  return entries;
}

using Bind = void (*)(const std::string&, ShapeBindings*);

void bind(const std::string& text, Bind bind_one, std::vector<QueueEntry>* entries) {
  for (QueueEntry& entry : *entries) {
    const std::string prefix = entry.name + ":";
    if (text.rfind(prefix, 0) == 0) return bind_one(text.substr(prefix.size()), &entry.bindings);
  }
  for (QueueEntry& entry : *entries) bind_one(text, &entry.bindings);
}

}  // namespace

std::vector<QueueEntry> queue_entries(const std::vector<std::string>& paths,
                                      const std::vector<std::string>& shapes,
                                      const std::vector<std::string>& dimensions,
                                      const std::vector<std::string>& values) {
  if (paths.empty()) throw UserError("no models: name the ONNX files; see fmplan queue --help");
  std::vector<QueueEntry> entries = named_entries(paths);
  for (const std::string& text : shapes) bind(text, bind_shape, &entries);
  for (const std::string& text : dimensions) bind(text, bind_dimension, &entries);
  for (const std::string& text : values) bind(text, bind_value, &entries);
  return entries;
}

}  // namespace fm
