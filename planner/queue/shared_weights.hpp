#pragma once
// Contents that several weights of a plan have: held from one use to the next, or read again.

#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// Between the last use of one weight and the first of the next one with its contents.
struct HoldGap {
  std::size_t group = 0, member = 0;  ///< the weight before, in SharedWeights' groups
  Bytes bytes;
  std::size_t from = 0, until = 0;  ///< launches
};

class SharedWeights {
 public:
  /// `plan`: kernels only, placed; must outlive it. `groups`: tensor ids of weights with equal
  /// contents (equal_weights()). Weights that overlap in time, are too small to be streamed or are
  /// never loaded are one weight in any case; the others have a gap between each and the next.
  SharedWeights(const Plan& plan, const std::vector<std::vector<std::string>>& groups);

  const std::vector<HoldGap>& gaps() const { return gaps_; }
  /// The plan in which weights around a gap are one where `held` (by gap), and else two weights of
  /// one slice, the second read again. Each weight bears the first one's id.
  Plan joined(const std::vector<char>& held) const;
  /// The gaps behind weights that `plan`, made of joined(held), preloads: holding them costs
  /// nothing.
  std::vector<char> held_with_preloads(const Plan& plan, std::vector<char> held) const;

 private:
  struct Member {
    std::string tensor;
    std::size_t first = 0, last = 0;  // uses
    bool used = false;
    bool joins_next = false;  // whatever is held
  };
  using Group = std::vector<Member>;
  void add_gaps(std::size_t group);
  /// By member of each group, the id that it bears.
  std::vector<std::vector<std::string>> names(const std::vector<char>& held) const;

  const Plan& plan_;
  std::vector<Group> groups_;
  std::vector<HoldGap> gaps_;
};

/// Which gaps may be held: none, all, and by shares of their bytes the first ones, the last ones,
/// the shortest ones, and some spread evenly.
std::vector<std::vector<char>> hold_candidates(const std::vector<HoldGap>& gaps);

}  // namespace fm
