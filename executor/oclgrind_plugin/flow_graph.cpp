#include "executor/oclgrind_plugin/flow_graph.hpp"

#include <algorithm>
#include <utility>

namespace fm {
namespace {

using Blocks = std::vector<std::uint32_t>;

/// Reverse postorder from `root`.
Blocks reverse_postorder(const std::vector<Blocks>& successors, std::uint32_t root) {
  Blocks order;
  std::vector<bool> seen(successors.size());
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == successors[block].size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t successor = successors[block][next++];
    if (seen[successor]) continue;
    seen[successor] = true;
    stack.push_back({successor, 0});
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// Immediate dominators (Cooper, Harvey and Kennedy 2001), no_block for the root and for what it
/// does not reach. `order`: reverse postorder.
Blocks immediate_dominators(const Blocks& order, const std::vector<Blocks>& predecessors) {
  Blocks number(predecessors.size(), no_block), dominator(predecessors.size(), no_block);
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  const std::uint32_t root = order.front();
  dominator[root] = root;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] > number[b]) a = dominator[a];
      while (number[b] > number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t block : order) {
      if (block == root) continue;
      std::uint32_t found = no_block;
      for (const std::uint32_t predecessor : predecessors[block]) {
        if (number[predecessor] == no_block || dominator[predecessor] == no_block) continue;
        found = found == no_block ? predecessor : meet(found, predecessor);
      }
      changed = changed || dominator[block] != found;
      dominator[block] = found;
    }
  }
  dominator[root] = no_block;
  return dominator;
}

}  // namespace

FlowGraph::FlowGraph(std::vector<FlowBlock> blocks)
    : blocks_(std::move(blocks)),
      predecessors_(blocks_.size()),
      number_(blocks_.size(), no_block),
      loop_of_(blocks_.size(), no_block),
      guards_(blocks_.size()),
      counts_(blocks_.size(), true) {
  find_order();
  find_dominators();
  find_joins();
  find_loops();
  if (!reducible_) return;
  nest_loops();
  find_recorded();
  find_exits();
  find_guards();
}

void FlowGraph::find_order() {
  std::vector<Blocks> successors;
  for (const FlowBlock& block : blocks_) successors.push_back(block.successors);
  order_ = reverse_postorder(successors, 0);
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    number_[order_[i]] = i;
    for (const std::uint32_t successor : blocks_[order_[i]].successors) {
      predecessors_[successor].push_back(order_[i]);
    }
  }
}

void FlowGraph::find_dominators() { dominator_ = immediate_dominators(order_, predecessors_); }

/// Dominators of the reversed graph, from one block after all returns.
void FlowGraph::find_joins() {
  const auto end = static_cast<std::uint32_t>(blocks_.size());
  std::vector<Blocks> backwards = predecessors_, forwards(end + 1);
  backwards.emplace_back();
  for (const std::uint32_t block : order_) {
    forwards[block] = blocks_[block].successors;
    if (!forwards[block].empty()) continue;
    forwards[block].push_back(end);
    backwards[end].push_back(block);
  }
  join_ = immediate_dominators(reverse_postorder(backwards, end), forwards);
  for (std::uint32_t& join : join_) {
    if (join == end) join = no_block;
  }
  join_.pop_back();
  join_depth_.assign(blocks_.size(), 0);
  for (const std::uint32_t block : order_) {
    for (std::uint32_t at = join_[block]; at != no_block; at = join_[at]) ++join_depth_[block];
  }
}

bool FlowGraph::dominates(std::uint32_t a, std::uint32_t b) const {
  while (b != no_block && b != a) b = dominator_[b];
  return b == a;
}

void FlowGraph::find_loops() {
  for (const std::uint32_t header : order_) {
    FlowLoop loop;
    loop.header = header;
    loop.contains.assign(blocks_.size(), false);
    loop.contains[header] = true;
    Blocks open;
    for (const std::uint32_t from : predecessors_[header]) {
      if (number_[from] < number_[header]) continue;
      if (!dominates(header, from)) {
        reducible_ = false;
        return;
      }
      open.push_back(from);
    }
    if (open.empty()) continue;
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      if (loop.contains[block]) continue;
      loop.contains[block] = true;
      open.insert(open.end(), predecessors_[block].begin(), predecessors_[block].end());
    }
    loops_.push_back(std::move(loop));
  }
}

/// Headers come in reverse postorder: outer loops before those in them.
void FlowGraph::nest_loops() {
  for (std::uint32_t i = 0; i < loops_.size(); ++i) {
    loops_[i].parent = loop_of_[loops_[i].header];
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      if (loops_[i].contains[block]) loop_of_[block] = i;
    }
  }
}

void FlowGraph::find_recorded() {
  for (FlowLoop& loop : loops_) {
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      if (!loop.contains[block]) continue;
      loop.recorded = loop.recorded || blocks_[block].accesses || blocks_[block].computes;
    }
    const FlowBlock& header = blocks_[loop.header];
    std::size_t outside = 0;
    for (const std::uint32_t successor : header.successors) outside += !loop.contains[successor];
    loop.tested_at_header =
        outside == 1 && header.successors.size() == 2 && !header.accesses && !header.computes;
  }
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    if (loop_of_[block] != no_block && !loops_[loop_of_[block]].recorded) counts_[block] = false;
  }
  for (const FlowLoop& loop : loops_) {
    if (loop.tested_at_header) counts_[loop.header] = false;
  }
}

/// Blocks on the ways from `from` to `end`, within one iteration of `loop`.
std::vector<std::uint32_t> FlowGraph::region(const Blocks& from, std::uint32_t loop,
                                             std::uint32_t end) const {
  Blocks found, open = from;
  std::vector<bool> seen(blocks_.size());
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (block == end || seen[block]) continue;
    if (loop != no_block && (block == loops_[loop].header || !loops_[loop].contains[block])) {
      continue;
    }
    seen[block] = true;
    found.push_back(block);
    open.insert(open.end(), blocks_[block].successors.begin(), blocks_[block].successors.end());
  }
  return found;
}

bool FlowGraph::records(const Blocks& blocks) const {
  return std::any_of(blocks.begin(), blocks.end(), [&](std::uint32_t block) {
    const std::uint32_t loop = loop_of_[block];
    return blocks_[block].accesses || (loop != no_block && loops_[loop].header == block &&
                                       (loops_[loop].recorded || loops_[loop].exits_matter));
  });
}

std::uint32_t FlowGraph::common_join(const Blocks& blocks) const {
  std::uint32_t at = blocks.front();
  const auto depth = [&](std::uint32_t block) { return join_depth_[block]; };
  for (std::uint32_t other : blocks) {
    while (at != other) {
      if (at == no_block || other == no_block) return no_block;
      (depth(at) >= depth(other) ? at : other) = join_[depth(at) >= depth(other) ? at : other];
    }
  }
  return at;
}

/// Inner loops first: what follows a loop may be one whose exits matter.
void FlowGraph::find_exits() {
  for (std::size_t i = loops_.size(); i-- > 0;) {
    FlowLoop& loop = loops_[i];
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      if (!loop.contains[block]) continue;
      for (const std::uint32_t successor : blocks_[block].successors) {
        if (!loop.contains[successor]) loop.exits.push_back(successor);
      }
    }
    std::sort(loop.exits.begin(), loop.exits.end());
    loop.exits.erase(std::unique(loop.exits.begin(), loop.exits.end()), loop.exits.end());
    if (loop.exits.size() < 2) continue;
    loop.exit_join = common_join(loop.exits);
    loop.exits_matter = records(region(loop.exits, loop.parent, loop.exit_join));
  }
}

void FlowGraph::find_guards() {
  for (const std::uint32_t block : order_) {
    const Blocks& successors = blocks_[block].successors;
    if (successors.size() < 2) continue;
    const std::uint32_t loop = loop_of_[block];
    const bool test =
        loop != no_block && loops_[loop].header == block && loops_[loop].tested_at_header;
    if (test) continue;
    const Blocks between = region(successors, loop, join_[block]);
    guards_[block] = records(between);
    if (guards_[block]) continue;
    for (const std::uint32_t skipped : between) counts_[skipped] = false;
  }
}

}  // namespace fm
