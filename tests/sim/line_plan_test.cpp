// Coalescing, texture tiles and local-memory banks.

#include "sim/gpu/line_plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/sim/gpu_machine.hpp"

namespace fm {
namespace {

using test::expression;
using trace::GROUP_X, trace::LOCAL_X, trace::LOCAL_Y;

struct Plans {
  std::vector<std::set<std::uint64_t>> lines;  ///< of each access of the first wave, by address
  std::vector<std::uint32_t> cycles;
};

/// Plans every access of one wave of group 0.
Plans plan(const trace::AccessProgram& program, const std::vector<ArgumentBinding>& arguments,
           CoreParameters parameters = {}, bool half = false) {
  const CompiledProgram compiled(program, {}, parameters.wave_width);
  PatternTable patterns;
  GpuLaunch launch;
  launch.program = &compiled;
  launch.patterns = &patterns;
  launch.arguments = arguments;
  launch.half_arithmetic = half;
  LinePlanner planner(parameters, launch);
  WaveCursor cursor(compiled, patterns);
  Plans plans;
  cursor.start(0, 0);
  const CompiledSite& site = compiled.sites().at(0);
  const std::uint64_t splits =
      site.space == trace::IMAGE ? 1 : ceil_div(site.bytes, parameters.load_store.lane_bytes);
  for (const WaveStep* step = &cursor.next(); step->kind != WaveStep::Kind::end;
       step = &cursor.next()) {
    if (step->kind != WaveStep::Kind::access) continue;
    const PlannedAccess access = planner.plan(*step, 0);
    std::set<std::uint64_t> lines;
    for (std::uint32_t i = 0; i < access.count; ++i) {
      lines.insert(access.base + static_cast<std::uint64_t>(access.lines[i].offset));
    }
    EXPECT_EQ(lines.size() * splits, access.count) << "a line is planned once for each part";
    plans.lines.push_back(lines);
    plans.cycles.push_back(access.pipe_cycles);
  }
  return plans;
}

trace::AccessProgram one_access(trace::Space space, std::uint32_t bytes, const trace::Expression& x,
                                const trace::Expression& y = {}, bool write = false) {
  trace::AccessProgram program = test::empty_program({16, 1, 1}, {2, 1, 1});
  if (space == trace::LOCAL) program.add_local_arrays()->set_bytes(8192);
  test::add_access(&program, program.mutable_body(), space, write, bytes, 0, x, y);
  return program;
}

CoreParameters tiled() {
  CoreParameters parameters;
  parameters.texels.order = TexelOrder::mali_u_interleaved;
  return parameters;
}

TEST(LinePlan, NeighbouringFloatsShareALine) {
  const Plans plans =
      plan(one_access(trace::GLOBAL, 4, expression(0, {{4, LOCAL_X}})), {test::buffer(0, 4096)});
  EXPECT_EQ(plans.lines[0], std::set<std::uint64_t>{4096});
  EXPECT_EQ(plans.cycles[0], 1u);
}

TEST(LinePlan, AddressesOfAFewLanesAreTakenACycle) {
  CoreParameters parameters;
  parameters.load_store.lanes_per_cycle = 2.5;
  const Plans plans = plan(one_access(trace::GLOBAL, 4, expression(0, {{4, LOCAL_X}})),
                           {test::buffer(0, 4096)}, parameters);
  EXPECT_EQ(plans.cycles[0], 7u);  // 16 / 2.5
}

TEST(LinePlan, ATextureUnitLooksUpAsManyLinesAsItReturnsBytes) {
  CoreParameters parameters;
  parameters.texture.line_bytes = parameters.texels.line_bytes = 32;
  parameters.texture.bytes_per_cycle = 64;
  parameters.texels_per_cycle = 16;
  parameters.wide_texel_ratio = 1;
  const Plans plans =
      plan(one_access(trace::IMAGE, 16, expression(0, {{1, LOCAL_X}}), expression(0)),
           {test::image(0, 65536, 64, 1, 16)}, parameters);
  EXPECT_EQ(plans.lines[0].size(), 8u);
  EXPECT_EQ(plans.cycles[0], 4u);
}

TEST(LinePlan, MisalignedFloatsTouchTwoLines) {
  const Plans plans =
      plan(one_access(trace::GLOBAL, 4, expression(32, {{4, LOCAL_X}})), {test::buffer(0, 4096)});
  EXPECT_EQ(plans.lines[0], (std::set<std::uint64_t>{4096, 4160}));
  EXPECT_EQ(plans.cycles[0], 2u);
}

TEST(LinePlan, AStrideOfALineTakesALineEach) {
  const Plans plans =
      plan(one_access(trace::GLOBAL, 4, expression(0, {{64, LOCAL_X}})), {test::buffer(0, 4096)});
  EXPECT_EQ(plans.lines[0].size(), 16u);
  EXPECT_EQ(plans.cycles[0], 16u);
}

TEST(LinePlan, ABroadcastTouchesOneLine) {
  const Plans plans = plan(one_access(trace::GLOBAL, 4, expression(100)), {test::buffer(0, 4096)});
  EXPECT_EQ(plans.lines[0], std::set<std::uint64_t>{4160});
}

TEST(LinePlan, AnAccessAcrossALineTouchesBoth) {
  trace::AccessProgram program = one_access(trace::GLOBAL, 16, expression(56));
  const Plans plans = plan(program, {test::buffer(0, 0)});
  EXPECT_EQ(plans.lines[0], (std::set<std::uint64_t>{0, 64}));
}

TEST(LinePlan, VectorsTakeTheDatapathsCycles) {
  const Plans plans =
      plan(one_access(trace::GLOBAL, 16, expression(0, {{16, LOCAL_X}})), {test::buffer(0, 4096)});
  EXPECT_EQ(plans.lines[0].size(), 4u);
  EXPECT_EQ(plans.cycles[0], 4u) << "256 bytes at 64 a cycle";
}

TEST(LinePlan, ARowOfTexelsTouchesALineEveryFour) {
  // RGBA16F: a 64-byte line holds 4 x 2 texels.
  const Plans plans =
      plan(one_access(trace::IMAGE, 8, expression(0, {{1, LOCAL_X}}), expression(0)),
           {test::image(0, 0, 64, 64, 8)}, tiled());
  EXPECT_EQ(plans.lines[0].size(), 4u);
  EXPECT_EQ(plans.cycles[0], 4u) << "16 texels above 32 bits at half of 8 a cycle";
}

TEST(LinePlan, AColumnOfTexelsTouchesALineEveryTwo) {
  const Plans plans =
      plan(one_access(trace::IMAGE, 8, expression(0), expression(0, {{1, LOCAL_X}})),
           {test::image(0, 0, 64, 64, 8)}, tiled());
  EXPECT_EQ(plans.lines[0].size(), 8u);
}

TEST(LinePlan, NarrowTexelsRunAtFullRate) {
  const Plans plans =
      plan(one_access(trace::IMAGE, 4, expression(0, {{1, LOCAL_X}}), expression(0)),
           {test::image(0, 0, 64, 64, 4)}, tiled());
  EXPECT_EQ(plans.lines[0].size(), 4u) << "4 x 4 texels a line";
  CoreParameters one_line_a_row = tiled();
  one_line_a_row.texels.order = TexelOrder::linear;
  const Plans linear =
      plan(one_access(trace::IMAGE, 4, expression(0, {{1, LOCAL_X}}), expression(0)),
           {test::image(0, 0, 64, 64, 4)}, one_line_a_row);
  EXPECT_EQ(linear.lines[0].size(), 1u);
  EXPECT_EQ(linear.cycles[0], 4u) << "16 results of 16 bytes at 64 a cycle";
  const Plans half = plan(one_access(trace::IMAGE, 4, expression(0, {{1, LOCAL_X}}), expression(0)),
                          {test::image(0, 0, 64, 64, 4)}, one_line_a_row, true);
  EXPECT_EQ(half.cycles[0], 2u) << "16 texels at 8 a cycle, results of 8 bytes";
}

TEST(LinePlan, AdrenoLinesHoldTexelsSideBySide) {
  CoreParameters adreno;
  adreno.texels.order = TexelOrder::adreno_tiled;
  adreno.texels.line_bytes = adreno.texture.line_bytes = 32;
  adreno.texels.block_bytes = 256;
  // RGBA32F: two texels in X share a line, none in Y (ArchProbe, ImageCachelineSize).
  const auto lines = [&](bool along_x) {
    const trace::Expression lane = expression(0, {{1, LOCAL_X}}), zero = expression(0);
    return plan(one_access(trace::IMAGE, 16, along_x ? lane : zero, along_x ? zero : lane),
                {test::image(0, 0, 64, 64, 16)}, adreno)
        .lines[0];
  };
  EXPECT_EQ(lines(true).size(), 8u);
  EXPECT_EQ(lines(false).size(), 16u);
  // Tiles of 4 x 4 texels follow one another.
  EXPECT_EQ(*lines(true).rbegin(), 3u * 256 + 32);
}

TEST(LinePlan, AddressesAreTakenFromSoManyLanesAClock) {
  CoreParameters adreno;
  adreno.wave_width = 64;
  adreno.load_store.line_bytes = 32;
  adreno.load_store.lanes_per_cycle = 8;
  const auto cycles = [&](std::uint32_t bytes) {
    trace::AccessProgram program = test::empty_program({64, 1, 1}, {1, 1, 1});
    test::add_access(&program, program.mutable_body(), trace::GLOBAL, false, bytes, 0,
                     expression(0, {{bytes, LOCAL_X}}));
    return plan(program, {test::buffer(0, 4096)}, adreno).cycles[0];
  };
  // As ArchProbe measured on Adreno 750: 4 and 8 bytes at 8 work-items a clock, 16 at 4.
  EXPECT_EQ(cycles(4), 8u);
  EXPECT_EQ(cycles(8), 8u);
  EXPECT_EQ(cycles(16), 16u);
  adreno.load_store.bytes_per_cycle = 128;
  // Adreno 640: 16 bytes as fast as 4; 32 are two accesses.
  EXPECT_EQ(cycles(4), 8u);
  EXPECT_EQ(cycles(16), 8u);
  EXPECT_EQ(cycles(32), 32u) << "each half touches every line: 64 lines of 32 bytes, twice";
}

TEST(LinePlan, AtomicsOnOneWordFollowOneAnother) {
  const auto cycles = [](std::int64_t stride) {
    trace::AccessProgram program =
        one_access(trace::GLOBAL, 4, expression(0, {{stride, LOCAL_X}}), {}, true);
    program.mutable_sites(0)->set_atomic(true);
    return plan(program, {test::buffer(0, 4096)}).cycles[0];
  };
  EXPECT_EQ(cycles(0), 16u);
  EXPECT_EQ(cycles(4), 1u);
}

TEST(LinePlan, CoordinatesOutsideAreClamped) {
  const Plans plans =
      plan(one_access(trace::IMAGE, 8, expression(-20, {{1, LOCAL_X}}), expression(-3)),
           {test::image(0, 0, 64, 64, 8)}, tiled());
  EXPECT_EQ(plans.lines[0], std::set<std::uint64_t>{0}) << "all lanes read texel (0, 0)";
}

TEST(LinePlan, BanksConflictByStride) {
  CoreParameters parameters;
  parameters.local_backing = LocalBacking::banks;
  parameters.local_banks = 16;
  const auto cycles = [&](std::int64_t stride) {
    return plan(one_access(trace::LOCAL, 4, expression(0, {{stride, LOCAL_X}})), {}, parameters)
        .cycles[0];
  };
  EXPECT_EQ(cycles(0), 1u) << "a broadcast";
  EXPECT_EQ(cycles(4), 1u);
  EXPECT_EQ(cycles(8), 2u);
  EXPECT_EQ(cycles(64), 16u) << "all lanes in one bank";
  EXPECT_EQ(cycles(68), 1u) << "padding by one word";
}

TEST(LinePlan, UnboundAndMisboundArgumentsAreTheUsersError) {
  const auto buffer_access = one_access(trace::GLOBAL, 4, expression(0));
  EXPECT_THROW(plan(buffer_access, {}), UserError);
  EXPECT_THROW(plan(buffer_access, {test::image(0, 0, 4, 4, 8)}), UserError);
  const auto image_access = one_access(trace::IMAGE, 8, expression(0), expression(0));
  EXPECT_THROW(plan(image_access, {test::buffer(0, 0)}), UserError);
}

/// The kept plans of every position equal those built lane by lane.
TEST(LinePlan, KeptPlansEqualLaneByLaneOnes) {
  for (const TexelOrder order :
       {TexelOrder::mali_u_interleaved, TexelOrder::adreno_tiled, TexelOrder::linear}) {
    CoreParameters parameters;
    parameters.texels.order = order;
    parameters.texels.block_bytes = 256;
    trace::AccessProgram program = test::empty_program({16, 1, 1}, {1, 1, 1});
    test::Body* loop = test::add_loop(program.mutable_body(), 0, expression(-3), expression(40));
    test::add_access(&program, loop, trace::IMAGE, false, 8, 0,
                     expression(1, {{1, LOCAL_X}, {2, trace::LOOP, 0}}),
                     expression(2, {{1, trace::LOOP, 0}}));
    const Plans plans = plan(program, {test::image(0, 65536, 50, 37, 8)}, parameters);
    const ImageLayout layout(parameters.texels, 50, 37, 8);
    std::int64_t counter = -3;
    for (const std::set<std::uint64_t>& lines : plans.lines) {
      std::set<std::uint64_t> expected;
      for (std::int64_t lane = 0; lane < 16; ++lane) {
        const auto x =
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(1 + lane + 2 * counter, 0, 49));
        const auto y = static_cast<std::uint32_t>(std::clamp<std::int64_t>(2 + counter, 0, 36));
        expected.insert((65536 + layout.offset_of(x, y)) / 64 * 64);
      }
      EXPECT_EQ(lines, expected) << "counter " << counter;
      ++counter;
    }
  }
}

TEST(ImageLayout, AnImageOfOneRowIsLinear) {
  for (const TexelOrder order :
       {TexelOrder::mali_u_interleaved, TexelOrder::adreno_tiled, TexelOrder::linear}) {
    TexelLayout texels;
    texels.order = order;
    texels.block_bytes = 256;
    texels.row_alignment = 16;
    const ImageLayout layout(texels, 160, 1, 8);
    for (std::uint32_t x = 0; x < 160; ++x) EXPECT_EQ(layout.offset_of(x, 0), x * 8u);
    EXPECT_EQ(layout.allocated_bytes().count(), 160u * 8);
  }
}

TEST(ImageLayout, AnAdrenoColumnUsesBothSetsOfTheL1) {
  TexelLayout texels;
  texels.order = TexelOrder::adreno_tiled;
  texels.line_bytes = 32;
  texels.block_bytes = 256;
  const ImageLayout layout(texels, 64, 64, 16);
  std::uint32_t odd = 0;
  for (std::uint32_t y = 0; y < 32; ++y) odd += layout.offset_of(0, y) / 32 % 2;
  EXPECT_EQ(odd, 16u);
}

TEST(ImageLayout, EveryTexelHasBytesOfItsOwn) {
  for (const TexelOrder order :
       {TexelOrder::mali_u_interleaved, TexelOrder::adreno_tiled, TexelOrder::linear}) {
    for (const std::uint32_t texel : {4u, 8u, 16u}) {
      TexelLayout texels;
      texels.order = order;
      texels.block_bytes = 256;
      const ImageLayout layout(texels, 45, 21, texel);
      std::set<std::uint64_t> offsets;
      for (std::uint32_t y = 0; y < 21; ++y) {
        for (std::uint32_t x = 0; x < 45; ++x) {
          const std::uint64_t offset = layout.offset_of(x, y);
          EXPECT_EQ(offset % texel, 0u);
          EXPECT_LE(offset + texel, layout.allocated_bytes().count());
          EXPECT_TRUE(offsets.insert(offset).second) << x << "," << y;
          Bytes first, bytes;
          layout.row_range(y, 1, &first, &bytes);
          EXPECT_GE(offset, first.count());
          EXPECT_LT(offset, first.count() + bytes.count());
        }
      }
    }
  }
}

}  // namespace
}  // namespace fm
