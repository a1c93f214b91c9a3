#include "executor/recorder/group_choice.hpp"

#include <algorithm>

namespace fm {
namespace {

constexpr std::size_t random_checks = 8;

GroupId random_group(std::array<std::uint32_t, 3> counts, std::mt19937_64& random) {
  GroupId group{};
  for (std::size_t d = 0; d < 3; ++d) group[d] = static_cast<std::uint32_t>(random() % counts[d]);
  return group;
}

std::uint64_t total(std::array<std::uint32_t, 3> counts) {
  return std::uint64_t{counts[0]} * counts[1] * counts[2];
}

/// left - right of a predicate, when both are plain sums.
struct Difference {
  bool known = false;
  SlotForm form;
};

Difference difference(const ExpressionFits& fits, std::uint32_t first) {
  if (fits.state(first) != FitState::fitted || fits.state(first + 1) != FitState::fitted) return {};
  const FittedExpression& left = fits.fitted(first);
  const FittedExpression& right = fits.fitted(first + 1);
  if (!left.synthesised.empty() || !right.synthesised.empty()) return {};
  Difference result{true, left.form};
  result.form.constant -= right.form.constant;
  for (const auto& [slot, coefficient] : right.form.terms) {
    result.form.terms.emplace_back(slot, -coefficient);
  }
  return result;
}

bool is_predicate(const TreeNode& node) {
  if (node.kind == RecordKind::loop || node.kind == RecordKind::guard) return true;
  return node.kind == RecordKind::derivation &&
         (node.detail == trace::Derivation::MINIMUM || node.detail == trace::Derivation::MAXIMUM);
}

/// Group ids of dimension `d` around which the difference crosses 0, the other variables at their
/// extremes.
void add_breakpoints(const AccessTree& tree, const SlotForm& form, std::uint32_t d,
                     std::uint32_t count, std::set<std::uint32_t>* ids) {
  std::int64_t slope = 0, least = form.constant, greatest = form.constant;
  for (const auto& [slot, coefficient] : form.terms) {
    const TreeVariable& variable = tree.variables[slot];
    if (slot == d) {
      slope += coefficient;
    } else if (variable.least <= variable.greatest) {
      least += std::min(coefficient * variable.least, coefficient * variable.greatest);
      greatest += std::max(coefficient * variable.least, coefficient * variable.greatest);
    }
  }
  if (slope == 0) return;
  for (const std::int64_t rest : {least, greatest}) {
    const std::int64_t at = -rest / slope;
    for (std::int64_t id = at - 1; id <= at + 1; ++id) {
      if (id >= 0 && id < count) ids->insert(static_cast<std::uint32_t>(id));
    }
  }
}

void collect(const AccessTree& tree, const ExpressionFits& fits, const TreeBlock& block,
             std::array<std::uint32_t, 3> counts, std::array<std::set<std::uint32_t>, 3>* ids) {
  for (const auto& node : block.nodes) {
    if (is_predicate(*node)) {
      const Difference sides = difference(fits, node->first_expression);
      for (std::uint32_t d = 0; sides.known && d < 3; ++d) {
        if (counts[d] > 1) add_breakpoints(tree, sides.form, d, counts[d], &(*ids)[d]);
      }
    }
    collect(tree, fits, node->body, counts, ids);
    collect(tree, fits, node->otherwise, counts, ids);
  }
}

}  // namespace

std::vector<GroupId> all_groups(std::array<std::uint32_t, 3> counts, std::uint64_t first,
                                std::uint64_t size) {
  std::vector<GroupId> groups;
  for (std::uint64_t i = first; i < std::min(first + size, total(counts)); ++i) {
    groups.push_back({static_cast<std::uint32_t>(i % counts[0]),
                      static_cast<std::uint32_t>(i / counts[0] % counts[1]),
                      static_cast<std::uint32_t>(i / counts[0] / counts[1])});
  }
  return groups;
}

std::vector<GroupId> groups_to_fit(std::array<std::uint32_t, 3> counts, std::mt19937_64& random) {
  if (total(counts) <= 12) return all_groups(counts, 0, 12);
  std::set<GroupId> chosen;
  for (std::uint32_t corner = 0; corner < 8; ++corner) {
    GroupId group{};
    for (std::size_t d = 0; d < 3; ++d) group[d] = corner >> d & 1 ? counts[d] - 1 : 0;
    chosen.insert(group);
    for (std::size_t d = 0; d < 3; ++d) {
      GroupId midpoint = group;
      midpoint[d] = counts[d] / 2;
      chosen.insert(midpoint);
    }
  }
  for (int i = 0; i < 3; ++i) chosen.insert(random_group(counts, random));
  return {chosen.begin(), chosen.end()};
}

std::vector<GroupId> groups_to_check(const AccessTree& tree, const ExpressionFits& fits,
                                     std::array<std::uint32_t, 3> counts,
                                     const std::set<GroupId>& known, std::size_t limit,
                                     std::mt19937_64& random) {
  std::set<GroupId> chosen;
  const auto add = [&](const GroupId& group) {
    if (known.count(group) == 0 && chosen.size() < limit) chosen.insert(group);
  };
  // A random group costs nothing when drawn twice; small launches run out of new ones.
  for (std::size_t tries = 0; tries < 4 * random_checks && chosen.size() < random_checks; ++tries) {
    add(random_group(counts, random));
  }
  std::array<std::set<std::uint32_t>, 3> ids;
  collect(tree, fits, tree.root, counts, &ids);
  for (std::size_t d = 0; d < 3; ++d) {
    for (const std::uint32_t id : ids[d]) {
      GroupId group = random_group(counts, random);
      group[d] = id;
      add(group);
    }
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace fm
