#include "executor/recorder/recording_kernel.hpp"

#include <cstdlib>
#include <sstream>

#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "core/plan_streams.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/register_counts.hpp"

namespace fm {
namespace {

/// The number a whole word spells, or 0.
std::int64_t number_in(const std::string& word) {
  char* end = nullptr;
  const long long value = std::strtoll(word.c_str(), &end, 10);
  return !word.empty() && *end == '\0' ? value : 0;
}

std::array<std::uint32_t, 3> narrow(const std::array<std::uint64_t, 3>& sizes) {
  return {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
          static_cast<std::uint32_t>(sizes[2])};
}

RecordedArgument recorded_argument(const Plan& plan, const LaunchArgument& argument,
                                   const KernelArgument& declared) {
  if (const auto* integer = std::get_if<IntArgument>(&argument)) return *integer;
  if (const auto* real = std::get_if<FloatArgument>(&argument)) return *real;
  if (const auto* local = std::get_if<LocalArgument>(&argument)) return *local;
  const PlanTensor& tensor = plan.tensor(std::get<TensorArgument>(argument).tensor);
  return RecordedTensor{tensor.dtype, tensor.placement, declared.kind == ArgumentKind::index};
}

std::vector<KernelArgument> declared_arguments(const PlanLaunch& launch) {
  std::vector<KernelArgument> declared =
      catalogue_entry(launch.kernel).arguments(launch.parameters);
  if (declared.size() != launch.arguments.size()) {
    throw UserError("launch " + launch.id + ": kernel " + launch.kernel + " takes " +
                    std::to_string(declared.size()) + " arguments, the plan gives " +
                    std::to_string(launch.arguments.size()));
  }
  return declared;
}

/// Every bit of the value.
std::string hexadecimal(float value) {
  std::ostringstream text;
  text << std::hexfloat << value;
  return text.str();
}

std::string tensor_words(const PlanTensor& tensor) {
  const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
  return to_string(tensor.placement) + " " + to_string(tensor.dtype) + " " +
         to_string(tensor.layout) + " " + std::to_string(extent.width) + "x" +
         std::to_string(extent.height);
}

/// What a slot moves, in the kernel's terms.
struct StreamedTexels {
  std::uint64_t width = 1, first_row = 0, texels = 0;
};

std::vector<StreamedTexels> streamed_texels(const Plan& plan, const PlanLaunch& launch) {
  std::vector<StreamedTexels> streamed(static_cast<std::size_t>(stream_slots(launch)));
  const std::vector<WeightStream> streams = streams_in(plan, launch);
  for (std::size_t slot = 0; slot < streams.size() && slot < streamed.size(); ++slot) {
    const WeightRows& rows = streams[slot].rows;
    streamed[slot] = {rows.width, rows.first, rows.count * rows.width};
  }
  return streamed;
}

/// The trace's launches say where in the ring the texels lie: recorded, they begin it.
void append_stream(const Plan& plan, const StreamedTexels& stream,
                   std::vector<RecordedArgument>* arguments) {
  const auto integer = [](std::uint64_t value) {
    return IntArgument{static_cast<std::int32_t>(value)};
  };
  arguments->insert(arguments->end(),
                    {RecordedTensor{plan.storage, Placement::buffer, false}, integer(0),
                     RecordedTensor{plan.storage, Placement::image2d, false}, integer(stream.width),
                     integer(stream.first_row), integer(stream.texels)});
}

}  // namespace

std::vector<std::uint32_t> index_arguments(const PlanLaunch& launch) {
  std::vector<std::uint32_t> indices;
  const std::vector<KernelArgument> declared = declared_arguments(launch);
  for (std::uint32_t i = 0; i < declared.size(); ++i) {
    if (declared[i].kind == ArgumentKind::index) indices.push_back(i);
  }
  return indices;
}

RecordingKernel recording_kernel(const Plan& plan, const PlanLaunch& launch) {
  const std::vector<KernelArgument> declared = declared_arguments(launch);
  RecordingKernel kernel;
  kernel.name = launch.kernel;
  kernel.source = kernel_source(plan, launch);
  kernel.options = compile_options(plan, launch, true);
  kernel.local_size = narrow(launch.local);
  for (std::size_t d = 0; d < 3; ++d) {
    kernel.group_count[d] = static_cast<std::uint32_t>(launch.global[d] / launch.local[d]);
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    kernel.arguments.push_back(recorded_argument(plan, launch.arguments[i], declared[i]));
  }
  for (const StreamedTexels& stream : streamed_texels(plan, launch)) {
    append_stream(plan, stream, &kernel.arguments);
  }
  for (const auto& [name, value] : launch.parameters) {
    if (number_in(value) > 1) kernel.parameters.push_back(number_in(value));
  }
  kernel.key = program_key(plan, launch);
  RegisterCounts registers = register_counts(plan, launch);
  kernel.registers = std::move(registers.by_isa);
  kernel.registers_source = std::move(registers.source);
  return kernel;
}

std::string program_key(const Plan& plan, const PlanLaunch& launch) {
  const std::vector<KernelArgument> declared = declared_arguments(launch);
  std::string words = launch.kernel + "\n" + digest_of(kernel_source(launch.kernel)) + "\n" +
                      compile_options(plan, launch, false) + "\n";
  for (std::size_t d = 0; d < 3; ++d) {
    words += std::to_string(launch.global[d]) + "/" + std::to_string(launch.local[d]) + " ";
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const LaunchArgument& argument = launch.arguments[i];
    words += "\n" + declared[i].name + " ";
    if (const auto* integer = std::get_if<IntArgument>(&argument)) {
      words += std::to_string(integer->value);
    } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
      words += hexadecimal(real->value);  // scales decide where a resize reads
    } else if (const auto* local = std::get_if<LocalArgument>(&argument)) {
      words += std::to_string(local->bytes.count());
    } else if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
      words += tensor_words(plan.tensor(tensor->tensor));
      if (declared[i].kind == ArgumentKind::index) words += " " + tensor->tensor;
    }
  }
  for (const StreamedTexels& stream : streamed_texels(plan, launch)) {
    words += "\nstream " + std::to_string(stream.width) + " " + std::to_string(stream.first_row) +
             " " + std::to_string(stream.texels);
  }
  return digest_of(words);
}

}  // namespace fm
