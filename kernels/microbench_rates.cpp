// Rates: bytes, texels, bank conflicts, arithmetic, work-groups at a time.
#include "kernels/launch_builders.hpp"
#include "kernels/microbench_draft.hpp"

namespace fm {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
constexpr std::int64_t reads_a_round = 16;
constexpr std::int64_t group_items = 64;
/// Divides evenly among 1 to 6, 8, 10, 12 and 16 cores.
constexpr std::int64_t groups = 240;
constexpr std::int64_t items = groups * group_items;

std::int64_t log2_of(std::int64_t power) {
  std::int64_t log = 0;
  while ((std::int64_t{1} << log) < power) ++log;
  return log;
}

struct ReadUnit {
  const char* word;
  std::int64_t bytes;
};

PlanLaunch read_launch(const PlanTensor& data, const PlanTensor& sums, const ReadUnit& unit,
                       std::int64_t range, std::int64_t rounds) {
  LaunchDraft draft("range_read");
  draft.parameter("UNIT", unit.word).tensor("data", data).tensor("sums", sums);
  draft.integer("range_log", log2_of(range / unit.bytes));
  draft.integer("items", items).integer("rounds", rounds);
  return draft.finish({items, 1, 1}, {group_items, 1, 1});
}

PlanLaunch probe_launch(const PlanTensor& data, const PlanTensor& sums, const char* axis,
                        std::int64_t threads, std::int64_t rounds) {
  LaunchDraft draft("line_probe");
  draft.parameter("AXIS", axis).tensor("data", data).tensor("sums", sums);
  draft.integer("pitch", 1).integer("rounds", rounds);
  return draft.finish({threads, 1, 1}, {static_cast<std::uint64_t>(threads), 1, 1});
}

PlanLaunch local_launch(const PlanTensor& sums, const char* unit, std::int64_t stride,
                        std::int64_t rounds) {
  LaunchDraft draft("local_stride");
  draft.parameter("UNIT", unit).tensor("sums", sums);
  draft.integer("stride", stride).integer("rounds", rounds);
  return draft.finish({items, 1, 1}, {group_items, 1, 1});
}

PlanLaunch occupancy_launch(const PlanTensor& data, const PlanTensor& sums, std::int64_t registers,
                            std::int64_t local_bytes, std::int64_t rounds) {
  LaunchDraft draft("occupancy_step");
  draft.parameter("REGISTERS", registers).parameter("LOCAL_FLOATS", local_bytes / 4);
  draft.tensor("data", data).tensor("sums", sums);
  draft.integer("range_log", log2_of(64 * kib / 16)).integer("rounds", rounds);
  return draft.finish({items, 1, 1}, {group_items, 1, 1});
}

}  // namespace

Microbench bandwidth_buffer() {
  MicrobenchDraft draft("bandwidth_buffer",
                        "read bandwidth of a buffer by footprint and bytes a work-item reads");
  const PlanTensor& scalars = draft.floats("scalars", 4 * mib);
  const PlanTensor& halves = draft.texels("halves", DataType::f16, Placement::buffer, 2 * mib);
  const PlanTensor& texels = draft.texels("texels", DataType::f32, Placement::buffer, mib);
  const PlanTensor& sums = draft.floats("sums", items);
  const auto read = [&](const PlanTensor& data, const ReadUnit& unit, std::int64_t range,
                        std::int64_t full) {
    draft.point({{"footprint", range}, {"width", unit.bytes}}, "B/ns", {full, 1, full},
                items * reads_a_round * unit.bytes,
                [&](std::int64_t rounds) { return read_launch(data, sums, unit, range, rounds); });
  };
  for (const std::int64_t range : {kib, 4 * kib, 16 * kib, 64 * kib, 128 * kib, 256 * kib,
                                   512 * kib, mib, 2 * mib, 4 * mib, 16 * mib}) {
    read(texels, {"TEXEL", 16}, range, range > 2 * mib ? 5 : 3);
  }
  for (const std::int64_t range : {kib, 64 * kib}) {
    read(scalars, {"SCALAR", 4}, range, 3);
    read(halves, {"TEXEL", 8}, range, 3);
    read(texels, {"PAIR", 32}, range, 3);
  }
  return draft.take();
}

Microbench bandwidth_image() {
  MicrobenchDraft draft("bandwidth_image",
                        "reads of a one-row image by footprint and bytes a texel");
  const PlanTensor& sums = draft.floats("sums", items);
  for (const auto& [id, dtype] :
       {std::pair("rgba8", DataType::u8), {"rgba16f", DataType::f16}, {"rgba32f", DataType::f32}}) {
    const PlanTensor& data = draft.texels(id, dtype, Placement::image2d, 16 * kib);
    const ReadUnit unit{"TEXEL", static_cast<std::int64_t>(4 * size_of(dtype).count())};
    for (const std::int64_t range : {kib / 2, kib, 4 * kib, 16 * kib, 32 * kib, 64 * kib}) {
      draft.point({{"texel", unit.bytes}, {"footprint", range}}, "texel/clk", {3, 1, 3},
                  items * reads_a_round, [&](std::int64_t rounds) {
                    return read_launch(data, sums, unit, range, rounds);
                  });
    }
  }
  return draft.take();
}

Microbench line_probe_image() {
  MicrobenchDraft draft("line_probe_image",
                        "one work-group's repeated read by its work-items, across or down");
  const PlanTensor& row = draft.texels("row", DataType::f32, Placement::image2d, 256);
  const PlanTensor& area = draft.texels("area", DataType::f32, Placement::image2d, 64, 256);
  const PlanTensor& sums = draft.floats("sums", 256);
  for (const std::int64_t threads :
       {4, 8, 12, 16, 24, 32, 33, 40, 48, 56, 64, 65, 72, 80, 96, 128}) {
    draft.point(
        {{"across", threads}, {"down", 1}}, "ns/read", {80, 16, 80}, 1,
        [&](std::int64_t rounds) { return probe_launch(row, sums, "ACROSS", threads, rounds); });
  }
  for (const std::int64_t threads : {4, 8, 16, 24, 32, 33, 40, 48, 64}) {
    draft.point(
        {{"across", 1}, {"down", threads}}, "ns/read", {80, 16, 80}, 1,
        [&](std::int64_t rounds) { return probe_launch(area, sums, "DOWN", threads, rounds); });
  }
  return draft.take();
}

Microbench bandwidth_write() {
  MicrobenchDraft draft("bandwidth_write", "write bandwidth of a buffer and an image by footprint");
  const PlanTensor& buffer = draft.texels("buffer", DataType::f32, Placement::buffer, mib);
  const PlanTensor& image = draft.texels("image", DataType::f32, Placement::image2d, 16 * kib);
  const auto write = [&](const PlanTensor& data, std::int64_t is_image, std::int64_t range) {
    draft.point({{"footprint", range}, {"image", is_image}}, "B/ns", {2, 1, 2},
                items * reads_a_round * 16, [&](std::int64_t rounds) {
                  LaunchDraft launch("range_write");
                  launch.tensor("data", data).integer("range_log", log2_of(range / 16));
                  launch.integer("items", items).integer("rounds", rounds);
                  return launch.finish({items, 1, 1}, {group_items, 1, 1});
                });
  };
  for (const std::int64_t range : {64 * kib, 512 * kib, 2 * mib, 16 * mib}) write(buffer, 0, range);
  write(image, 1, 64 * kib);
  return draft.take();
}

Microbench local_memory() {
  MicrobenchDraft draft("local_memory", "local memory by stride and bytes a work-item reads");
  const PlanTensor& sums = draft.floats("sums", items);
  for (const std::int64_t stride : {1, 2, 3, 4, 7, 8, 16, 17, 32, 33}) {
    draft.point({{"width", 4}, {"stride", stride}}, "B/ns", {3, 1, 3}, items * reads_a_round * 4,
                [&](std::int64_t rounds) { return local_launch(sums, "SCALAR", stride, rounds); });
  }
  for (const std::int64_t stride : {1, 2, 4, 5}) {
    draft.point({{"width", 16}, {"stride", stride}}, "B/ns", {3, 1, 3}, items * reads_a_round * 16,
                [&](std::int64_t rounds) { return local_launch(sums, "TEXEL", stride, rounds); });
  }
  return draft.take();
}

Microbench wave_width() {
  MicrobenchDraft draft("wave_width",
                        "arithmetic of many work-groups by their work-items: a step a wave");
  const PlanTensor& sums = draft.floats("sums", groups * 256);
  for (const std::int64_t threads :
       {1, 4, 8, 9, 12, 16, 17, 24, 32, 33, 48, 64, 65, 96, 128, 129, 192, 256}) {
    draft.point({{"threads", threads}}, "ns/round", {20, 4, 20}, 1, [&](std::int64_t rounds) {
      LaunchDraft launch("multiply_add");
      launch.tensor("sums", sums).integer("rounds", rounds);
      return launch.finish({groups * threads, 1, 1}, {static_cast<std::uint64_t>(threads), 1, 1});
    });
  }
  return draft.take();
}

Microbench vector_rate() {
  MicrobenchDraft draft("rate_vector", "multiply-adds of work-items that compute vectors");
  const PlanTensor& sums = draft.floats("sums", items);
  draft.point({{"threads", group_items}}, "ns/round", {20, 4, 20}, 1, [&](std::int64_t rounds) {
    LaunchDraft launch("vector_multiply_add");
    launch.tensor("sums", sums).integer("rounds", rounds);
    return launch.finish({items, 1, 1}, {group_items, 1, 1});
  });
  return draft.take();
}

Microbench elementwise() {
  MicrobenchDraft draft("elementwise", "a texel a work-item from buffer to buffer by footprint");
  for (const std::int64_t bytes : {512 * kib, mib}) {
    constexpr std::int64_t row = 256;
    const std::int64_t texels = bytes / 16;
    const std::string suffix = std::to_string(bytes);
    const PlanTensor& from =
        draft.texels("from_" + suffix, DataType::f32, Placement::buffer, row, texels / row);
    const PlanTensor& to =
        draft.texels("to_" + suffix, DataType::f32, Placement::buffer, row, texels / row);
    draft.launch(build_unary(from, to, {Activation::relu}), {{{"footprint", 2 * bytes}},
                                                             MicrobenchPart::alone,
                                                             static_cast<std::uint64_t>(texels),
                                                             "ns/item"});
  }
  return draft.take();
}

Microbench arithmetic_rate(const std::string& name, const char* type) {
  MicrobenchDraft draft(name, "arithmetic of many work-groups by type");
  const PlanTensor& sums = draft.floats("sums", groups * 256);
  for (const std::int64_t threads : {64, 128, 256}) {
    draft.point({{"threads", threads}}, "ns/round", {20, 4, 20}, 1, [&](std::int64_t rounds) {
      LaunchDraft launch("arithmetic_rate");
      launch.parameter("TYPE", type).tensor("sums", sums).integer("rounds", rounds);
      return launch.finish({groups * threads, 1, 1}, {static_cast<std::uint64_t>(threads), 1, 1});
    });
  }
  return draft.take();
}

Microbench occupancy() {
  MicrobenchDraft draft("occupancy",
                        "waiting for memory by registers a work-item and local memory a group");
  const PlanTensor& data = draft.texels("data", DataType::f32, Placement::buffer, 4 * kib);
  const PlanTensor& sums = draft.floats("sums", items);
  const auto measure = [&](std::int64_t registers, std::int64_t local_bytes) {
    draft.point({{"registers", registers + 16}, {"local_bytes", local_bytes}}, "ns/round",
                {24, 8, 24}, 1, [&](std::int64_t rounds) {
                  return occupancy_launch(data, sums, registers, local_bytes, rounds);
                });
  };
  for (const std::int64_t kept : {8, 16, 17, 32, 48, 80, 112, 160}) measure(kept, 256);
  for (const std::int64_t local : {kib, 2 * kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib}) {
    measure(8, local);
  }
  return draft.take();
}

}  // namespace fm
