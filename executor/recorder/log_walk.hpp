#pragma once
// Walking one work-item's log along the tree: grows the tree where the log goes where none went
// before, and hands every expression's value, with the variables' values at that moment, to a sink.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/access_program.hpp"
#include "core/diagnostics.hpp"
#include "executor/recorder/access_tree.hpp"

namespace fm {

/// The words of one work-item's log, slot word 0 left out.
struct ItemLog {
  std::array<std::uint32_t, 3> group{};
  std::array<std::uint32_t, 3> local{};
  const std::uint32_t* begin = nullptr;
  const std::uint32_t* end = nullptr;
};

/// Sink: void sample(std::uint32_t expression, std::int64_t value, const std::int64_t* variables).
template <class Sink>
class LogWalk {
 public:
  LogWalk(const std::string& kernel, AccessTree& tree, Sink& sink)
      : kernel_(kernel), tree_(tree), sink_(sink) {}

  /// Throws UserError when the kernel's control flow around its accesses is not in FM_FOR and
  /// FM_IF.
  void walk(const ItemLog& log) {
    at_ = log.begin;
    end_ = log.end;
    values_.resize(tree_.variables.size());
    for (std::uint32_t d = 0; d < 3; ++d) {
      set(d, log.group[d]);
      set(3 + d, log.local[d]);
    }
    scope_ = {0, 1, 2, 3, 4, 5};
    walk_block(tree_.root);
    if (at_ != end_) fail("an FM_END_FOR or FM_END_IF too many");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError("kernel " + kernel_ + " cannot be recorded: " + what);
  }
  [[noreturn]] void fail(const std::string& what) const {
    refuse(what +
           "; write every loop and guard around accesses with FM_FOR and FM_IF, without break, "
           "continue or return");
  }

  std::int64_t take() {
    if (at_ == end_) fail("its log ends inside a record");
    return static_cast<std::int32_t>(*at_++);
  }

  void set(std::uint32_t slot, std::int64_t value) {
    values_[slot] = value;
    TreeVariable& variable = tree_.variables[slot];
    variable.least = std::min(variable.least, value);
    variable.greatest = std::max(variable.greatest, value);
  }

  bool at_block_end() const {
    if (at_ == end_) return true;
    const RecordKind kind = LogHeader(*at_).kind;
    return kind == RecordKind::iteration || kind == RecordKind::end;
  }

  void walk_block(TreeBlock& block) {
    const std::size_t outer = scope_.size();
    std::size_t position = 0;
    while (!at_block_end()) {
      const LogHeader header(*at_++);
      if (header.kind == RecordKind::local_array) {
        declare_local(header);
      } else {
        walk_node(node_at(block, position++, header), header);
      }
    }
    if (position != block.nodes.size()) fail("work-items differ in the accesses they make");
    block.visited = true;
    scope_.resize(outer);
  }

  TreeNode& node_at(TreeBlock& block, std::size_t position, const LogHeader& header) {
    if (position < block.nodes.size()) {
      TreeNode& node = *block.nodes[position];
      if (node.kind != header.kind || node.id != header.id || node.detail != header.detail) {
        fail("work-items differ in the order of their accesses");
      }
      return node;
    }
    if (block.visited) fail("work-items differ in the number of their accesses");
    if (position >= 65536) fail("more than 65536 accesses in a row");
    return append(block, header);
  }

  TreeNode& append(TreeBlock& block, const LogHeader& header) {
    block.nodes.push_back(std::make_unique<TreeNode>());
    TreeNode& node = *block.nodes.back();
    node.kind = header.kind;
    node.id = header.id;
    node.detail = header.detail;
    node.first_expression = static_cast<std::uint32_t>(tree_.expressions.size());
    for (std::uint32_t i = 0; i < expression_count(node.kind); ++i) {
      tree_.expressions.push_back({scope_});
    }
    const bool loop = node.kind == RecordKind::loop, index = node.kind == RecordKind::index;
    if (loop || index || node.kind == RecordKind::derivation) {
      node.slot = static_cast<std::uint32_t>(tree_.variables.size());
      tree_.variables.emplace_back();
      tree_.variables.back().kind = loop ? trace::LOOP : index ? trace::DATA : trace::DERIVED;
      tree_.variables.back().node = &node;
      values_.push_back(0);
    }
    if (loop) node.step = static_cast<std::int32_t>(at_ + 2 < end_ ? at_[2] : 0);
    if (node.kind == RecordKind::arithmetic && at_ + 1 < end_) {
      node.count = at_[0];
      node.in_flight = at_[1];
    }
    if (node.kind == RecordKind::local && at_ + 1 < end_) node.local_array = at_[1];
    if (node.kind == RecordKind::any_memory && at_ + 2 < end_) node.bytes = at_[2];
    if (node.kind == RecordKind::any_texel && at_ + 3 < end_) node.bytes = at_[3];
    return node;
  }

  void sample(const TreeNode& node, std::uint32_t which, std::int64_t value) {
    sink_.sample(node.first_expression + which, value, values_.data());
  }

  void walk_node(TreeNode& node, const LogHeader& header) {
    switch (header.kind) {
      case RecordKind::loop:
        return walk_loop(node);
      case RecordKind::guard:
        return walk_guard(node);
      case RecordKind::derivation:
        return walk_derivation(node);
      case RecordKind::texel:
      case RecordKind::element:
        return sample(node, 0, take());
      case RecordKind::image:
        sample(node, 0, take());
        return sample(node, 1, take());
      case RecordKind::index:
        sample(node, 0, take());
        return define(node, take());
      case RecordKind::local:
        sample(node, 0, take());
        if (take() != node.local_array) fail("one access reaches two local arrays");
        return;
      case RecordKind::any_memory:
      case RecordKind::any_texel:
        return walk_any(node);
      case RecordKind::arithmetic:
        if (take() != node.count) fail("an FM_ARITHMETIC whose count varies");
        if (take() != node.in_flight) fail("an FM_ARITHMETIC_AHEAD whose loads in flight vary");
        return;
      case RecordKind::barrier:
        return;
      default:
        fail("its log is damaged");
    }
  }

  void walk_any(TreeNode& node) {
    const std::uint32_t last = expression_count(node.kind) - 1;
    for (std::uint32_t i = 0; i < last; ++i) sample(node, i, take());
    const std::int64_t object = take();
    node.objects.insert(object);
    sample(node, last, object);
    if (take() != node.bytes) fail("an access whose size varies");
  }

  void define(const TreeNode& node, std::int64_t value) {
    set(node.slot, value);
    scope_.push_back(node.slot);
  }

  void walk_loop(TreeNode& node) {
    const std::int64_t begin = take(), end = take(), step = take();
    if (step != node.step) fail("a loop whose step varies");
    if (step <= 0) fail("a loop whose step is " + std::to_string(step));
    sample(node, 0, begin);
    sample(node, 1, end);
    scope_.push_back(node.slot);
    for (std::int64_t counter = begin; counter < end; counter += step) {
      if (at_ == end_ || LogHeader(*at_).kind != RecordKind::iteration) {
        fail("a loop left before its end");
      }
      ++at_;
      set(node.slot, counter);
      walk_block(node.body);
    }
    scope_.pop_back();
    take_end();
  }

  void walk_guard(TreeNode& node) {
    const std::int64_t left = take(), right = take();
    sample(node, 0, left);
    sample(node, 1, right);
    const auto relation = static_cast<trace::Relation>(node.detail);
    walk_block(holds(left, relation, right) ? node.body : node.otherwise);
    take_end();
  }

  void take_end() {
    if (at_ == end_ || LogHeader(*at_).kind != RecordKind::end) fail("a loop or guard left early");
    ++at_;
  }

  void walk_derivation(TreeNode& node) {
    const std::int64_t left = take(), right = take();
    const auto op = static_cast<trace::Derivation::Operator>(node.detail);
    if (op == trace::Derivation::QUOTIENT || op == trace::Derivation::REMAINDER) {
      if (left < 0 || right <= 0) {
        refuse("FM_QUOTIENT or FM_REMAINDER of " + std::to_string(left) + " by " +
               std::to_string(right) +
               ": / and % of OpenCL C only round down for positive numbers");
      }
    }
    sample(node, 0, left);
    sample(node, 1, right);
    define(node, derive(op, left, right));
  }

  void declare_local(const LogHeader& header) {
    TreeLocalArray array;
    array.id = header.id;
    array.bytes = static_cast<std::uint32_t>(take());
    array.element_bytes = static_cast<std::uint32_t>(take());
    for (std::int64_t left = take(); left > 0; --left) {
      array.name.push_back(static_cast<char>(take()));
    }
    for (const TreeLocalArray& known : tree_.local_arrays) {
      if (known.id == array.id) return;
    }
    tree_.local_arrays.push_back(array);
  }

  const std::string& kernel_;
  AccessTree& tree_;
  Sink& sink_;
  std::vector<std::int64_t> values_;  // by slot
  std::vector<std::uint32_t> scope_;  // slots visible
  const std::uint32_t* at_ = nullptr;
  const std::uint32_t* end_ = nullptr;
};

}  // namespace fm
