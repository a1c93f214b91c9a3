// Logs of control flow: blocks and branches become loops and guards that every path through a
// function agrees on. Oracle: the accesses of the path itself.
#include <gtest/gtest.h>

#include <random>

#include "core/access_expander.hpp"
#include "executor/oclgrind_plugin/item_log_writer.hpp"
#include "executor/recorder/access_recording.hpp"
#include "executor/recorder/guard_folding.hpp"

namespace fm {
namespace {

constexpr std::uint32_t items = 16;

/// A function whose blocks access memory at offset 100 * block, each work-item on a way of its own
/// that nothing but tables can describe.
class RandomWalks : public GroupSource {
 public:
  RandomWalks(const std::vector<FlowBlock>& blocks, std::uint64_t seed)
      : blocks_(blocks), graph_(blocks), random_(seed) {
    std::vector<std::uint32_t> words;
    std::vector<std::size_t> first{0};
    for (std::uint32_t item = 0; item < items; ++item) {
      ItemLogWriter log;
      walk(&log);
      words.insert(words.end(), log.words().begin(), log.words().end());
      first.push_back(words.size());
    }
    group_ = GroupLog({0, 0, 0}, {items, 1, 1}, words, first);
  }

  const FlowGraph& graph() const { return graph_; }
  const std::vector<std::int64_t>& offsets(std::uint32_t item) const { return offsets_[item]; }
  void record(const std::vector<GroupId>& groups,
              const std::function<void(GroupLog)>& take) override {
    for (std::size_t i = 0; i < groups.size(); ++i) take(group_);
  }

 private:
  void walk(ItemLogWriter* log) {
    offsets_.emplace_back();
    log->enter(graph_);
    for (std::uint32_t block = 0;;) {
      if (blocks_[block].accesses) {
        LoggedMemory access;
        access.x = 100 * block;
        access.bytes = 4;
        log->access(block, access);
        offsets_.back().push_back(access.x);
      }
      const auto& next = blocks_[block].successors;
      if (next.empty()) break;
      const std::size_t side = random_() % next.size();
      Decision decision;
      if (next.size() > 1) {
        for (std::size_t choice = 0; choice <= std::min(side, next.size() - 2); ++choice) {
          decision.guards.push_back(
              {static_cast<std::int64_t>(side), trace::EQ, static_cast<std::int64_t>(choice)});
        }
      }
      log->go(block, next[side], decision);
      block = next[side];
    }
    log->leave();
  }

  const std::vector<FlowBlock> blocks_;
  const FlowGraph graph_;
  std::mt19937_64 random_;
  std::vector<std::vector<std::int64_t>> offsets_;
  GroupLog group_{{0, 0, 0}, {items, 1, 1}, {}, std::vector<std::size_t>(items + 1)};
};

void expect_walks_recorded(const std::vector<FlowBlock>& blocks, std::uint64_t seed) {
  RandomWalks walks(blocks, seed);
  ASSERT_TRUE(walks.graph().reducible());
  RecordingKernel kernel;
  kernel.name = "walks";
  kernel.local_size = {items, 1, 1};
  trace::AccessProgram program = record_accesses(kernel, walks, Groups::all);
  fold_guards(&program);
  validate(program);
  for (std::uint32_t item = 0; item < items; ++item) {
    std::vector<std::int64_t> offsets;
    for (const ItemAccess& access : expand_item(program, {}, {0, 0, 0}, item)) {
      offsets.push_back(access.x);
    }
    EXPECT_EQ(offsets, walks.offsets(item)) << "seed " << seed << " work-item " << item;
  }
}

FlowBlock block(std::vector<std::uint32_t> successors, bool accesses = true) {
  return {std::move(successors), accesses, false};
}

TEST(FlowLog, TwoConditionsBeforeOneElse) {
  expect_walks_recorded({block({1, 3}), block({2, 3}), block({4}), block({4}), block({})}, 1);
}

TEST(FlowLog, AnEarlyReturn) {
  expect_walks_recorded({block({1, 2}), block({}, false), block({})}, 2);
}

TEST(FlowLog, LoopsTestedAtTheirHeaderAndAtTheirEnd) {
  expect_walks_recorded({block({1}), block({2, 3}, false), block({1}), block({})}, 3);
  expect_walks_recorded({block({1}), block({1, 2}), block({})}, 4);
}

TEST(FlowLog, BreakAndContinue) {
  // 1: test, 2: breaks to 6 by way of 5, 3: continues, 4: the rest
  expect_walks_recorded({block({1}), block({2, 6}, false), block({3, 5}), block({1, 4}), block({1}),
                         block({7}), block({7}), block({})},
                        5);
}

TEST(FlowLog, LeavingTwoLoopsAtOnce) {
  // 1: outer test, 2: inner test, 3: leaves both for 6, 4: inner rest, 5: outer rest
  expect_walks_recorded({block({1}), block({2, 7}, false), block({3, 5}, false), block({4, 6}),
                         block({2}), block({1}), block({8}), block({8}), block({})},
                        6);
}

TEST(FlowLog, ContinuingTheOuterLoopFromTheInner) {
  expect_walks_recorded(
      {block({1}), block({2, 5}, false), block({3, 4}), block({2, 1}), block({1}), block({})}, 7);
}

TEST(FlowLog, ASwitch) {
  expect_walks_recorded(
      {block({1, 2, 3, 4}), block({4}), block({5}), block({4}), block({5}), block({})}, 8);
}

TEST(FlowLog, RandomStructuredFunctions) {
  // Blocks with one or two ways on, back edges only to blocks that dominate: statements in
  // sequence, each a plain block, an if, a loop with a chance to break, or a return.
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<FlowBlock> blocks;
    const auto add = [&] {
      blocks.push_back(block({}, random() % 2 == 0));
      return static_cast<std::uint32_t>(blocks.size() - 1);
    };
    std::uint32_t at = add();
    const std::uint32_t end = add();
    const std::function<std::uint32_t(std::uint32_t, int, std::uint32_t)> statement =
        [&](std::uint32_t from, int depth, std::uint32_t leave) -> std::uint32_t {
      const auto kind = random() % 4;
      const std::uint32_t after = add();
      if (kind == 0 || depth == 0) {
        blocks[from].successors = {after};
      } else if (kind == 1) {
        const std::uint32_t then = add();
        blocks[from].successors = {then, after};
        blocks[statement(then, depth - 1, leave)].successors = {after};
      } else if (kind == 2) {
        const std::uint32_t header = add(), body = add();
        blocks[from].successors = {header};
        blocks[header].successors = {body, after};
        blocks[statement(body, depth - 1, after)].successors = {header};
      } else {
        const std::uint32_t out = add();
        blocks[from].successors = {after, out};
        blocks[out].successors = {leave};
      }
      return after;
    };
    for (int i = 0; i < 4; ++i) at = statement(at, 3, end);
    blocks[at].successors = {end};
    expect_walks_recorded(blocks, seed);
  }
}

TEST(FlowLog, ACycleWithTwoEntriesIsNoLoop) {
  EXPECT_FALSE(FlowGraph({block({1, 2}), block({2}), block({1, 3}), block({})}).reducible());
}

}  // namespace
}  // namespace fm
