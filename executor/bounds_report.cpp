#include "executor/bounds_report.hpp"

#include <algorithm>
#include <sstream>

#include "core/diagnostics.hpp"
#include "core/plan_streams.hpp"
#include "executor/plan_names.hpp"

namespace fm {
namespace {

// Words of the report, as in kernels/access_checked.clh.
enum Word { count, argument, write, line, x, y, extent, group, local = 10, extents = 16 };

void append(std::vector<std::int32_t>* words, GridExtent extent) {
  words->push_back(static_cast<std::int32_t>(extent.width));
  words->push_back(static_cast<std::int32_t>(extent.height));
}

/// Of every argument the kernel has, those that are no tensors included.
std::vector<std::int32_t> extents_of(const Plan& plan, const PlanLaunch& launch, Bytes ring) {
  std::vector<std::int32_t> words(extents, 0);
  const auto of = [&](const PlanTensor& tensor) {
    return grid_extent(tensor.layout, tensor.shape);
  };
  for (const LaunchArgument& given : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&given);
    append(&words, used != nullptr ? of(plan.tensor(used->tensor)) : GridExtent{});
  }
  const std::vector<WeightStream> streams = streams_in(plan, launch);
  const auto slots = static_cast<std::size_t>(stream_slots(launch));
  for (std::size_t slot = 0; slot < slots && !streams.empty(); ++slot) {
    const WeightStream& stream = streams[slot < streams.size() ? slot : 0];
    for (std::size_t i = 0; i < arguments_a_stream; ++i) {
      append(&words, i == 0   ? GridExtent{ring / (size_of(plan.storage) * 4), 1}
                     : i == 2 ? of(plan.tensor(plan.weights[stream.weight].tensor))
                              : GridExtent{});
    }
  }
  return words;
}

std::string triple(const std::int32_t* values) {
  return "[" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + "]";
}

std::string line_of(const std::string& text, std::int32_t number) {
  std::istringstream lines(text);
  std::string found;
  for (std::int32_t i = 0; i < number && std::getline(lines, found);) ++i;
  const std::size_t first = found.find_first_not_of(' ');
  return first == std::string::npos ? "" : found.substr(first);
}

/// "tensor t4 (fc): texel (200, 5) of 192 x 64", "local memory: element 70 of 64".
std::string place(const Plan& plan, const PlanLaunch& launch,
                  const std::vector<std::int32_t>& words) {
  if (words[argument] < 0) {
    return "local memory: element " + std::to_string(words[x]) + " of " +
           std::to_string(words[extent]);
  }
  const auto i = static_cast<std::size_t>(words[argument]);
  const std::int32_t width = words[extents + 2 * i], height = words[extents + 2 * i + 1];
  std::string name = "what it streams";
  bool linear = false;
  if (i < launch.arguments.size()) {
    const PlanTensor& tensor = plan.tensor(std::get<TensorArgument>(launch.arguments[i]).tensor);
    name = named(tensor);
    linear = tensor.layout == Layout::linear;
  }
  if (linear) {
    return name + ": element " + std::to_string(words[x]) + " of " + std::to_string(width);
  }
  const bool other_pitch = words[extent] != 0 && words[extent] != width;
  return name + ": texel (" + std::to_string(words[x]) + ", " + std::to_string(words[y]) + ")" +
         (other_pitch ? " at a pitch of " + std::to_string(words[extent]) : "") + " of " +
         std::to_string(width) + " x " + std::to_string(height);
}

}  // namespace

BoundsReport::BoundsReport(const OpenClContext& context, const OpenClQueue& queue, const Plan& plan,
                           Bytes ring, const KernelBuild& build)
    : queue_(queue), plan_(plan), ring_(ring), build_(build) {
  std::size_t most = extents;
  for (const PlanLaunch& launch : plan.launches) {
    most = std::max(most, extents_of(plan, launch, ring).size());
  }
  buffer_ = create_buffer(context, Bytes(most * sizeof(std::int32_t)), CL_MEM_READ_WRITE,
                          "the bounds report");
}

cl_mem BoundsReport::begin(std::size_t launch) {
  words_ = extents_of(plan_, plan_.launches[launch], ring_);
  write_buffer(queue_, buffer_, Bytes(0), words_.data(),
               Bytes(words_.size() * sizeof(std::int32_t)), "the bounds report");
  return buffer_.get();
}

void BoundsReport::check(std::size_t position) {
  const PlanLaunch& launch = plan_.launches[position];
  if (launch.kind == LaunchKind::copy) return;
  ++launches_;
  read_buffer(queue_, buffer_, Bytes(0), words_.data(), Bytes(extents * sizeof(std::int32_t)),
              "the bounds report");
  if (words_[count] == 0) return;
  throw VerificationError(title(launch) + (words_[write] != 0 ? " writes" : " reads") +
                          " outside " + place(plan_, launch, words_) + ", by work-item " +
                          triple(&words_[local]) + " of group " + triple(&words_[group]) + " at `" +
                          line_of(kernel_source(plan_, launch, build_), words_[line]) +
                          "` (the first of " + std::to_string(words_[count]) + " such accesses)");
}

}  // namespace fm
