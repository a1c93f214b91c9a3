#pragma once
// A function's control flow as a recording needs it: which branches decide about accesses, where
// their sides meet again, what its loops are and how they are left.

#include <cstdint>
#include <vector>

namespace fm {

struct FlowBlock {
  std::vector<std::uint32_t> successors;  ///< empty: it returns
  bool accesses = false;                  ///< memory, barriers, calls of what has any
  bool computes = false;                  ///< arithmetic that is counted
};

constexpr std::uint32_t no_block = ~std::uint32_t{0};

struct FlowLoop {
  std::uint32_t header = 0;
  std::uint32_t parent = no_block;  ///< index of the loop around it
  std::vector<bool> contains;       ///< by block
  bool recorded = false;            ///< something in it is
  /// Its header only decides whether there is another iteration: it belongs to none.
  bool tested_at_header = false;
  std::vector<std::uint32_t> exits;    ///< blocks outside that it leaves for
  std::uint32_t exit_join = no_block;  ///< where the ways from them meet
  bool exits_matter = false;           ///< something is recorded on these ways
};

class FlowGraph {
 public:
  /// Block 0 is the entry.
  explicit FlowGraph(std::vector<FlowBlock> blocks);

  /// False where a cycle has two entries: then nothing else holds.
  bool reducible() const { return reducible_; }
  const std::vector<FlowLoop>& loops() const { return loops_; }
  /// Innermost loop around a block, or no_block.
  std::uint32_t loop_of(std::uint32_t block) const { return loop_of_[block]; }
  /// The block that all ways from the end of `block` pass first, or no_block.
  std::uint32_t join(std::uint32_t block) const { return join_[block]; }
  /// What is recorded depends on the branch at the block's end, other than by leaving a loop.
  bool guards(std::uint32_t block) const { return guards_[block]; }
  /// Its arithmetic is counted: no unrecorded branch decides whether it runs.
  bool counts(std::uint32_t block) const { return counts_[block]; }

 private:
  void find_order();
  void find_dominators();
  void find_joins();
  void find_loops();
  void nest_loops();
  void find_recorded();
  void find_exits();
  void find_guards();
  std::vector<std::uint32_t> region(const std::vector<std::uint32_t>& from, std::uint32_t loop,
                                    std::uint32_t end) const;
  bool records(const std::vector<std::uint32_t>& blocks) const;
  bool dominates(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t common_join(const std::vector<std::uint32_t>& blocks) const;

  std::vector<FlowBlock> blocks_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> order_;   // reachable blocks, reverse postorder
  std::vector<std::uint32_t> number_;  // in that order, or no_block
  std::vector<std::uint32_t> dominator_, join_, join_depth_, loop_of_;
  std::vector<FlowLoop> loops_;
  std::vector<bool> guards_, counts_;
  bool reducible_ = true;
};

}  // namespace fm
