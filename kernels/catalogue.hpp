#pragma once
// The catalogue of OpenCL kernels: what each computes, its arguments, its compile-time parameters,
// geometry and costs. One entry a kernel; the source lies beside it in kernels/<name>.cl and is
// embedded into the binaries.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

using KernelParameters = std::map<std::string, std::string>;

enum class ArgumentKind { texels, linear, index, integer, real, local };

struct KernelArgument {
  std::string name;  ///< as in the source; texels and linear arguments are followed by an integer
                     ///< "<name>_pitch" (texels)
  ArgumentKind kind = ArgumentKind::texels;
  bool write = false;
};

struct ParameterRange {
  std::string name;
  std::vector<std::string> values;  ///< accepted values; empty = any integer
  std::string description;
  bool optional = false;  ///< a launch may leave it out
};

struct KernelEntry {
  std::string name;
  std::string description;
  std::vector<std::string> operations;  ///< lowered operators it serves
  std::vector<ParameterRange> parameters;
  /// The argument list for given parameters, in order, pitch integers included.
  std::function<std::vector<KernelArgument>(const KernelParameters&)> arguments;
  /// Estimated 32-bit registers a work-item.
  std::function<std::uint32_t(const KernelParameters&)> registers;
  /// Takes parameter STREAMS: moves weights of later launches while it computes. (Softmax and its
  /// like do not: FlashMem's hierarchical operators.)
  bool streams = false;
};

/// What a launch with `streams` slots takes behind its own arguments: for each slot the staging
/// ring, its texels before the first to move, the image, its width, the first row to fill and the
/// number of texels (kernels/streaming.clh). They are no part of PlanLaunch::arguments: transforms
/// decide them.
std::vector<KernelArgument> stream_arguments(int streams);
constexpr std::size_t arguments_a_stream = 6;

const std::vector<KernelEntry>& kernel_catalogue();
/// Throws std::out_of_range.
const KernelEntry& catalogue_entry(const std::string& kernel);

/// OpenCL C source of a kernel, the access macros (access.clh) included in front.
std::string kernel_source(const std::string& kernel);
/// The same with the launch's index functions (kernels/index_function.hpp) in front.
std::string kernel_source(const Plan& plan, const PlanLaunch& launch);
/// Builds beside the plain and the recording one.
struct KernelBuild {
  /// Compares every index with its extent: another argument, the report
  /// (kernels/access_checked.clh), follows the launch's own and those of its streams.
  bool checked = false;
  bool sliced = false;  ///< may be enqueued in ranges of work-groups (kernels/access_sliced.clh)
};
std::string kernel_source(const Plan& plan, const PlanLaunch& launch, const KernelBuild& build);
std::string compile_options(const Plan& plan, const PlanLaunch& launch, const KernelBuild& build);
/// Macros only, for kernels outside the catalogue (tests, foreign kernels).
std::string access_macros();

/// Compile options of a launch: -DNAME=VALUE for parameters,
/// -DFM_KIND_<argument>=<buffer_half|buffer_float|image|...> for every tensor argument from the
/// plan's placement and dtype. `recording` selects the logging build. With index functions, a
/// digest of them, so that the options alone tell a launch's builds of one kernel apart.
std::string compile_options(const Plan& plan, const PlanLaunch& launch, bool recording);
/// What tells a kernel launch's program from the plan's others.
std::string program_name(const Plan& plan, const PlanLaunch& launch);

/// Arguments agree with the catalogue: number, kinds, written ones writable. Throws UserError
/// naming launch and argument.
void validate_launches(const Plan& plan);

}  // namespace fm
