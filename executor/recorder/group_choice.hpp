#pragma once
// Which work-groups to record: corners, edge midpoints and a few interior ones to fit on; others at
// random, and both sides of every predicate's breakpoints, to check with.

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "executor/recorder/expression_fit.hpp"
#include "executor/recorder/group_log.hpp"

namespace fm {

/// Distinct groups, all of them when they are few.
std::vector<GroupId> groups_to_fit(std::array<std::uint32_t, 3> counts, std::mt19937_64& random);

/// Groups not in `known`: at random, and where a guard, a loop bound, a minimum or a maximum
/// changes side along one dimension of the group id. At most `limit`.
std::vector<GroupId> groups_to_check(const AccessTree& tree, const ExpressionFits& fits,
                                     std::array<std::uint32_t, 3> counts,
                                     const std::set<GroupId>& known, std::size_t limit,
                                     std::mt19937_64& random);

/// All groups, x fastest.
std::vector<GroupId> all_groups(std::array<std::uint32_t, 3> counts, std::uint64_t first,
                                std::uint64_t size);

}  // namespace fm
