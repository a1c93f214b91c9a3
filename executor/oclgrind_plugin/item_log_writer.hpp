#pragma once
// One work-item's log, written while it runs: what it did in terms of blocks and branches becomes
// loops, guards and accesses (executor/recorder/log_format.hpp).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace.pb.h"
#include "executor/oclgrind_plugin/flow_graph.hpp"
#include "executor/recorder/log_format.hpp"

namespace fm {

/// `left relation right`, as seen.
struct Comparison {
  std::int64_t left = 0;
  trace::Relation relation = trace::NE;
  std::int64_t right = 0;
};

/// What a loop counts, as it is entered. It may end sooner.
struct LoopCounter {
  std::int64_t begin = 0, end = 0, step = 1;
};

/// Why and how control went on.
struct Decision {
  std::vector<Comparison> guards;      ///< hold or not; the last decided
  std::optional<LoopCounter> counter;  ///< of the loop that begins
};

struct LoggedMemory {
  trace::Space space = trace::GLOBAL;
  bool write = false, atomic = false;
  std::int64_t x = 0, y = 0;  ///< bytes, or a texel
  std::uint32_t object = 0;   ///< argument or number of the local array
  std::uint32_t bytes = 0;
};

class ItemLogWriter {
 public:
  /// The graph must outlive the call. Function calls nest.
  void enter(const FlowGraph& graph);
  void leave();
  /// From the end of `from`; `decision` where the graph says that its branch guards.
  void go(std::uint32_t from, std::uint32_t to, const Decision& decision);

  void access(std::uint32_t id, const LoggedMemory& access);
  void barrier(std::uint32_t id);
  void arithmetic(std::uint32_t id, trace::ArithmeticKind kind, std::uint32_t count,
                  std::uint32_t loads_in_flight);
  void derivation(std::uint32_t id, trace::Derivation::Operator op, std::int64_t left,
                  std::int64_t right);
  void guard(std::uint32_t id, const Comparison& comparison);
  void local_array(std::uint32_t id, std::uint32_t bytes, const std::string& name);
  /// Ends the `count` innermost guards.
  void end_guards(std::uint32_t count);

  const std::vector<std::uint32_t>& words() const { return words_; }
  /// Of a finished work-item.
  void clear() { words_.clear(); }

 private:
  struct Open {
    std::uint32_t loop = no_block;  ///< or guards
    std::uint32_t join = no_block, guards = 0;
    std::size_t end_word = 0;  ///< of a recorded loop: where its end is written
    LoopCounter counter;
    std::int64_t iterations = 0;
  };
  struct Frame {
    const FlowGraph* graph;
    std::vector<Open> open;
  };

  void header(RecordKind kind, std::uint32_t detail, std::uint32_t id);
  void value(std::int64_t value) { words_.push_back(static_cast<std::uint32_t>(value)); }
  void close_last();
  void close_loops(Frame& frame, std::uint32_t to);
  void choose_exit(Frame& frame, const FlowLoop& loop, std::uint32_t to);
  void open_loop(Frame& frame, std::uint32_t loop, const std::optional<LoopCounter>& counter);
  void iterate(Frame& frame);

  std::vector<std::uint32_t> words_;
  std::vector<Frame> frames_;
};

}  // namespace fm
