#include "sim/replay/wave_cursor.hpp"

#include <gtest/gtest.h>

#include "core/diagnostics.hpp"
#include "tests/sim/random_program.hpp"

namespace fm {
namespace {

using test::Body;
using test::expression;

/// A step as text, so that a difference reads well.
std::string text_of(const WaveAccess& access) {
  std::string text =
      "access " + std::to_string(access.site) + " epoch " + std::to_string(access.barrier_epoch);
  for (const auto& lane : access.lanes) {
    text += " " + std::to_string(lane.lane) + ":" + std::to_string(lane.x) + "," +
            std::to_string(lane.y);
  }
  return text;
}
std::string text_of(int kind, std::uint32_t count, std::uint32_t in_flight, std::uint32_t lanes) {
  return "arithmetic " + std::to_string(kind) + " " + std::to_string(count) + " " +
         std::to_string(in_flight) + " lanes " + std::to_string(lanes);
}

std::vector<std::string> reference_steps(const trace::AccessProgram& program,
                                         const IndexValues& index, std::uint64_t group,
                                         std::uint32_t wave, std::uint32_t width) {
  std::vector<std::string> steps;
  expand_wave(
      program, index, group_at(program, group), wave, width,
      [&](const WaveAccess& access) { steps.push_back(text_of(access)); },
      [&](const trace::Node::Arithmetic& given, std::uint32_t lanes) {
        steps.push_back(text_of(given.kind(), given.count(), given.loads_in_flight(), lanes));
      });
  return steps;
}

WaveAccess access_of(const WaveStep& step, std::uint32_t epoch, std::uint32_t width) {
  WaveAccess access;
  access.site = step.site;
  access.barrier_epoch = epoch;
  const LanePattern& pattern = *step.pattern;
  for (std::uint32_t lane = 0; lane < width; ++lane) {
    if (!pattern.mask.test(lane)) continue;
    access.lanes.push_back(
        {lane, step.x + pattern.x[lane], step.y + (pattern.has_y ? pattern.y[lane] : 0)});
  }
  EXPECT_EQ(access.lanes.size(), step.active_lanes);
  EXPECT_EQ(pattern.active_lanes, step.active_lanes);
  return access;
}

std::vector<std::string> cursor_steps(WaveCursor* cursor, std::uint64_t group, std::uint32_t wave,
                                      std::uint32_t width) {
  std::vector<std::string> steps;
  std::uint32_t epoch = 0;
  cursor->start(group, wave);
  for (;;) {
    const WaveStep& step = cursor->next();
    switch (step.kind) {
      case WaveStep::Kind::access:
        steps.push_back(text_of(access_of(step, epoch, width)));
        break;
      case WaveStep::Kind::arithmetic:
        steps.push_back(
            text_of(step.arithmetic, step.count, step.loads_in_flight, step.active_lanes));
        break;
      case WaveStep::Kind::barrier:
        ++epoch;
        break;
      case WaveStep::Kind::end:
        EXPECT_EQ(cursor->next().kind, WaveStep::Kind::end);
        return steps;
    }
  }
}

/// Compares all waves, one reused cursor; returns the number of steps compared.
std::size_t compare_all(const test::RandomProgram& made, std::uint32_t width,
                        std::uint32_t capacity) {
  const CompiledProgram compiled(made.program, made.index, width);
  PatternTable patterns(capacity);
  WaveCursor cursor(compiled, patterns);
  std::size_t steps = 0;
  for (std::uint64_t group = 0; group < compiled.group_total(); ++group) {
    for (std::uint32_t wave = 0; wave < compiled.waves_per_group(); ++wave) {
      const auto expected = reference_steps(made.program, made.index, group, wave, width);
      EXPECT_EQ(cursor_steps(&cursor, group, wave, width), expected)
          << "group " << group << " wave " << wave << " width " << width;
      if (testing::Test::HasFailure()) return steps;
      steps += expected.size();
    }
  }
  return steps;
}

TEST(WaveCursor, EqualsReferenceOnRandomPrograms) {
  std::size_t steps = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const test::RandomProgram made = test::RandomProgramMaker(seed).make();
    for (const std::uint32_t width : {8u, 16u, 64u, 128u}) {
      steps += compare_all(made, width, 8192);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n"
                                 << made.program.Utf8DebugString().substr(0, 4000);
    }
  }
  EXPECT_GT(steps, 100000u);
}

TEST(WaveCursor, EqualsReferenceWhenThePatternTableIsFull) {
  for (std::uint32_t seed = 100; seed < 130; ++seed) {
    compare_all(test::RandomProgramMaker(seed).make(), 16, 2);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

/// for k in 0..n: read a[16 * local + 4 k]; the lanes keep one pattern while the position moves.
TEST(WaveCursor, InnerLoopRepeatsOnePatternAtMovingPositions) {
  trace::AccessProgram program = test::empty_program({32, 1, 1}, {2, 1, 1});
  Body* inside = test::add_loop(program.mutable_body(), 0, expression(0), expression(10));
  test::add_access(
      &program, inside, trace::GLOBAL, false, 4, 0,
      expression(0, {{16, trace::LOCAL_X}, {4, trace::LOOP, 0}, {1000, trace::GROUP_X}}));
  const CompiledProgram compiled(program, {}, 16);
  PatternTable patterns;
  WaveCursor cursor(compiled, patterns);
  for (std::uint64_t group = 0; group < 2; ++group) {
    for (std::uint32_t wave = 0; wave < 2; ++wave) {
      cursor.start(group, wave);
      for (std::int64_t k = 0; k < 10; ++k) {
        const WaveStep& step = cursor.next();
        ASSERT_EQ(step.kind, WaveStep::Kind::access);
        EXPECT_EQ(step.pattern->id, 0u);
        EXPECT_EQ(step.x, static_cast<std::int64_t>(group) * 1000 + wave * 256 + 4 * k);
        EXPECT_EQ(step.pattern->x_max, 15 * 16);
      }
    }
  }
  EXPECT_EQ(patterns.size(), 1u);
}

TEST(WaveCursor, RefusesIndexLoadsWithoutContents) {
  trace::AccessProgram program = test::empty_program({8, 1, 1}, {1, 1, 1});
  const auto site = test::add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4, 0,
                                     expression(0, {{4, trace::LOCAL_X}}));
  program.mutable_sites(static_cast<int>(site))->set_index_load(true);
  PatternTable patterns;
  const CompiledProgram without_contents(program, {}, 8);
  WaveCursor cursor(without_contents, patterns);
  cursor.start(0, 0);
  EXPECT_THROW(cursor.next(), UserError);
  const CompiledProgram too_short(program, {{site, {1, 2, 3}}}, 8);
  WaveCursor short_cursor(too_short, patterns);
  short_cursor.start(0, 0);
  EXPECT_THROW(short_cursor.next(), UserError);
}

}  // namespace
}  // namespace fm
