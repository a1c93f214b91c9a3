// What the walk refuses, and what the fits find in logs written by hand.
#include "executor/recorder/log_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/recorder/expression_fit.hpp"
#include "executor/recorder/group_choice.hpp"
#include "executor/recorder/program_builder.hpp"
#include "tests/recorder/log_builder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string kernel = "by_hand";

struct NoSink {
  void sample(std::uint32_t, std::int64_t, const std::int64_t*) {}
};

class LogWalkErrors : public testing::Test {
 protected:
  void walk(const LogBuilder& log) {
    NoSink sink;
    LogWalk<NoSink>(kernel, tree_, sink).walk(log.item({0, 0, 0}, {0, 0, 0}));
  }
  void expect_refused(const LogBuilder& log, const std::string& words) {
    EXPECT_THAT([&] { walk(log); }, ThrowsMessage<UserError>(HasSubstr(words)));
  }
  AccessTree tree_;
};

TEST_F(LogWalkErrors, AnAccessOnlySomeWorkItemsMake) {
  walk(LogBuilder().load(1, 0).load(2, 0));
  expect_refused(LogBuilder().load(1, 0), "work-items differ in the accesses they make");
  expect_refused(LogBuilder().load(1, 0).load(2, 0).load(3, 0), "differ in the number");
  expect_refused(LogBuilder().load(2, 0).load(1, 0), "differ in the order");
}

TEST_F(LogWalkErrors, ALoopLeftByBreak) {
  LogBuilder log;
  log.record(RecordKind::loop, 1, 0, {0, 4, 1}).record(RecordKind::iteration, 0, 0);
  log.load(2, 0).record(RecordKind::end, 0, 0);
  expect_refused(log, "a loop left before its end");
}

TEST_F(LogWalkErrors, AReturnInsideAGuard) {
  LogBuilder log;
  log.record(RecordKind::guard, 1, trace::LT, {0, 4}).load(2, 0);
  expect_refused(log, "without break, continue or return");
}

TEST_F(LogWalkErrors, NegativeDividends) {
  LogBuilder log;
  log.record(RecordKind::derivation, 1, trace::Derivation::QUOTIENT, {-3, 4});
  expect_refused(log, "of -3 by 4");
}

TEST_F(LogWalkErrors, ALogThatEndsInsideARecord) {
  LogBuilder log;
  log.record(RecordKind::image, 1, 0, {5});
  expect_refused(log, "ends inside a record");
}

/// A launch of groups of `local` items; `write` logs one item of one group.
class FitTest : public testing::Test {
 protected:
  using Ids = std::array<std::int64_t, 2>;  // group x, local x
  void fit(const std::vector<std::uint32_t>& groups,
           const std::function<void(Ids, LogBuilder&)>& write) {
    do {
      for (const std::uint32_t group : groups) {
        for (std::uint32_t item = 0; item < integers_.local_size[0]; ++item) {
          LogBuilder log;
          write({group, item}, log);
          LogWalk<ExpressionFits>(kernel, tree_, fits_).walk(log.item({group, 0, 0}, {item, 0, 0}));
        }
      }
    } while (fits_.refit());
  }

  static LaunchIntegers launch() {
    LaunchIntegers integers;
    integers.local_size = {8, 1, 1};
    integers.group_count = {40, 1, 1};
    integers.arguments = {7, 5};
    return integers;
  }

  LaunchIntegers integers_ = launch();
  AccessTree tree_;
  ExpressionFits fits_{tree_, integers_, 1};
};

TEST_F(FitTest, LoopsAndIds) {
  fit({0, 3, 39}, [](Ids id, LogBuilder& log) {
    log.loop(
        1, id[1], 20, [&](std::int64_t i) { log.load(2, 100 * id[0] + 3 * i - 7); }, 4);
  });
  ASSERT_EQ(fits_.state(2), FitState::fitted);
  const SlotForm expected{-7, {{0, 100}, {6, 3}}};
  EXPECT_EQ(fits_.fitted(2).form, expected);
  EXPECT_TRUE(fits_.fitted(2).synthesised.empty());
}

TEST_F(FitTest, PlainDivisionOfTheGlobalId) {
  fit({0, 3, 17, 39}, [](Ids id, LogBuilder& log) {
    const std::int64_t global = 8 * id[0] + id[1];
    log.load(1, global / 35 * 1000 + global / 7 % 5 * 50 + global % 7);
  });
  ASSERT_EQ(fits_.state(0), FitState::fitted);
  for (std::int64_t global = 0; global < 320; ++global) {
    const std::int64_t variables[] = {global / 8, 0, 0, global % 8, 0, 0};
    EXPECT_EQ(evaluate(fits_.fitted(0), variables),
              global / 35 * 1000 + global / 7 % 5 * 50 + global % 7);
  }
}

TEST_F(FitTest, ShiftsOfATreeReduction) {
  fit({0, 20, 39}, [](Ids id, LogBuilder& log) {
    log.loop(1, 0, 3, [&](std::int64_t i) {
      log.guard(2, id[1], trace::LT, 4 >> i, [&] { log.load(3, id[1] + (4 >> i)); });
    });
  });
  for (std::uint32_t expression = 0; expression < 5; ++expression) {
    EXPECT_EQ(fits_.state(expression), FitState::fitted) << expression;
  }
}

TEST_F(FitTest, NoiseIsLeftUnfitted) {
  fit({0, 3, 17, 39},
      [](Ids id, LogBuilder& log) { log.load(1, (id[0] * 7919 + id[1] * 104729) % 1009 % 61); });
  EXPECT_EQ(fits_.state(0), FitState::unfitted);
}

TEST_F(FitTest, ChecksBothSidesOfAGuardsBreakpoint) {
  // 8 g + l < 203: work-items beyond the edge begin inside group 25.
  const auto write = [](Ids id, LogBuilder& log) {
    const std::int64_t global = 8 * id[0] + id[1];
    log.guard(1, global, trace::LT, 203, [&] { log.load(2, global); });
  };
  fit({0, 20, 39}, write);
  std::mt19937_64 random(1);
  const std::vector<GroupId> groups =
      groups_to_check(tree_, fits_, integers_.group_count, {}, 40, random);
  for (const std::uint32_t group : {24u, 25u, 26u}) {
    EXPECT_THAT(groups, testing::Contains(GroupId{group, 0, 0}));
  }
}

TEST_F(FitTest, UnusedDerivationsAreLeftOut) {
  fit({0, 3, 39}, [](Ids id, LogBuilder& log) {
    log.record(RecordKind::derivation, 1, trace::Derivation::MINIMUM, {id[0], 5});
    log.record(RecordKind::derivation, 2, trace::Derivation::QUOTIENT, {id[1], 3});
    log.load(3, id[1] / 3 * 10);
  });
  RecordingKernel recorded;
  recorded.name = kernel;
  recorded.arguments.emplace_back(RecordedTensor{});
  const trace::AccessProgram program = build_program(tree_, fits_, {}, recorded);
  ASSERT_EQ(program.derivations_size(), 1);
  EXPECT_EQ(program.derivations(0).operator_(), trace::Derivation::QUOTIENT);
  EXPECT_EQ(program.sites(0).bytes(), 2u);
  EXPECT_EQ(program.sites(0).x().terms(0).coefficient(), 20) << "elements of 2 bytes";
}

}  // namespace
}  // namespace fm
