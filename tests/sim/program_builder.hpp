#pragma once
// Small access programs for tests, written by hand.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/access_program.hpp"

namespace fm::test {

using Body = google::protobuf::RepeatedPtrField<trace::Node>;

struct Term {
  std::int64_t coefficient;
  trace::VariableKind variable;
  std::uint32_t index = 0;
};

inline trace::Expression expression(std::int64_t constant, std::initializer_list<Term> terms = {}) {
  trace::Expression result;
  result.set_constant(constant);
  for (const Term& term : terms) {
    auto* added = result.add_terms();
    added->set_coefficient(term.coefficient);
    added->set_variable(term.variable);
    added->set_index(term.index);
  }
  return result;
}

inline trace::AccessProgram empty_program(std::array<std::uint32_t, 3> local,
                                          std::array<std::uint32_t, 3> groups) {
  trace::AccessProgram program;
  program.set_id(1);
  program.set_kernel("hand_made");
  program.set_key("hand_made");
  std::uint64_t total = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    program.add_local_size(local[d]);
    program.add_group_count(groups[d]);
    total *= groups[d];
  }
  program.set_groups_total(total);
  program.set_groups_fitted(total);
  program.set_groups_checked(total);
  (*program.mutable_registers())["valhall"] = 32;
  (*program.mutable_registers())["bifrost"] = 32;
  (*program.mutable_registers())["adreno"] = 32;
  program.set_registers_source("estimated: a test");
  return program;
}

/// Adds a site and the node that makes its access; returns the site's index.
inline std::uint32_t add_access(trace::AccessProgram* program, Body* body, trace::Space space,
                                bool write, std::uint32_t bytes, std::uint32_t argument,
                                const trace::Expression& x, const trace::Expression& y = {}) {
  auto* site = program->add_sites();
  site->set_space(space);
  site->set_write(write);
  site->set_bytes(bytes);
  site->set_argument(argument);
  *site->mutable_x() = x;
  *site->mutable_y() = y;
  const auto index = static_cast<std::uint32_t>(program->sites_size() - 1);
  body->Add()->set_access(index);
  return index;
}

inline Body* add_loop(Body* body, std::uint32_t id, const trace::Expression& begin,
                      const trace::Expression& end, std::int64_t step = 1) {
  auto* loop = body->Add()->mutable_loop();
  loop->set_id(id);
  *loop->mutable_begin() = begin;
  *loop->mutable_end() = end;
  loop->set_step(step);
  return loop->mutable_body();
}

inline trace::Node::Guard* add_guard(Body* body, const trace::Expression& left,
                                     trace::Relation relation, const trace::Expression& right) {
  auto* guard = body->Add()->mutable_guard();
  *guard->mutable_left() = left;
  guard->set_relation(relation);
  *guard->mutable_right() = right;
  return guard;
}

inline std::uint32_t add_derivation(trace::AccessProgram* program, Body* body,
                                    trace::Derivation::Operator op, const trace::Expression& left,
                                    const trace::Expression& right) {
  auto* derivation = program->add_derivations();
  derivation->set_operator_(op);
  *derivation->mutable_left() = left;
  *derivation->mutable_right() = right;
  const auto index = static_cast<std::uint32_t>(program->derivations_size() - 1);
  body->Add()->set_derive(index);
  return index;
}

inline void add_arithmetic(Body* body, trace::ArithmeticKind kind, std::uint32_t count,
                           std::uint32_t loads_in_flight = 0) {
  auto* arithmetic = body->Add()->mutable_arithmetic();
  arithmetic->set_kind(kind);
  arithmetic->set_count(count);
  arithmetic->set_loads_in_flight(loads_in_flight);
}

}  // namespace fm::test
