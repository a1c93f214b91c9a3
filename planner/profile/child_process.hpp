#pragma once
// Programs of this project run as children: the planner includes neither executor nor simulator.

#include <string>
#include <vector>

namespace fm {

/// Path of a tool beside the running program; its bare name, to be found in PATH, when there is
/// none.
std::string tool_beside_this(const std::string& name);

/// Runs a program to its end and returns its standard output. Throws UserError with what it wrote
/// to standard error when it ends with exit status 2, DeviceError for any other than 0 or when it
/// cannot be started.
std::string run_child(const std::vector<std::string>& words);

}  // namespace fm
