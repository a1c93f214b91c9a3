// Guards that geometry decides disappear, others stay.
#include "executor/recorder/guard_folding.hpp"

#include <gtest/gtest.h>

namespace fm {
namespace {

/// 4 groups of 8 work-items; one guard with an access on either side.
class GuardFoldingTest : public testing::Test {
 protected:
  GuardFoldingTest() {
    for (const std::uint32_t size : {8, 1, 1}) program_.add_local_size(size);
    for (const std::uint32_t count : {4, 1, 1}) program_.add_group_count(count);
    guard_ = program_.add_body()->mutable_guard();
    guard_->add_body()->set_access(0);
    guard_->add_otherwise()->set_access(1);
  }

  void left(std::int64_t constant, std::int64_t group, std::int64_t local) {
    guard_->mutable_left()->set_constant(constant);
    add_term(trace::GROUP_X, group);
    add_term(trace::LOCAL_X, local);
  }
  void add_term(trace::VariableKind variable, std::int64_t coefficient) {
    trace::LinearTerm* term = guard_->mutable_left()->add_terms();
    term->set_variable(variable);
    term->set_coefficient(coefficient);
  }
  /// The access left in the guard's place, or -1 where the guard is still there.
  int folded(trace::Relation relation, std::int64_t right) {
    guard_->set_relation(relation);
    guard_->mutable_right()->set_constant(right);
    fold_guards(&program_);
    return program_.body(0).has_guard() ? -1 : static_cast<int>(program_.body(0).access());
  }

  trace::AccessProgram program_;
  trace::Node::Guard* guard_ = nullptr;
};

TEST_F(GuardFoldingTest, IdsAreNotNegative) {
  left(0, 8, 1);
  EXPECT_EQ(folded(trace::GE, 0), 0);
}

TEST_F(GuardFoldingTest, AllWorkItemsAreWithinTheLaunch) {
  left(0, 8, 1);
  EXPECT_EQ(folded(trace::LT, 32), 0);
}

TEST_F(GuardFoldingTest, OneWorkItemIsNot) {
  left(0, 8, 1);
  EXPECT_EQ(folded(trace::LT, 31), -1);
}

TEST_F(GuardFoldingTest, NoWorkItemIs) {
  left(32, 8, 1);
  EXPECT_EQ(folded(trace::LT, 32), 1);
}

TEST_F(GuardFoldingTest, CoefficientsBelowZero) {
  left(31, -8, -1);
  EXPECT_EQ(folded(trace::GE, 0), 0);
}

TEST_F(GuardFoldingTest, ValuesAsRecordedAreNotKnown) {
  guard_->mutable_left()->set_explicit_table(1);
  EXPECT_EQ(folded(trace::GE, 0), -1);
}

}  // namespace
}  // namespace fm
