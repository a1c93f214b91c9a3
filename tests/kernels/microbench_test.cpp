// The microbenchmarks' kernels really follow what memory holds, and what FM_KNOWN states is true.
#include "kernels/launch_draft.hpp"
#include "kernels/microbench_suite.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

PlanLaunch chase(const HostTensor& ring, const HostTensor& end, std::int64_t width, int elements,
                 int stride, int hops) {
  LaunchDraft draft("pointer_chase");
  draft.parameter("ROWS", elements <= width ? "ONE" : "MANY");
  draft.tensor("ring", ring.plan).tensor("end", end.plan);
  draft.integer("elements", elements).integer("width", width);
  draft.integer("stride", stride).integer("hops", hops);
  return draft.finish({1, 1, 1}, {1, 1, 1});
}

TEST(Microbench, PointerChaseEndsWhereTheRingLeads) {
  for (const Storage& storage : {float_buffer, float_image}) {
    for (const std::int64_t width : {60, 10}) {
      constexpr int elements = 60, stride = 7, hops = 1003;
      HostTensor ring = make_tensor("ring", Layout::rows, {elements / width, 4 * width}, storage);
      HostTensor end = make_tensor("end", Layout::linear, {1}, float_buffer);
      for (std::size_t i = 0; i < ring.values.size(); ++i) {
        ring.values[i] = static_cast<float>((static_cast<int>(i / 4) + stride) % elements);
      }
      run(chase(ring, end, width, elements, stride, hops), {&ring, &end});
      EXPECT_EQ(end.values[0], static_cast<float>(hops * stride % elements)) << to_string(storage);
    }
  }
}

struct Texel {
  int x, y;
};

/// The path of block_walk over a square, block after block.
std::vector<Texel> block_path(int size, int across, int down) {
  std::vector<Texel> path;
  for (int top = 0; top < size; top += down) {
    for (int left = 0; left < size; left += across) {
      for (int y = 0; y < down; ++y) {
        for (int x = 0; x < across; ++x) path.push_back({left + x, top + y});
      }
    }
  }
  return path;
}

TEST(Microbench, BlockWalkFollowsItsBlocks) {
  constexpr int size = 8, size_log = 3;
  for (const auto& [x_log, y_log] : {std::pair(3, 0), {0, 3}, {1, 1}, {2, 1}, {0, 2}}) {
    const std::vector<Texel> path = block_path(size, 1 << x_log, 1 << y_log);
    HostTensor ring = make_tensor("ring", Layout::rows, {size, 4 * size}, float_image);
    HostTensor end = make_tensor("end", Layout::linear, {1}, float_buffer);
    for (std::size_t i = 0; i < path.size(); ++i) {
      const Texel next = path[(i + 1) % path.size()];
      float* lanes = &ring.values[static_cast<std::size_t>(4 * (path[i].y * size + path[i].x))];
      lanes[0] = static_cast<float>(next.x);
      lanes[1] = static_cast<float>(next.y);
    }
    // The ring begins at (0, 0): as the kernel does.
    for (const int hops : {1, 5, 63, 64, 77}) {
      LaunchDraft draft("block_walk");
      draft.tensor("ring", ring.plan).tensor("end", end.plan);
      draft.integer("size", size).integer("size_log", size_log);
      draft.integer("x_log", x_log).integer("y_log", y_log).integer("hops", hops);
      run(draft.finish({1, 1, 1}, {1, 1, 1}), {&ring, &end});
      EXPECT_EQ(end.values[0], static_cast<float>(path[static_cast<std::size_t>(hops) % 64].x))
          << x_log << " " << y_log << " " << hops;
    }
  }
}

TEST(Microbench, RangeReadAddsTheRangeOnly) {
  // 16 reads of 128 work-items pass 2048 elements in a row: the whole range 128 times.
  constexpr int range = 16;
  HostTensor data = make_tensor("data", Layout::rows, {1, 4 * 64}, float_buffer);
  HostTensor sums = make_tensor("sums", Layout::linear, {128}, float_buffer);
  double total = 0;
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    data.values[i] = i / 4 < range ? static_cast<float>(i % 5) : 1e6f;
    if (i / 4 < range) total += static_cast<double>(i % 5);
  }
  LaunchDraft draft("range_read");
  draft.parameter("UNIT", "TEXEL").tensor("data", data.plan).tensor("sums", sums.plan);
  draft.integer("range_log", 4).integer("items", 128).integer("rounds", 1);
  run(draft.finish({128, 1, 1}, {64, 1, 1}), {&data, &sums});
  double sum = 0;
  for (const float value : sums.values) sum += static_cast<double>(value);
  EXPECT_EQ(sum, 128 * total);
}

TEST(Microbench, SuiteFitsTheCatalogue) {
  for (const Microbench& bench : microbench_suite()) {
    EXPECT_NO_THROW(validate_launches(bench.plan)) << bench.name;
    EXPECT_FALSE(bench.steps.empty()) << bench.name;
  }
}

}  // namespace
}  // namespace fm
