#include "executor/recorder/guard_folding.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace fm {
namespace {

using Block = google::protobuf::RepeatedPtrField<trace::Node>;

/// Bounds of a value, both included; the ends of the type stand for none.
struct Range {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  bool from_below() const { return least != std::numeric_limits<std::int64_t>::min(); }
  bool from_above() const { return greatest != std::numeric_limits<std::int64_t>::max(); }
};

class Folding {
 public:
  explicit Folding(trace::AccessProgram* program) : program_(*program) {}

  void run() { fold(program_.mutable_body()); }

 private:
  void fold(Block* block) {
    Block folded;
    for (trace::Node& node : *block) {
      if (node.has_loop()) {
        loops_[node.loop().id()] = counter_range(node.loop());
        fold(node.mutable_loop()->mutable_body());
      } else if (node.has_derive()) {
        derived_[node.derive()] = range(program_.derivations(static_cast<int>(node.derive())));
      } else if (node.has_guard()) {
        trace::Node::Guard* guard = node.mutable_guard();
        fold(guard->mutable_body());
        fold(guard->mutable_otherwise());
        if (const std::optional<bool> known = outcome(*guard)) {
          for (trace::Node& kept : *(*known ? guard->mutable_body() : guard->mutable_otherwise())) {
            *folded.Add() = std::move(kept);
          }
          continue;
        }
      }
      *folded.Add() = std::move(node);
    }
    block->Swap(&folded);
  }

  std::optional<bool> outcome(const trace::Node::Guard& guard) const {
    if (guard.left().explicit_table() != 0 || guard.right().explicit_table() != 0) return {};
    const Range difference = range(guard.left(), guard.right());
    const bool negative = difference.greatest<0, positive = difference.least> 0;
    const bool zero = difference.least == 0 && difference.greatest == 0;
    switch (guard.relation()) {
      case trace::LT:
        return either(negative, difference.least >= 0);
      case trace::LE:
        return either(difference.greatest <= 0, positive);
      case trace::GT:
        return either(positive, difference.greatest <= 0);
      case trace::GE:
        return either(difference.least >= 0, negative);
      case trace::EQ:
        return either(zero, negative || positive);
      default:
        return either(negative || positive, zero);
    }
  }

  static std::optional<bool> either(bool always, bool never) {
    if (always || never) return always;
    return std::nullopt;
  }

  /// Of left - right.
  Range range(const trace::Expression& left, const trace::Expression& right) const {
    std::map<std::pair<int, std::uint32_t>, std::int64_t> coefficients;
    for (const trace::LinearTerm& term : left.terms()) {
      coefficients[{term.variable(), term.index()}] += term.coefficient();
    }
    for (const trace::LinearTerm& term : right.terms()) {
      coefficients[{term.variable(), term.index()}] -= term.coefficient();
    }
    Range sum{left.constant() - right.constant(), left.constant() - right.constant()};
    for (const auto& [variable, coefficient] : coefficients) {
      if (coefficient != 0) add(coefficient, range(variable), &sum);
    }
    return sum;
  }

  static void add(std::int64_t coefficient, const Range& range, Range* sum) {
    const bool up = coefficient > 0;
    const bool low = up ? range.from_below() : range.from_above();
    const bool high = up ? range.from_above() : range.from_below();
    if (low && sum->from_below()) {
      sum->least += coefficient * (up ? range.least : range.greatest);
    } else {
      sum->least = Range().least;
    }
    if (high && sum->from_above()) {
      sum->greatest += coefficient * (up ? range.greatest : range.least);
    } else {
      sum->greatest = Range().greatest;
    }
  }

  Range range(const std::pair<int, std::uint32_t>& variable) const {
    const auto [kind, index] = variable;
    if (kind <= trace::GROUP_Z) return {0, std::int64_t{program_.group_count(kind)} - 1};
    if (kind <= trace::LOCAL_Z) {
      return {0, std::int64_t{program_.local_size(kind - trace::LOCAL_X)} - 1};
    }
    const auto& known = kind == trace::LOOP ? loops_ : derived_;
    const auto found = known.find(index);
    return kind == trace::DATA || found == known.end() ? Range{} : found->second;
  }

  Range whole(const trace::Expression& expression) const {
    if (expression.explicit_table() != 0) return {};
    return range(expression, trace::Expression());
  }

  Range counter_range(const trace::Node::Loop& loop) const {
    const Range end = whole(loop.end());
    return {whole(loop.begin()).least, end.from_above() ? end.greatest - 1 : end.greatest};
  }

  Range range(const trace::Derivation& derivation) const {
    const Range left = whole(derivation.left()), right = whole(derivation.right());
    switch (derivation.operator_()) {
      case trace::Derivation::REMAINDER:
        return {0, right.from_above() ? right.greatest - 1 : right.greatest};
      case trace::Derivation::QUOTIENT:
      case trace::Derivation::SHIFT_RIGHT:
        if (left.least < 0) return {};
        return {0, left.greatest};
      default:
        return {};
    }
  }

  trace::AccessProgram& program_;
  std::map<std::uint32_t, Range> loops_, derived_;
};

}  // namespace

void fold_guards(trace::AccessProgram* program) { Folding(program).run(); }

}  // namespace fm
