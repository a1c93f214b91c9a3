#include "planner/queue/shared_weights.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "planner/activation_memory.hpp"
#include "planner/streaming.hpp"

namespace fm {
namespace {

/// The gaps in `order`, up to `share` of all bytes.
std::vector<char> first_of(const std::vector<HoldGap>& gaps, const std::vector<std::size_t>& order,
                           double share) {
  double all = 0, taken = 0;
  for (const HoldGap& gap : gaps) all += static_cast<double>(gap.bytes.count());
  std::vector<char> held(gaps.size(), 0);
  for (const std::size_t g : order) {
    taken += static_cast<double>(gaps[g].bytes.count());
    if (taken > share * all) break;
    held[g] = 1;
  }
  return held;
}

/// Whenever the share of the bytes so far calls for another.
std::vector<char> spread(const std::vector<HoldGap>& gaps, const std::vector<std::size_t>& order,
                         double share) {
  double passed = 0, taken = 0;
  std::vector<char> held(gaps.size(), 0);
  for (const std::size_t g : order) {
    const auto bytes = static_cast<double>(gaps[g].bytes.count());
    passed += bytes;
    if (taken + bytes > share * passed) continue;
    taken += bytes;
    held[g] = 1;
  }
  return held;
}

}  // namespace

SharedWeights::SharedWeights(const Plan& plan, const std::vector<std::vector<std::string>>& groups)
    : plan_(plan) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions[plan.launches[i].id] = i;
  for (const std::vector<std::string>& ids : groups) {
    Group group;
    for (const std::string& id : ids) {
      const PlanTensor& tensor = plan.tensor(id);
      Member member;
      member.tensor = id;
      member.used = !tensor.first_use.empty();
      if (member.used) {
        member.first = positions.at(tensor.first_use);
        member.last = positions.at(tensor.last_use);
      }
      group.push_back(std::move(member));
    }
    // What no launch uses comes first: list_weights() puts it there.
    std::stable_sort(group.begin(), group.end(),
                     [](const Member& a, const Member& b) { return a.first < b.first; });
    groups_.push_back(std::move(group));
    add_gaps(groups_.size() - 1);
  }
}

void SharedWeights::add_gaps(std::size_t group) {
  Group& members = groups_[group];
  const Bytes bytes = plan_.tensor(members.front().tensor).bytes;
  std::size_t last = members.front().last;
  for (std::size_t m = 0; m + 1 < members.size(); ++m) {
    const Member& next = members[m + 1];
    const bool apart = members[m].used && next.used && next.first > last;
    members[m].joins_next = !apart || bytes < smallest_streamed;
    if (!members[m].joins_next) gaps_.push_back({group, m, bytes, last, next.first});
    last = std::max(last, next.last);
  }
}

std::vector<std::vector<std::string>> SharedWeights::names(const std::vector<char>& held) const {
  std::vector<std::vector<char>> joins;
  for (const Group& group : groups_) {
    joins.emplace_back();
    for (const Member& member : group) joins.back().push_back(member.joins_next ? 1 : 0);
  }
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (held[g]) joins[gaps_[g].group][gaps_[g].member] = 1;
  }
  std::vector<std::vector<std::string>> names;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    names.emplace_back();
    for (std::size_t m = 0; m < groups_[group].size(); ++m) {
      const bool joined = m > 0 && joins[group][m - 1];
      names.back().push_back(joined ? names.back().back() : groups_[group][m].tensor);
    }
  }
  return names;
}

Plan SharedWeights::joined(const std::vector<char>& held) const {
  std::map<std::string, std::string> renamed;    // weights that are another's
  std::map<std::string, std::string> stored_as;  // weights that are read again
  const std::vector<std::vector<std::string>> all_names = names(held);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const std::string& first = all_names[group].front();
    for (std::size_t m = 0; m < groups_[group].size(); ++m) {
      const std::string &own = groups_[group][m].tensor, &name = all_names[group][m];
      if (name != own) renamed[own] = name;
      if (name != first) stored_as[name] = first;
    }
  }
  Plan plan = plan_;
  const auto rename = [&](std::string* id) {
    if (const auto found = renamed.find(*id); found != renamed.end()) *id = found->second;
  };
  for (PlanLaunch& launch : plan.launches) {
    for (LaunchArgument& argument : launch.arguments) {
      if (auto* used = std::get_if<TensorArgument>(&argument)) rename(&used->tensor);
    }
  }
  for (WeightGather& gather : plan.gathers) {
    for (std::string& part : gather.table) rename(&part);
  }
  plan.tensors.erase(
      std::remove_if(plan.tensors.begin(), plan.tensors.end(),
                     [&](const PlanTensor& tensor) { return renamed.count(tensor.id) != 0; }),
      plan.tensors.end());
  set_uses(&plan);
  list_weights(&plan, stored_as);
  return plan;
}

std::vector<char> SharedWeights::held_with_preloads(const Plan& plan,
                                                    std::vector<char> held) const {
  std::set<std::string> preloaded;
  for (const WeightSlice& slice : plan.weights) {
    if (slice.residency == Residency::preload) preloaded.insert(slice.tensor);
  }
  const std::vector<std::vector<std::string>> all_names = names(held);
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const std::vector<std::string>& group = all_names[gaps_[g].group];
    // A weight that is there for good serves all uses behind it.
    for (std::size_t m = 0; m <= gaps_[g].member; ++m) {
      if (preloaded.count(group[m]) != 0) held[g] = 1;
    }
  }
  return held;
}

std::vector<std::vector<char>> hold_candidates(const std::vector<HoldGap>& gaps) {
  std::vector<std::size_t> first(gaps.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::stable_sort(first.begin(), first.end(),
                   [&](std::size_t a, std::size_t b) { return gaps[a].from < gaps[b].from; });
  const std::vector<std::size_t> last(first.rbegin(), first.rend());
  std::vector<std::size_t> shortest = first;
  std::stable_sort(shortest.begin(), shortest.end(), [&](std::size_t a, std::size_t b) {
    return gaps[a].until - gaps[a].from < gaps[b].until - gaps[b].from;
  });
  std::set<std::vector<char>> held{std::vector<char>(gaps.size(), 1),
                                   std::vector<char>(gaps.size(), 0)};
  for (const double share : {0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875}) {
    held.insert(first_of(gaps, first, share));
    held.insert(first_of(gaps, last, share));
    held.insert(first_of(gaps, shortest, share));
    held.insert(spread(gaps, first, share));
  }
  return {held.begin(), held.end()};
}

}  // namespace fm
