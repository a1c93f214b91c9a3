#include "executor/recorder/synthesised_terms.hpp"

#include <algorithm>

#include "core/access_program.hpp"

namespace fm {
namespace {

using Operator = trace::Derivation;

struct Range {
  SlotForm form;
  std::int64_t greatest = 0;
};

SlotForm variable(std::uint32_t slot) { return {0, {{slot, 1}}}; }
SlotForm number(std::int64_t value) { return {value, {}}; }

std::vector<Range> id_ranges(const LaunchIntegers& integers) {
  std::vector<Range> ranges;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const std::int64_t size = integers.local_size[d], count = integers.group_count[d];
    if (size > 1 && count > 1) {
      ranges.push_back({{0, {{d, size}, {3 + d, 1}}}, size * count - 1});
    }
    if (count > 1) ranges.push_back({variable(d), count - 1});
    if (size > 1) ranges.push_back({variable(3 + d), size - 1});
  }
  return ranges;
}

std::vector<Range> loop_ranges(const AccessTree& tree, const std::vector<std::uint32_t>& scope) {
  std::vector<Range> ranges;
  for (const std::uint32_t slot : scope) {
    const TreeVariable& loop = tree.variables[slot];
    if (loop.kind == trace::LOOP && loop.greatest > 0) {
      ranges.push_back({variable(slot), loop.greatest});
    }
  }
  return ranges;
}

/// Integers above 1, each once, likely divisors first.
std::vector<std::int64_t> divisors(const LaunchIntegers& integers) {
  std::vector<std::int64_t> all;
  const auto add = [&](std::int64_t q) {
    if (q > 1 && q < (std::int64_t{1} << 31) && std::find(all.begin(), all.end(), q) == all.end()) {
      all.push_back(q);
    }
  };
  for (const std::int64_t q : integers.arguments) add(q);
  for (const std::int64_t q : integers.parameters) add(q);
  for (const std::uint32_t q : integers.local_size) add(q);
  for (const std::int64_t q : {2, 3, 4, 8, 16, 32}) add(q);
  for (const std::int64_t a : integers.arguments) {
    for (const std::int64_t b : integers.arguments) {
      if (a > 1 && b > 1 && b < (std::int64_t{1} << 31) / a) add(a * b);
    }
  }
  return all;
}

void add_shifts(const std::vector<Range>& ids, const Range& loop,
                const std::vector<std::int64_t>& numbers, std::vector<SynthesisedTerm>* terms) {
  if (loop.greatest > 30) return;
  terms->push_back({Operator::SHIFT_LEFT, number(1), loop.form});
  for (const Range& id : ids) {
    terms->push_back({Operator::SHIFT_LEFT, id.form, loop.form});
    terms->push_back({Operator::SHIFT_RIGHT, id.form, loop.form});
  }
  for (const std::int64_t n : numbers) {
    terms->push_back({Operator::SHIFT_RIGHT, number(n), loop.form});
    if (n % 2 == 0) terms->push_back({Operator::SHIFT_RIGHT, number(n / 2), loop.form});
  }
}

}  // namespace

bool operator==(const SlotForm& a, const SlotForm& b) {
  return a.constant == b.constant && a.terms == b.terms;
}

bool operator==(const SynthesisedTerm& a, const SynthesisedTerm& b) {
  return a.op == b.op && a.left == b.left && a.right == b.right;
}

std::int64_t evaluate(const SlotForm& form, const std::int64_t* variables) {
  std::int64_t value = form.constant;
  for (const auto& [slot, coefficient] : form.terms) value += coefficient * variables[slot];
  return value;
}

std::int64_t evaluate(const SynthesisedTerm& term, const std::int64_t* variables) {
  return derive(term.op, evaluate(term.left, variables), evaluate(term.right, variables));
}

std::vector<SynthesisedTerm> synthesised_candidates(const AccessTree& tree,
                                                    const std::vector<std::uint32_t>& scope,
                                                    const LaunchIntegers& integers) {
  const std::vector<Range> ids = id_ranges(integers), loops = loop_ranges(tree, scope);
  const std::vector<std::int64_t> numbers = divisors(integers);
  std::vector<Range> dividends = ids;
  dividends.insert(dividends.end(), loops.begin(), loops.end());
  std::vector<SynthesisedTerm> terms;
  for (const std::int64_t q : numbers) {
    for (const Range& v : dividends) {
      if (q <= v.greatest) terms.push_back({Operator::QUOTIENT, v.form, number(q)});
    }
  }
  for (const Range& loop : loops) {
    const bool counts_up = tree.variables[loop.form.terms[0].first].least >= 0;
    if (counts_up) add_shifts(ids, loop, numbers, &terms);
  }
  for (std::size_t a = 0; a < dividends.size(); ++a) {
    for (std::size_t b = a; b < dividends.size(); ++b) {
      terms.push_back({Operator::PRODUCT, dividends[a].form, dividends[b].form});
    }
  }
  return terms;
}

}  // namespace fm
