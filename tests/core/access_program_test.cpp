#include "core/access_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/access_expander.hpp"
#include "core/diagnostics.hpp"
#include "tests/sim/program_builder.hpp"

namespace fm {
namespace {

using test::add_access;
using test::add_derivation;
using test::add_guard;
using test::add_loop;
using test::empty_program;
using test::expression;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const IndexValues no_index;

std::vector<std::int64_t> offsets(const std::vector<ItemAccess>& accesses) {
  std::vector<std::int64_t> result;
  for (const ItemAccess& access : accesses) result.push_back(access.x);
  return result;
}

TEST(Derive, DivisionAndShiftsRoundDown) {
  using trace::Derivation;
  EXPECT_EQ(derive(Derivation::QUOTIENT, 7, 3), 2);
  EXPECT_EQ(derive(Derivation::QUOTIENT, -7, 3), -3);
  EXPECT_EQ(derive(Derivation::REMAINDER, -7, 3), 2);
  EXPECT_EQ(derive(Derivation::SHIFT_RIGHT, -5, 1), -3);
  EXPECT_EQ(derive(Derivation::SHIFT_LEFT, -5, 2), -20);
  EXPECT_EQ(derive(Derivation::MINIMUM, -5, 2), -5);
  EXPECT_EQ(derive(Derivation::MAXIMUM, -5, 2), 2);
  EXPECT_EQ(derive(Derivation::PRODUCT, -5, 2), -10);
  EXPECT_THROW(derive(Derivation::QUOTIENT, 1, 0), UserError);
  EXPECT_THROW(derive(Derivation::SHIFT_LEFT, 1, 63), UserError);
}

TEST(ExpandItem, LoopsGuardsAndDerivations) {
  trace::AccessProgram program = empty_program({4, 2, 1}, {3, 2, 1});
  test::Body* body = add_loop(program.mutable_body(), 0, expression(1), expression(6), 2);
  add_derivation(&program, body, trace::Derivation::QUOTIENT, expression(0, {{1, trace::LOOP, 0}}),
                 expression(2));
  trace::Node::Guard* guard = add_guard(body, expression(0, {{1, trace::LOOP, 0}}), trace::LT,
                                        expression(3, {{1, trace::LOCAL_Y}}));
  add_access(&program, guard->mutable_body(), trace::GLOBAL, false, 4, 0,
             expression(1000, {{100, trace::GROUP_X}, {10, trace::LOCAL_X}, {1, trace::LOOP, 0}}));
  add_access(&program, guard->mutable_otherwise(), trace::GLOBAL, true, 4, 1,
             expression(-1, {{-1, trace::DERIVED, 0}}));
  validate(program);
  // local y = 0: 1 < 3 loads; 3 and 5 store. local y = 1: 1 and 3 load.
  EXPECT_THAT(offsets(expand_item(program, no_index, {2, 0, 0}, 3)), ElementsAre(1231, -2, -3));
  EXPECT_THAT(offsets(expand_item(program, no_index, {2, 1, 0}, 7)), ElementsAre(1231, 1233, -3));
}

TEST(ExpandWave, LanesStayInLockstep) {
  // Trip counts differ: lane l runs l times; even lanes load, odd ones store.
  trace::AccessProgram program = empty_program({4, 1, 1}, {1, 1, 1});
  add_derivation(&program, program.mutable_body(), trace::Derivation::REMAINDER,
                 expression(0, {{1, trace::LOCAL_X}}), expression(2));
  test::Body* body =
      add_loop(program.mutable_body(), 0, expression(0), expression(0, {{1, trace::LOCAL_X}}));
  trace::Node::Guard* guard =
      add_guard(body, expression(0, {{1, trace::DERIVED, 0}}), trace::EQ, expression(0));
  add_access(&program, guard->mutable_body(), trace::GLOBAL, false, 4, 0, expression(0));
  add_access(&program, guard->mutable_otherwise(), trace::GLOBAL, true, 4, 0, expression(0));
  program.mutable_body()->Add()->mutable_barrier();
  test::add_arithmetic(program.mutable_body(), trace::FMA, 5);
  add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4, 0, expression(8));
  validate(program);

  std::vector<std::string> lines;
  expand_wave(
      program, no_index, {0, 0, 0}, 0, 4,
      [&](const WaveAccess& access) {
        std::string line = std::to_string(access.site) + "@" + std::to_string(access.barrier_epoch);
        for (const WaveAccess::Lane& lane : access.lanes) line += " " + std::to_string(lane.lane);
        lines.push_back(line);
      },
      [&](const trace::Node::Arithmetic& arithmetic, std::uint32_t lanes) {
        lines.push_back(std::to_string(arithmetic.count()) + "x" + std::to_string(lanes));
      });
  EXPECT_THAT(lines,
              ElementsAre("0@0 2", "1@0 1 3", "0@0 2", "1@0 3", "1@0 3", "5x4", "2@1 0 1 2 3"));
}

TEST(ExpandWave, TheLastWaveMayBeShort) {
  trace::AccessProgram program = empty_program({5, 1, 1}, {1, 1, 1});
  add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4, 0,
             expression(0, {{4, trace::LOCAL_X}}));
  std::vector<std::int64_t> seen;
  expand_wave(
      program, no_index, {0, 0, 0}, 1, 4,
      [&](const WaveAccess& access) {
        for (const auto& lane : access.lanes) seen.push_back(lane.x);
      },
      nullptr);
  EXPECT_THAT(seen, ElementsAre(16));
}

TEST(ExpandItem, LoadedIndicesAreVariables) {
  trace::AccessProgram program = empty_program({2, 1, 1}, {1, 1, 1});
  const std::uint32_t index = add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4,
                                         0, expression(4, {{4, trace::LOCAL_X}}));
  program.mutable_sites(0)->set_index_load(true);
  add_access(&program, program.mutable_body(), trace::GLOBAL, false, 8, 1,
             expression(0, {{8, trace::DATA, index}}));
  validate(program);
  const IndexValues values = {{index, {70, 80, 90}}};
  EXPECT_THAT(offsets(expand_item(program, values, {0, 0, 0}, 1)), ElementsAre(8, 720));
  EXPECT_THROW(expand_item(program, no_index, {0, 0, 0}, 1), UserError);
  EXPECT_THROW(expand_item(program, {{index, {70, 80}}}, {0, 0, 0}, 1), UserError);
}

TEST(ExpandItem, TablesGiveValuesInExecutionOrder) {
  trace::AccessProgram program = empty_program({2, 1, 1}, {2, 1, 1});
  test::Body* body = add_loop(program.mutable_body(), 0, expression(0), expression(2));
  trace::Expression table;
  table.set_explicit_table(1);
  add_access(&program, body, trace::GLOBAL, false, 4, 0, table);
  trace::ExplicitTable* values = program.add_tables();
  for (int item = 0; item < 4; ++item) values->add_counts(2);
  for (const int delta : {5, 1, 1, 1, 10, -3, 2, 0}) values->add_deltas(delta);
  validate(program);
  EXPECT_THAT(offsets(expand_item(program, no_index, {0, 0, 0}, 1)), ElementsAre(7, 8));
  EXPECT_THAT(offsets(expand_item(program, no_index, {1, 0, 0}, 0)), ElementsAre(18, 15));
  EXPECT_THAT(offsets(expand_item(program, no_index, {1, 0, 0}, 1)), ElementsAre(17, 17));
}

/// A sound program with a loop, a guard, a derivation, an index load, a local array and a table.
trace::AccessProgram sound_program() {
  trace::AccessProgram program = empty_program({2, 1, 1}, {2, 1, 1});
  program.add_local_arrays()->set_bytes(64);
  test::Body* body = add_loop(program.mutable_body(), 0, expression(0), expression(2));
  add_derivation(&program, body, trace::Derivation::MINIMUM, expression(1), expression(2));
  add_access(&program, body, trace::GLOBAL, false, 4, 0, expression(0));
  program.mutable_sites(0)->set_index_load(true);
  add_access(&program, body, trace::LOCAL, true, 16, 0, expression(0, {{16, trace::LOOP, 0}}));
  trace::Expression table;
  table.set_explicit_table(1);
  add_access(&program, body, trace::GLOBAL, false, 4, 1, table);
  program.add_tables();
  for (int item = 0; item < 4; ++item) program.mutable_tables(0)->add_counts(2);
  for (int value = 0; value < 8; ++value) program.mutable_tables(0)->add_deltas(value);
  return program;
}

struct Damage {
  std::string words;
  std::function<void(trace::AccessProgram*)> apply;
};

class ValidateProgram : public testing::TestWithParam<Damage> {};

TEST_P(ValidateProgram, RefusesWhatReadersRelyOn) {
  trace::AccessProgram program = sound_program();
  ASSERT_NO_THROW(validate(program));
  GetParam().apply(&program);
  EXPECT_THAT([&] { validate(program); }, ThrowsMessage<UserError>(HasSubstr(GetParam().words)));
}

trace::Node::Loop* loop_of(trace::AccessProgram* program) {
  return program->mutable_body(0)->mutable_loop();
}

INSTANTIATE_TEST_SUITE_P(
    Damages, ValidateProgram,
    testing::Values(
        Damage{"empty geometry", [](auto* p) { p->set_group_count(1, 0); }},
        Damage{"three dimensions", [](auto* p) { p->add_local_size(1); }},
        Damage{"more than 65536 work-items",
               [](auto* p) {
                 p->set_local_size(0, 65536);
                 p->set_local_size(1, 2);
               }},
        Damage{"do not fit the geometry", [](auto* p) { p->set_groups_checked(5); }},
        Damage{"no bytes", [](auto* p) { p->mutable_sites(0)->set_bytes(0); }},
        Damage{"no local array 3", [](auto* p) { p->mutable_sites(1)->set_argument(3); }},
        Damage{"must read a buffer", [](auto* p) { p->mutable_sites(0)->set_write(true); }},
        Damage{"step is not positive", [](auto* p) { loop_of(p)->set_step(0); }},
        Damage{"without gaps",
               [](auto* p) {
                 loop_of(p)->set_id(1);
                 p->mutable_sites(1)->mutable_x()->clear_terms();
               }},
        Damage{"loop 7 not in scope",
               [](auto* p) {
                 *loop_of(p)->mutable_end() = expression(0, {{1, trace::LOOP, 7}});
               }},
        Damage{"derivation 0 not in scope",
               [](auto* p) {
                 *loop_of(p)->mutable_end() = expression(0, {{1, trace::DERIVED}});
               }},
        Damage{"data of site 0 not in scope",
               [](auto* p) {
                 *loop_of(p)->mutable_end() = expression(0, {{1, trace::DATA}});
               }},
        Damage{"no site 9", [](auto* p) { loop_of(p)->add_body()->set_access(9); }},
        Damage{"site 0 twice", [](auto* p) { loop_of(p)->add_body()->set_access(0); }},
        Damage{"derivation 0 twice", [](auto* p) { loop_of(p)->add_body()->set_derive(0); }},
        Damage{"no derivation 4", [](auto* p) { loop_of(p)->add_body()->set_derive(4); }},
        Damage{"no table 2", [](auto* p) { loop_of(p)->mutable_end()->set_explicit_table(2); }},
        Damage{"serves two expressions",
               [](auto* p) { loop_of(p)->mutable_end()->set_explicit_table(1); }},
        Damage{"covers 3 of 4 work-items",
               [](auto* p) { p->mutable_tables(0)->mutable_counts()->RemoveLast(); }},
        Damage{"do not add up", [](auto* p) { p->mutable_tables(0)->add_deltas(1); }},
        Damage{"an empty node", [](auto* p) { loop_of(p)->add_body(); }},
        Damage{"unknown relation", [](auto* p) {
                 add_guard(loop_of(p)->mutable_body(), expression(0), trace::LT, expression(0))
                     ->set_relation(static_cast<trace::Relation>(9));
               }}));

TEST(ValidateProgram, RefusesBottomlessNesting) {
  trace::AccessProgram program = empty_program({1, 1, 1}, {1, 1, 1});
  test::Body* body = program.mutable_body();
  for (std::uint32_t depth = 0; depth < 70; ++depth) {
    body = add_loop(body, depth, expression(0), expression(1));
  }
  EXPECT_THAT([&] { validate(program); }, ThrowsMessage<UserError>(HasSubstr("64 deep")));
}

}  // namespace
}  // namespace fm
