#include "planner/overlap/lc_opg_branch.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

constexpr double integral = 1e-5;
/// Local search at a node: cheap, the rounded solutions of its children follow.
constexpr std::uint64_t node_search_work = 200'000;
/// So few undecided weights are tried in all combinations.
constexpr std::size_t most_exhausted = 10;

}  // namespace

LcOpgBranch::LcOpgBranch(const LcOpgInstance& instance, const LcOpgRows& rows, LcOpgSolution start)
    : instance_(instance), rows_(rows), master_(instance, rows), best_(std::move(start)) {
  if (best_.cost == PreloadEvaluator::impossible) return;
  if (const auto shares = srpt_schedule(instance, best_.preloaded)) master_.add_schedule(*shares);
}

std::int64_t LcOpgBranch::bound() const {
  const std::int64_t open = open_.empty() ? best_.cost : open_.begin()->bound;
  return std::min({open, stuck_, best_.cost});
}

/// What cannot be part of a better plan is decided.
void LcOpgBranch::fix_by_excess(const LcOpgAnswer& answer,
                                std::vector<LcOpgChoice>* choices) const {
  const auto hopeless = [&](double excess) {
    return answer.value + excess > 1e9 * static_cast<double>(best_.cost) ||
           whole_bound(answer.value + excess) >= best_.cost;
  };
  for (const std::size_t w : rows_.weights) {
    LcOpgChoice& choice = (*choices)[w];
    if (!choice.may_preload || !choice.may_stream) continue;
    if (hopeless(answer.preload_excess[w])) {
      choice.may_preload = false;
    } else if (hopeless(answer.stream_excess[w])) {
      choice.may_stream = false;
    }
  }
}

std::vector<std::size_t> LcOpgBranch::undecided(const std::vector<LcOpgChoice>& choices) const {
  std::vector<std::size_t> weights;
  for (const std::size_t w : rows_.weights) {
    if (choices[w].may_preload && choices[w].may_stream) weights.push_back(w);
  }
  return weights;
}

void LcOpgBranch::take(LcOpgSolution found) {
  if (found.cost >= best_.cost) return;
  best_ = std::move(found);
  if (const auto shares = srpt_schedule(instance_, best_.preloaded)) master_.add_schedule(*shares);
}

/// Plans near a relaxation that has `shares` of the weights in W.
void LcOpgBranch::round(const std::vector<LcOpgChoice>& choices, const std::vector<double>& shares,
                        std::uint64_t work, LcOpgBudget* budget) {
  const std::vector<std::size_t> movable = undecided(choices);
  std::vector<std::vector<char>> tried;
  for (const double threshold : {0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98}) {
    std::vector<char> preloaded = instance_.settled;
    for (const std::size_t w : rows_.weights) {
      preloaded[w] = !choices[w].may_stream || (choices[w].may_preload && shares[w] > threshold);
    }
    if (std::find(tried.begin(), tried.end(), preloaded) != tried.end()) continue;
    tried.push_back(preloaded);
  }
  for (std::vector<char>& preloaded : tried) {
    LcOpgBudget share = *budget;
    share.work = std::min(budget->work, work);
    const std::uint64_t before = share.work;
    take(descend(instance_, std::move(preloaded), movable, &share));
    budget->work -= before - share.work;
  }
}

/// Tries every W that `choices` leave, by moving one weight at a time (Gray's order).
void LcOpgBranch::exhaust(const std::vector<LcOpgChoice>& choices,
                          const std::vector<std::size_t>& weights) {
  std::vector<char> preloaded = instance_.settled;
  for (const std::size_t w : rows_.weights) preloaded[w] = choices[w].may_stream ? 0 : 1;
  PreloadEvaluator evaluator(instance_, std::move(preloaded));
  const std::size_t count = std::size_t{1} << weights.size();
  for (std::size_t i = 1;; ++i) {
    take({evaluator.preloaded(), evaluator.cost()});
    if (i == count) return;
    std::size_t changed = 0;
    while ((i >> changed & 1) == 0) ++changed;
    evaluator.move({weights[changed]});
  }
}

/// The weight nearest to half in W, the largest of equals; else the one with
/// the widest spread of distances. False when the program's solution has
/// neither.
bool LcOpgBranch::split(const std::vector<LcOpgChoice>& choices, std::vector<LcOpgChoice>* first,
                        std::vector<LcOpgChoice>* second) const {
  double best = 0;
  std::size_t chosen = 0;
  std::int64_t at = 0;  // 0: in W or not
  for (const std::size_t w : rows_.weights) {
    const double share = master_.preloaded(w);
    const double merit =
        std::min(share, 1 - share) * static_cast<double>(instance_.chunks[w]) + 1e6;
    if (share > integral && share < 1 - integral && merit > best) {
      best = merit;
      chosen = w;
      at = 0;
      continue;
    }
    const auto distances = master_.distances(w);
    if (distances.size() < 2) continue;
    const std::int64_t low = distances.front().first, high = distances.back().first;
    if (static_cast<double>(high - low) > best) {
      best = static_cast<double>(high - low);
      chosen = w;
      at = low + (high - low) / 2;
    }
  }
  if (best == 0) return false;
  *first = *second = choices;
  if (at == 0) {
    (*first)[chosen].may_stream = false;
    (*second)[chosen].may_preload = false;
  } else {
    (*first)[chosen].most_distance = at;
    (*second)[chosen].may_preload = false;
    (*second)[chosen].least_distance = at + 1;
  }
  return true;
}

void LcOpgBranch::open(std::vector<LcOpgChoice> choices, std::int64_t bound) {
  open_.insert({bound, ++opened_, std::move(choices)});
}

void LcOpgBranch::root(std::uint64_t work, LcOpgBudget* budget) {
  std::vector<LcOpgChoice> choices(instance_.weight_count());
  LcOpgLagrangian lagrangian(instance_, rows_, choices, master_.penalty());
  LcOpgAscent ascent = ascend(instance_, rows_, &lagrangian, best_.cost, work, budget->stopped);
  const std::int64_t bound = whole_bound(ascent.answer.value);
  prices_ = ascent.prices;
  if (bound < best_.cost) {
    const std::vector<LcOpgChoice> open_choices = choices;
    fix_by_excess(ascent.answer, &choices);
    round(choices, ascent.preloaded, budget->work / 16, budget);
    fix_by_excess(ascent.answer, &choices);
    const std::vector<std::size_t> left = undecided(choices);
    if (left.size() <= most_exhausted) return exhaust(choices, left);
    take(search_around(instance_, best_, left, bound, budget));
    master_.add(ascent.columns);
    open(open_choices, bound);
  }
}

void LcOpgBranch::branch(std::uint64_t lp_work, LcOpgBudget* budget) {
  while (!open_.empty() && master_.work() < lp_work && !budget->stopped()) {
    if (open_.begin()->bound >= best_.cost) {
      open_.clear();
      break;
    }
    Node node = std::move(open_.extract(open_.begin()).value());
    ++nodes_;
    master_.restrict_to(node.choices);
    LcOpgLagrangian lagrangian(instance_, rows_, node.choices, master_.penalty());
    LcOpgBound bound =
        generate_columns(prices_, &lagrangian, best_.cost, lp_work, budget->stopped, &master_);
    const std::int64_t cost = std::max(bound.cost, node.bound);
    prices_ = std::move(bound.prices);
    if (cost >= best_.cost) continue;
    if (!bound.converged) {
      open(std::move(node.choices), cost);
      continue;
    }
    std::vector<double> shares(instance_.weight_count(), 1);
    for (const std::size_t w : rows_.weights) shares[w] = master_.preloaded(w);
    std::vector<LcOpgChoice> first, second;
    const bool divided = split(node.choices, &first, &second);
    fix_by_excess(bound.answer, &node.choices);
    round(node.choices, shares, node_search_work, budget);
    const std::vector<std::size_t> left = undecided(node.choices);
    if (left.size() <= most_exhausted) {
      exhaust(node.choices, left);
      continue;
    }
    if (cost >= best_.cost) continue;
    if (divided) {
      fix_by_excess(bound.answer, &first);
      fix_by_excess(bound.answer, &second);
      open(std::move(first), cost);
      open(std::move(second), cost);
    } else {
      stuck_ = std::min(stuck_, cost);
    }
  }
}

}  // namespace fm
