// Latencies: pointer chases by footprint and stride, walks over an image in blocks.
#include <algorithm>

#include "kernels/microbench_draft.hpp"

namespace fm {
namespace {

constexpr std::int64_t element = 16;  // bytes of a texel of four floats
constexpr std::int64_t kib = 1024, mib = 1024 * kib;

PlanLaunch chase(const PlanTensor& ring, const PlanTensor& end, std::int64_t elements,
                 std::int64_t stride, std::int64_t hops) {
  LaunchDraft draft("pointer_chase");
  const auto width = static_cast<std::int64_t>(grid_of(ring).width);
  draft.parameter("ROWS", elements <= width ? "ONE" : "MANY");
  draft.tensor("ring", ring).tensor("end", end);
  draft.integer("elements", elements).integer("width", width);
  draft.integer("stride", stride).integer("hops", hops);
  return draft.finish({1, 1, 1}, {1, 1, 1});
}

/// Steady state of a chase over `footprint` bytes: whole rounds, so that what the launch itself
/// evicts (by the store at its end) is paid alike by both. The largest rings go round once after
/// the warm-up.
void chase_point(MicrobenchDraft& draft, const PlanTensor& ring, const PlanTensor& end,
                 std::int64_t footprint, std::int64_t stride) {
  const std::int64_t round = footprint / stride;
  const bool large = round > 64 * kib;
  const std::int64_t brief = large ? 64 : std::max<std::int64_t>(round, 512);
  const std::int64_t full = brief + std::max<std::int64_t>(round, 1024);
  draft.point({{"footprint", footprint}, {"stride", stride}}, "ns/hop", {full, brief, full}, 1,
              [&](std::int64_t hops) {
                return chase(ring, end, footprint / element, stride / element, hops);
              });
}

/// Around a cache of 2^n bytes: the last footprint that fits, the next elements (where another line
/// begins shows the line), one more way of every set, two more, and half as much again.
void chase_around(MicrobenchDraft& draft, const PlanTensor& ring, const PlanTensor& end,
                  std::int64_t bytes) {
  const bool fine = bytes <= 64 * kib;
  std::vector<std::int64_t> more{0};
  if (fine) more.insert(more.end(), {element, 2 * element, 3 * element});
  more.insert(more.end(), {4 * element, bytes / 32, bytes / 16, bytes / 8, bytes / 4, bytes / 2});
  std::sort(more.begin(), more.end());
  more.erase(std::unique(more.begin(), more.end()), more.end());
  for (const std::int64_t beyond : more) {
    if (beyond % element == 0) chase_point(draft, ring, end, bytes + beyond, element);
  }
}

PlanLaunch walk(const PlanTensor& ring, const PlanTensor& end, std::int64_t size_log,
                std::int64_t x_log, std::int64_t y_log, std::int64_t hops) {
  LaunchDraft draft("block_walk");
  draft.tensor("ring", ring).tensor("end", end);
  draft.integer("size", std::int64_t{1} << size_log).integer("size_log", size_log);
  draft.integer("x_log", x_log).integer("y_log", y_log).integer("hops", hops);
  return draft.finish({1, 1, 1}, {1, 1, 1});
}

}  // namespace

Microbench pointer_chase_buffer() {
  MicrobenchDraft draft("pointer_chase_buffer",
                        "latency of dependent reads of a buffer by footprint and stride");
  const PlanTensor& ring =
      draft.texels("ring", DataType::f32, Placement::buffer, 128 * mib / element);
  const PlanTensor& end = draft.floats("end", 1);
  for (const std::int64_t footprint : {256, 512, 768}) {
    chase_point(draft, ring, end, footprint, element);
  }
  for (std::int64_t bytes = kib; bytes <= mib; bytes *= 2) chase_around(draft, ring, end, bytes);
  // A new line every hop: the levels behind the L2.
  for (const std::int64_t footprint : {64 * kib, 128 * kib, 256 * kib, 512 * kib, mib, 3 * mib / 2,
                                       2 * mib, 3 * mib, 4 * mib, 6 * mib, 8 * mib, 12 * mib}) {
    chase_point(draft, ring, end, footprint, 64);
  }
  // A new page every hop: translations. What is measured comes in a second way round, whose pages
  // are known and whose lines are new.
  constexpr std::int64_t page = 4 * kib;
  for (const std::int64_t footprint :
       {4 * mib, 8 * mib, 16 * mib, 24 * mib, 32 * mib, 48 * mib, 64 * mib, 96 * mib, 128 * mib}) {
    const std::int64_t round = footprint / page;
    draft.point({{"footprint", footprint}, {"stride", page + 64}}, "ns/hop",
                {round, round, 2 * round}, 1, [&](std::int64_t hops) {
                  return chase(ring, end, footprint / element, (page + 64) / element, hops);
                });
  }
  return draft.take();
}

Microbench pointer_chase_lines() {
  MicrobenchDraft draft("pointer_chase_lines",
                        "latency of dependent reads, a line a hop, from small to beyond any cache");
  const PlanTensor& ring =
      draft.texels("ring", DataType::f32, Placement::buffer, 128 * mib / element);
  const PlanTensor& end = draft.floats("end", 1);
  for (const std::int64_t footprint :
       {kib,       2 * kib,   4 * kib,   8 * kib,   12 * kib,  16 * kib,  24 * kib,
        32 * kib,  40 * kib,  48 * kib,  56 * kib,  80 * kib,  96 * kib,  160 * kib,
        192 * kib, 320 * kib, 384 * kib, 640 * kib, 768 * kib, 1280 * kib}) {
    chase_point(draft, ring, end, footprint, 64);
  }
  for (const std::int64_t footprint :
       {16 * mib, 24 * mib, 32 * mib, 48 * mib, 64 * mib, 96 * mib, 128 * mib}) {
    // The warm-up goes around; a part of the ring then shows whether it stayed.
    const std::int64_t round = footprint / 64, brief = 64, full = brief + 256 * kib;
    draft.point({{"footprint", footprint}, {"stride", 64}}, "ns/hop", {round, brief, full}, 1,
                [&](std::int64_t hops) {
                  return chase(ring, end, footprint / element, 64 / element, hops);
                });
  }
  return draft.take();
}

Microbench pointer_chase_image() {
  MicrobenchDraft draft("pointer_chase_image",
                        "latency of dependent reads of a one-row RGBA32F image by footprint");
  const PlanTensor& ring = draft.texels("ring", DataType::f32, Placement::image2d, 16 * kib);
  const PlanTensor& end = draft.floats("end", 1);
  for (const std::int64_t footprint : {256, 512, 768}) {
    chase_point(draft, ring, end, footprint, element);
  }
  for (std::int64_t bytes = kib; bytes <= 128 * kib; bytes *= 2) {
    chase_around(draft, ring, end, bytes);
  }
  chase_point(draft, ring, end, 256 * kib, element);
  return draft.take();
}

Microbench block_walk_image() {
  MicrobenchDraft draft("block_walk_image",
                        "latency of dependent reads of an RGBA32F image by the shape of the path");
  constexpr std::int64_t size_log = 6, hops = 1 << (2 * size_log);
  const PlanTensor& ring =
      draft.texels("ring", DataType::f32, Placement::image2d, 1 << size_log, 1 << size_log);
  const PlanTensor& end = draft.floats("end", 1);
  const std::pair<int, int> blocks[] = {{6, 0}, {0, 6}, {0, 5}, {0, 4}, {0, 3}, {0, 2}, {0, 1},
                                        {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 2}, {3, 3}, {4, 4}};
  for (const auto& [x_log, y_log] : blocks) {
    draft.point({{"across", 1 << x_log}, {"down", 1 << y_log}}, "ns/hop", {hops, 256, 256 + hops},
                1, [&, x = x_log, y = y_log](std::int64_t amount) {
                  return walk(ring, end, size_log, x, y, amount);
                });
  }
  return draft.take();
}

}  // namespace fm
