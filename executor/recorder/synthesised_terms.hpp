#pragma once
// Candidates for index arithmetic that a kernel does with plain / % << >> *, without the macros:
// what one could derive from the variables in scope and the launch's integers.

#include <cstdint>
#include <utility>
#include <vector>

#include "core/trace.pb.h"
#include "executor/recorder/access_tree.hpp"

namespace fm {

/// constant + sum of coefficient * variable, by slot.
struct SlotForm {
  std::int64_t constant = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
};
bool operator==(const SlotForm& a, const SlotForm& b);
std::int64_t evaluate(const SlotForm& form, const std::int64_t* variables);

struct SynthesisedTerm {
  trace::Derivation::Operator op = trace::Derivation::QUOTIENT;
  SlotForm left, right;
};
bool operator==(const SynthesisedTerm& a, const SynthesisedTerm& b);
std::int64_t evaluate(const SynthesisedTerm& term, const std::int64_t* variables);

/// What the candidates of a launch are made from.
struct LaunchIntegers {
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::array<std::uint32_t, 3> group_count{1, 1, 1};
  std::vector<std::int64_t> arguments;   ///< scalar integer arguments
  std::vector<std::int64_t> parameters;  ///< compile-time integers
};

/// floor(v / q) for v in group, local and global ids and the loop counters in scope, and q over
/// arguments, their pairwise products, parameters, local sizes and small powers of two (v mod q is
/// linear in v and floor(v / q)); shifts by loop counters; products of two variables. Likely ones
/// first; only those that can vary.
std::vector<SynthesisedTerm> synthesised_candidates(const AccessTree& tree,
                                                    const std::vector<std::uint32_t>& scope,
                                                    const LaunchIntegers& integers);

}  // namespace fm
