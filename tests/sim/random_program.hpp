#pragma once
// Access programs drawn at random, using every feature the schema has.

#include <cstdint>
#include <random>
#include <vector>

#include "tests/sim/program_builder.hpp"

namespace fm::test {

struct RandomProgram {
  trace::AccessProgram program;
  IndexValues index;
};

/// Valid by construction: variables in scope, bounded loops, index loads inside their contents.
class RandomProgramMaker {
 public:
  explicit RandomProgramMaker(std::uint32_t seed) : random_(seed) {}
  /// A few work-groups of few waves, loops at most two deep: a run takes milliseconds.
  static RandomProgramMaker small(std::uint32_t seed) {
    RandomProgramMaker maker(seed);
    maker.deepest_ = 2;
    maker.most_items_ = 12;
    maker.most_groups_ = 2;
    return maker;
  }

  RandomProgram make() {
    const auto extent = [&](int most) { return static_cast<std::uint32_t>(pick(1, most)); };
    made_.program = empty_program({extent(most_items_), extent(6), extent(2)},
                                  {extent(most_groups_), extent(most_groups_), extent(2)});
    program().add_local_arrays()->set_bytes(4096);
    fill(program().mutable_body(), 0);
    for (auto& table : *program().mutable_tables()) fill_table(&table);
    return std::move(made_);
  }

 private:
  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  trace::AccessProgram& program() { return made_.program; }

  trace::Expression random_expression(std::int64_t scale) {
    if (chance(6)) {
      trace::Expression drawn;
      program().add_tables();
      drawn.set_explicit_table(static_cast<std::uint32_t>(program().tables_size()));
      return drawn;
    }
    trace::Expression result;
    result.set_constant(pick(-4, 8) * scale);
    for (auto terms = pick(0, 3); terms > 0; --terms) {
      Term term{pick(-3, 6) * scale, static_cast<trace::VariableKind>(pick(0, 5)), 0};
      if (!scope_.empty() && chance(60)) {
        const Term& known =
            scope_[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(scope_.size()) - 1))];
        term.variable = known.variable;
        term.index = known.index;
      }
      auto* added = result.add_terms();
      added->set_coefficient(term.coefficient);
      added->set_variable(term.variable);
      added->set_index(term.index);
    }
    return result;
  }

  void fill(Body* body, int depth) {
    const std::size_t known = scope_.size();
    for (auto nodes = pick(1, 5); nodes > 0; --nodes) add_node(body, depth);
    scope_.resize(known);
  }

  void add_node(Body* body, int depth) {
    const auto kind = pick(0, depth < deepest_ ? 9 : 5);
    if (kind <= 2) {
      add_random_access(body);
    } else if (kind == 3) {
      add_arithmetic(body, static_cast<trace::ArithmeticKind>(pick(0, 4)),
                     static_cast<std::uint32_t>(pick(1, 9)),
                     static_cast<std::uint32_t>(pick(0, 4)));
    } else if (kind == 4) {
      add_random_derivation(body);
    } else if (kind == 5) {
      if (chance(50)) {
        body->Add()->mutable_barrier();
      } else {
        add_index_load(body);
      }
    } else if (kind <= 7) {
      add_random_loop(body, depth);
    } else {
      auto* guard = add_guard(body, random_expression(1), static_cast<trace::Relation>(pick(0, 5)),
                              random_expression(1));
      fill(guard->mutable_body(), depth + 1);
      if (chance(50)) fill(guard->mutable_otherwise(), depth + 1);
    }
  }

  void add_random_access(Body* body) {
    const auto space = static_cast<trace::Space>(pick(0, 3));
    const bool image = space == trace::IMAGE;
    add_access(&program(), body, space, space != trace::CONSTANT && chance(30), image ? 8 : 4, 0,
               random_expression(image ? 1 : 4),
               image ? random_expression(1) : trace::Expression());
  }

  /// A non-negative index below 12, loaded from contents of 16.
  void add_index_load(Body* body) {
    const auto derived = add_derivation(&program(), body, trace::Derivation::REMAINDER,
                                        random_expression(1), expression(12));
    scope_.push_back({1, trace::DERIVED, derived});
    const auto site = add_access(&program(), body, trace::GLOBAL, false, 4, 1,
                                 expression(4, {{4, trace::DERIVED, derived}}));
    program().mutable_sites(static_cast<int>(site))->set_index_load(true);
    for (int i = 0; i < 16; ++i) made_.index[site].push_back(pick(-5, 20));
    scope_.push_back({1, trace::DATA, site});
  }

  void add_random_derivation(Body* body) {
    const auto op = static_cast<trace::Derivation::Operator>(pick(0, 6));
    trace::Expression right = random_expression(1);
    const bool positive = op == trace::Derivation::QUOTIENT || op == trace::Derivation::REMAINDER;
    const bool shift = op == trace::Derivation::SHIFT_LEFT || op == trace::Derivation::SHIFT_RIGHT;
    if (positive || shift) {
      const auto bounded =
          add_derivation(&program(), body, trace::Derivation::REMAINDER, right, expression(5));
      right = expression(positive ? 1 : 0, {{1, trace::DERIVED, bounded}});
    }
    // Remainders keep products and shifts from growing with depth.
    const auto raw = add_derivation(&program(), body, op, random_expression(1), right);
    const auto kept =
        add_derivation(&program(), body, trace::Derivation::REMAINDER,
                       expression(0, {{1, trace::DERIVED, raw}}), expression(pick(2, 40)));
    scope_.push_back({1, trace::DERIVED, kept});
  }

  void add_random_loop(Body* body, int depth) {
    const auto begin = add_derivation(&program(), body, trace::Derivation::REMAINDER,
                                      random_expression(1), expression(pick(1, 4)));
    const auto length = add_derivation(&program(), body, trace::Derivation::REMAINDER,
                                       random_expression(1), expression(pick(1, 6)));
    const bool lane_begin = chance(40), lane_end = chance(40);
    const std::uint32_t id = loops_++;
    auto* inside = add_loop(
        body, id, lane_begin ? expression(0, {{1, trace::DERIVED, begin}}) : expression(-1),
        lane_end ? expression(1, {{1, trace::DERIVED, length}}) : expression(pick(0, 5)),
        pick(1, 2));
    scope_.push_back({1, trace::LOOP, id});
    fill(inside, depth + 1);
    // The counter is only visible inside; fill() restored what came after it.
    scope_.pop_back();
  }

  /// More values than the last work-item can draw.
  void fill_table(trace::ExplicitTable* table) {
    const std::uint64_t items = group_total(program()) * items_per_group(program());
    for (std::uint64_t i = 0; i < items; ++i) {
      const std::uint32_t count = i + 1 == items ? 20000 : 3;
      table->add_counts(count);
      for (std::uint32_t v = 0; v < count; ++v)
        table->add_deltas(v % 2 == 0 ? pick(0, 7) : -pick(0, 7));
    }
  }

  std::mt19937 random_;
  RandomProgram made_;
  std::vector<Term> scope_;
  std::uint32_t loops_ = 0;
  int deepest_ = 4, most_items_ = 24, most_groups_ = 3;
};

/// Random programs name arguments freely: give images and buffers numbers of their own.
inline void part_arguments(trace::AccessProgram* program) {
  for (auto& site : *program->mutable_sites()) {
    if (site.space() == trace::LOCAL) continue;
    site.set_argument(2 * site.argument() + (site.space() == trace::IMAGE ? 1 : 0));
    if (site.space() == trace::IMAGE) site.set_atomic(false);
  }
}

}  // namespace fm::test
