#pragma once
// The models of a queue as they are given.

#include <string>
#include <vector>

#include "planner/onnx_import.hpp"

namespace fm {

struct QueueEntry {
  std::string name;  ///< by which launches, tensors, inputs and outputs say which model they are of
  std::string path;
  ShapeBindings bindings;
};

/// A model is named like its file, without folder and extension; one given again is "<name>.2", and
/// so on. A binding "<model>:<binding>" is for that model alone, any other for all. `shapes` and
/// `dimensions` as --shape and --dim take them. Throws UserError when there is no model, or two of
/// one name are different files.
std::vector<QueueEntry> queue_entries(const std::vector<std::string>& paths,
                                      const std::vector<std::string>& shapes,
                                      const std::vector<std::string>& dimensions,
                                      const std::vector<std::string>& values = {});

}  // namespace fm
