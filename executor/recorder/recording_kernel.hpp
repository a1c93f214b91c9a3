#pragma once
// A kernel ready to be recorded: source and options of its logging build, geometry, arguments.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/plan.hpp"
#include "core/tensor_layout.hpp"
#include "core/trace.pb.h"

namespace fm {

/// A tensor argument; `index`: its elements are loaded with FM_LOAD_INDEX.
struct RecordedTensor {
  DataType dtype = DataType::f16;
  Placement placement = Placement::buffer;
  bool index = false;
};
using RecordedArgument = std::variant<RecordedTensor, IntArgument, FloatArgument, LocalArgument>;

struct RecordingKernel {
  std::string name;     ///< of the function
  std::string source;   ///< access macros included
  std::string options;  ///< with -DFM_RECORDING, -DFM_KIND_<t>= and -DFM_ARGUMENT_<t>=
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::array<std::uint32_t, 3> group_count{1, 1, 1};
  std::vector<RecordedArgument> arguments;
  std::vector<std::int64_t>
      parameters;  ///< integer compile-time parameters: candidates for divisors
  std::string key;
  std::map<std::string, std::uint32_t> registers;
  std::string registers_source;
  std::vector<std::uint32_t> lines;  ///< of the source, by id of an access without macros
};

/// Contents of the index tensors by argument index.
using IndexBuffers = std::map<std::uint32_t, std::vector<std::int32_t>>;

/// Of a catalogue kernel as the plan launches it. Throws UserError for a launch the catalogue does
/// not accept.
RecordingKernel recording_kernel(const Plan& plan, const PlanLaunch& launch);
/// Argument indices of the launch's index tensors.
std::vector<std::uint32_t> index_arguments(const PlanLaunch& launch);

/// What access programs are keyed by: kernel source, compile options, geometry, scalar arguments,
/// the tensors' layouts, extents and placement, and which index tensors it reads. Launches with one
/// key make the same accesses.
std::string program_key(const Plan& plan, const PlanLaunch& launch);

}  // namespace fm
