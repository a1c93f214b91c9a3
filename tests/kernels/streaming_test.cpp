// Kernels that move weights while they compute: every texel arrives where it belongs, nothing else
// is touched, and the kernel's own result is bit for bit what it is without.
#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "core/plan_streams.hpp"
#include "kernels/pipelined_loops.hpp"
#include "tests/kernels/streaming_cases.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

/// One image a launch fills in part.
struct Stream {
  GridExtent extent;
  std::uint64_t first_row = 0, rows = 0;
};

std::vector<std::uint8_t> random_bytes(std::size_t count, std::mt19937& random) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    // Finite halves and finite floats: exponents below the highest.
    const std::uint32_t word = random();
    bytes[i] = static_cast<std::uint8_t>(word);
    bytes[i + 1] = static_cast<std::uint8_t>((word >> 8) & 0xbb);
  }
  return bytes;
}

class StreamingRun {
 public:
  StreamingRun()
      : context_(select_device("")),
        queue_(create_queue(context_, "streaming")),
        programs_(context_, "") {}

  /// The launch's written operand, as the device left it.
  std::vector<std::uint8_t> run(PlanLaunch launch, const std::vector<HostTensor*>& operands,
                                const std::vector<Stream>& streams, DataType storage) {
    std::mt19937 random(7);
    launch.id = "L";
    if (!streams.empty()) launch.parameters[streams_parameter] = std::to_string(streams.size());
    Plan plan;
    plan.storage = storage;
    for (const HostTensor* operand : operands) plan.tensors.push_back(operand->plan);
    plan.launches.push_back(launch);
    validate_launches(plan);

    memories_.clear();
    std::vector<KernelValue> values = own_arguments(launch, operands);
    const Bytes texel = size_of(storage) * 4;
    std::vector<Staged> staged;
    Bytes room;
    for (const Stream& stream : streams) {
      room += texel * (3 + stream.extent.width * stream.rows);  // some texels between the parts
    }
    const std::vector<std::uint8_t> ring = random_bytes(std::max(room, texel).count(), random);
    OpenClMemory ring_buffer =
        create_buffer(context_, Bytes(ring.size()), CL_MEM_READ_WRITE, "ring");
    write_buffer(queue_, ring_buffer, Bytes(0), ring.data(), Bytes(ring.size()));
    Bytes at;
    for (const Stream& stream : streams) {
      Staged next{stream, at + texel * 3, {}, {}};
      next.before =
          random_bytes((texel * (stream.extent.width * stream.extent.height)).count(), random);
      next.image = create_image(context_, stream.extent, storage, "stream");
      write_image(queue_, next.image, stream.extent, next.before.data());
      at = next.source + texel * (stream.extent.width * stream.rows);
      const auto number = [](std::uint64_t value) { return static_cast<std::int32_t>(value); };
      values.insert(values.end(), {ring_buffer.get(), number(next.source / texel), next.image.get(),
                                   number(stream.extent.width), number(stream.first_row),
                                   number(stream.extent.width * stream.rows)});
      staged.push_back(std::move(next));
    }
    const OpenClKernel& kernel = programs_.kernel(launch.kernel, kernel_source(launch.kernel),
                                                  compile_options(plan, launch, false));
    set_arguments(kernel, values);
    wait_for(enqueue_kernel(queue_, kernel, launch.global, launch.local, launch.kernel), "kernel");
    for (const Staged& stream : staged) check(stream, ring, texel);
    return written(launch, operands);
  }

 private:
  struct Staged {
    Stream stream;
    Bytes source;
    std::vector<std::uint8_t> before;
    OpenClMemory image;
  };

  std::vector<KernelValue> own_arguments(const PlanLaunch& launch,
                                         const std::vector<HostTensor*>& operands) {
    std::vector<KernelValue> values;
    for (const LaunchArgument& argument : launch.arguments) {
      if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
        const HostTensor& host = operand(operands, tensor->tensor);
        const auto bytes =
            pack(host.plan.layout, host.plan.dtype, host.plan.shape, host.values.data());
        OpenClMemory& memory = memories_[tensor->tensor];
        if (host.plan.placement == Placement::image2d) {
          const GridExtent extent = grid_extent(host.plan.layout, host.plan.shape);
          memory = create_image(context_, extent, host.plan.dtype, host.plan.id);
          write_image(queue_, memory, extent, bytes.data());
        } else {
          memory = create_buffer(context_, Bytes(bytes.size()), CL_MEM_READ_WRITE, host.plan.id);
          write_buffer(queue_, memory, Bytes(0), bytes.data(), Bytes(bytes.size()));
        }
        values.emplace_back(memory.get());
      } else if (const auto* integer = std::get_if<IntArgument>(&argument)) {
        values.emplace_back(integer->value);
      } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
        values.emplace_back(real->value);
      }
    }
    return values;
  }

  static const HostTensor& operand(const std::vector<HostTensor*>& operands,
                                   const std::string& id) {
    for (const HostTensor* host : operands) {
      if (host->plan.id == id) return *host;
    }
    throw std::out_of_range(id);
  }

  /// Streamed rows hold the ring's texels, all others what they held before.
  void check(const Staged& staged, const std::vector<std::uint8_t>& ring, Bytes texel) const {
    std::vector<std::uint8_t> expected = staged.before;
    const Bytes row = texel * staged.stream.extent.width;
    if (staged.stream.rows > 0) {
      std::memcpy(expected.data() + (row * staged.stream.first_row).count(),
                  ring.data() + staged.source.count(), (row * staged.stream.rows).count());
    }
    std::vector<std::uint8_t> image(expected.size());
    read_image(queue_, staged.image, staged.stream.extent, image.data());
    EXPECT_TRUE(image == expected)
        << staged.stream.rows << " rows of " << staged.stream.extent.width << " texels from row "
        << staged.stream.first_row;
  }

  std::vector<std::uint8_t> written(const PlanLaunch& launch,
                                    const std::vector<HostTensor*>& operands) {
    for (const LaunchArgument& argument : launch.arguments) {
      const auto* tensor = std::get_if<TensorArgument>(&argument);
      if (tensor == nullptr || !tensor->write) continue;
      const PlanTensor& plan = operand(operands, tensor->tensor).plan;
      std::vector<std::uint8_t> bytes(storage_bytes(plan.layout, plan.dtype, plan.shape).count());
      if (plan.placement == Placement::image2d) {
        read_image(queue_, memories_.at(plan.id), grid_extent(plan.layout, plan.shape),
                   bytes.data());
      } else {
        read_buffer(queue_, memories_.at(plan.id), Bytes(0), bytes.data(), Bytes(bytes.size()));
      }
      return bytes;
    }
    return {};
  }

  OpenClContext context_;
  OpenClQueue queue_;
  ProgramCache programs_;
  std::map<std::string, OpenClMemory> memories_;
};

/// Below a step, above the loop's iterations, nothing, several slots. (Each number of slots is
/// another program to compile.)
std::vector<std::vector<Stream>> amounts(bool all_slots) {
  std::vector<std::vector<Stream>> some = {{{{5, 3}, 1, 1}},
                                           {{{37, 40}, 3, 31}},
                                           {{{64, 300}, 0, 300}},
                                           {{{9, 9}, 2, 0}, {{21, 50}, 10, 40}}};
  if (all_slots) {
    some.push_back({{{33, 60}, 0, 60}, {{7, 5}, 4, 1}, {{50, 30}, 0, 29}, {{11, 200}, 100, 100}});
  }
  return some;
}

class StreamingTest : public testing::TestWithParam<Storage> {};

TEST_P(StreamingTest, MovesEveryTexelOnceAndLeavesTheResultAsItWas) {
  StreamingRun device;
  for (test::StreamingCase& one : test::streaming_cases(GetParam())) {
    SCOPED_TRACE(one.name);
    std::vector<HostTensor*> operands;
    for (HostTensor& operand : one.operands) operands.push_back(&operand);
    const auto bare = device.run(one.launch, operands, {}, GetParam().dtype);
    for (const std::vector<Stream>& streams : amounts(one.name == "matmul" || one.name == "conv")) {
      const auto result = device.run(one.launch, operands, streams, GetParam().dtype);
      EXPECT_TRUE(result == bare) << streams.size() << " streams change the result";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, StreamingTest, testing::Values(half_image, float_buffer));

TEST(Streaming, EveryKernelThatStreamsHasItsCase) {
  std::set<std::string> tested;
  for (const test::StreamingCase& one : test::streaming_cases(half_image))
    tested.insert(one.launch.kernel);
  for (const KernelEntry& entry : kernel_catalogue()) {
    EXPECT_EQ(entry.streams, tested.count(entry.name) == 1) << entry.name;
  }
}

TEST(PipelinedLoops, AreWrittenOutOnceASlotAndOnceWithout) {
  const std::string text = expand_pipelined_loops(
      "before\n  FM_PIPELINED_FOR(k, min(a, b), 4) {\n    work(k);\n  }\n  FM_END_PIPELINED_FOR\n"
      "after\n");
  EXPECT_THAT(text, HasSubstr("FM_PIPELINE((min(a, b)), 4)"));
  EXPECT_THAT(text, HasSubstr("FM_FOR(k, stream1_begin, stream1_end, 4) {"));
  EXPECT_THAT(text, HasSubstr("FM_FOR(k, FM_PIPELINE_END, min(a, b), 4) {"));
  std::size_t works = 0;
  for (std::size_t at = text.find("work(k)"); at != std::string::npos;
       at = text.find("work(k)", at + 1)) {
    ++works;
  }
  EXPECT_EQ(works, static_cast<std::size_t>(most_streams) + 1);
  EXPECT_EQ(expand_pipelined_loops("a\nb\n"), "a\nb\n");
  EXPECT_THROW(expand_pipelined_loops("FM_PIPELINED_FOR(k, n, 1) {\n"), std::logic_error);
}

}  // namespace
}  // namespace fm
