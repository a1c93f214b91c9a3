// Recorded kernels that stream weights: every access of every work-group expands as it was made,
// each texel to move is read once from the ring and written once to its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan_streams.hpp"
#include "tests/kernels/streaming_cases.hpp"
#include "tests/recorder/recorded_device.hpp"

namespace fm {
namespace {

struct Weight {
  std::int64_t rows, columns;
  std::uint64_t first_chunk, chunks;
};

/// The case's launch, streaming chunks of 512 bytes of some weights.
Plan streaming_plan(const test::StreamingCase& one, const std::vector<Weight>& weights) {
  Plan plan;
  plan.storage = DataType::f16;
  plan.chunk_bytes = Bytes(512);
  for (const HostTensor& operand : one.operands) plan.tensors.push_back(operand.plan);
  plan.launches = {one.launch};
  plan.launches[0].id = "L0";
  plan.launches[0].parameters[streams_parameter] = std::to_string(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    HostTensor tensor = make_tensor("w" + std::to_string(i), Layout::rows,
                                    {weights[i].rows, weights[i].columns}, half_image);
    tensor.plan.role = TensorRole::weight;
    plan.tensors.push_back(tensor.plan);
    WeightSlice slice;
    slice.tensor = tensor.plan.id;
    slice.bytes = tensor.plan.bytes;
    slice.transforms = {{"L0", weights[i].first_chunk, weights[i].chunks}};
    plan.weights.push_back(slice);
  }
  return plan;
}

using Counts = std::map<std::pair<std::int64_t, std::int64_t>, int>;

/// Accesses by argument and place.
std::map<std::uint32_t, Counts> accesses_by_argument(const trace::AccessProgram& program,
                                                     const IndexBuffers& index) {
  std::map<std::uint32_t, Counts> counts;
  const IndexValues values = index_values(program, index);
  const AccessExpander expander(program, values);
  for (std::uint64_t group = 0; group < group_total(program); ++group) {
    for (std::uint32_t item = 0; item < items_per_group(program); ++item) {
      for (const ItemAccess& access : expander.item(group_at(program, group), item)) {
        const trace::Site& site = program.sites(static_cast<int>(access.site));
        if (site.space() != trace::LOCAL) ++counts[site.argument()][{access.x, access.y}];
      }
    }
  }
  return counts;
}

void expect_moved_once(const Plan& plan, const trace::AccessProgram& program,
                       const IndexBuffers& index) {
  const auto counts = accesses_by_argument(program, index);
  const std::vector<WeightStream> streams = streams_in(plan, plan.launches[0]);
  for (std::size_t slot = 0; slot < streams.size(); ++slot) {
    const WeightRows& rows = streams[slot].rows;
    Counts read, written;
    for (std::uint64_t i = 0; i < rows.width * rows.count; ++i) {
      const auto at = static_cast<std::int64_t>(i), width = static_cast<std::int64_t>(rows.width);
      read[{8 * at, 0}] = 1;
      written[{at % width, static_cast<std::int64_t>(rows.first) + at / width}] = 1;
    }
    const auto first =
        static_cast<std::uint32_t>(plan.launches[0].arguments.size() + slot * arguments_a_stream);
    const auto of = [&](std::uint32_t argument) {
      const auto found = counts.find(argument);
      return found == counts.end() ? Counts() : found->second;
    };
    EXPECT_TRUE(of(first) == read) << "slot " << slot << " of " << program.kernel();
    EXPECT_TRUE(of(first + 2) == written) << "slot " << slot << " of " << program.kernel();
  }
}

TEST(StreamingRecorder, MovesEachTexelOnceInEveryKernel) {
  // (Each number of slots is another program to compile.)
  std::vector<std::vector<Weight>> choices = {
      {{31, 90, 3, 5}, {70, 200, 10, 45}, {20, 20, 0, 2}}, {{9, 40, 1, 1}}, {{230, 300, 0, 270}}};
  RecordedDevice& device = RecordedDevice::get();
  for (const test::StreamingCase& one : test::streaming_cases(half_image)) {
    for (const std::vector<Weight>& weights : choices) {
      SCOPED_TRACE(one.name);
      const Plan plan = streaming_plan(one, weights);
      validate_launches(plan);
      const RecordingKernel kernel = recording_kernel(plan, plan.launches[0]);
      IndexBuffers index;
      for (const std::uint32_t argument : index_arguments(plan.launches[0])) {
        for (const float value : one.operands[1].values) {
          index[argument].push_back(static_cast<std::int32_t>(value));
        }
      }
      const trace::AccessProgram program =
          record_accesses(device.context, device.cache, kernel, index);
      EXPECT_EQ(program.tables_size(), 0) << "nothing is left unexplained";
      EXPECT_GT(expect_equal_over_all_groups(program, kernel, index), 0u);
      expect_moved_once(plan, program, index);
    }
    if (choices.size() == 3) choices.erase(choices.begin());  // three slots in the first kernel
  }
}

TEST(StreamingRecorder, KeysNameWhatIsStreamedButNotWhichWeight) {
  const test::StreamingCase one = test::streaming_cases(half_image).front();
  const auto key = [&](const std::vector<Weight>& weights) {
    const Plan plan = streaming_plan(one, weights);
    return program_key(plan, plan.launches[0]);
  };
  const std::string known = key({{70, 200, 10, 20}});
  EXPECT_EQ(key({{90, 200, 10, 20}}), known) << "a taller weight, the same rows of it";
  EXPECT_NE(key({{70, 200, 10, 21}}), known);
  EXPECT_NE(key({{70, 200, 9, 20}}), known);
  EXPECT_NE(key({{70, 204, 10, 20}}), known);
  Plan bare = streaming_plan(one, {{70, 200, 10, 20}});
  bare.launches[0].parameters.erase(streams_parameter);
  EXPECT_NE(program_key(bare, bare.launches[0]), known);
}

}  // namespace
}  // namespace fm
