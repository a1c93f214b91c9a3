#include "executor/oclgrind_plugin/item_log_writer.hpp"

#include <algorithm>
#include <limits>

#include "core/access_program.hpp"

namespace fm {
namespace {

/// Ids of what a loop adds to the log; those of instructions are below.
constexpr std::uint32_t loop_id = 1U << 19;

/// With a neighbour on either side.
std::int64_t within_a_word(std::int64_t value) {
  using Limits = std::numeric_limits<std::int32_t>;
  return std::clamp<std::int64_t>(value, Limits::min() + 1, Limits::max() - 1);
}

/// The same outcome with operands that fit into a word.
Comparison narrowed(const Comparison& seen) {
  const bool outcome = holds(seen.left, seen.relation, seen.right);
  Comparison narrow{within_a_word(seen.left), seen.relation, within_a_word(seen.right)};
  for (const std::int64_t right : {narrow.left - 1, narrow.left, narrow.left + 1}) {
    if (holds(narrow.left, narrow.relation, narrow.right) == outcome) break;
    narrow.right = right;
  }
  return narrow;
}

/// The loop's own end where it ran that far.
std::int64_t end_of(const LoopCounter& counter, std::int64_t iterations) {
  const std::int64_t left = counter.end - counter.begin;
  const std::int64_t expected = left > 0 ? (left + counter.step - 1) / counter.step : 0;
  return expected == iterations ? counter.end : counter.begin + iterations * counter.step;
}

}  // namespace

void ItemLogWriter::header(RecordKind kind, std::uint32_t detail, std::uint32_t id) {
  words_.push_back(static_cast<std::uint32_t>(kind) | detail << 4 | id << 12);
}

void ItemLogWriter::enter(const FlowGraph& graph) {
  frames_.push_back({&graph, {}});
  for (std::uint32_t i = 0; i < graph.loops().size(); ++i) {
    if (graph.loops()[i].header == 0) open_loop(frames_.back(), i, std::nullopt);
  }
}

void ItemLogWriter::leave() {
  while (!frames_.back().open.empty()) close_last();
  frames_.pop_back();
}

/// Ends the innermost loop or guards of the function.
void ItemLogWriter::close_last() {
  const Open closed = frames_.back().open.back();
  frames_.back().open.pop_back();
  if (closed.loop == no_block) return end_guards(closed.guards);
  if (closed.end_word == 0) return;
  words_[closed.end_word] =
      static_cast<std::uint32_t>(within_a_word(end_of(closed.counter, closed.iterations)));
  header(RecordKind::end, 0, 0);
}

void ItemLogWriter::end_guards(std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) header(RecordKind::end, 0, 0);
}

void ItemLogWriter::go(std::uint32_t from, std::uint32_t to, const Decision& decision) {
  Frame& frame = frames_.back();
  const FlowGraph& graph = *frame.graph;
  if (graph.guards(from)) {
    for (const Comparison& comparison : decision.guards) guard(from, comparison);
    Open guards;
    guards.join = graph.join(from);
    guards.guards = static_cast<std::uint32_t>(decision.guards.size());
    frame.open.push_back(guards);
  }
  close_loops(frame, to);
  const auto innermost = std::find_if(frame.open.rbegin(), frame.open.rend(),
                                      [](const Open& open) { return open.loop != no_block; });
  const std::uint32_t loop = innermost == frame.open.rend() ? no_block : innermost->loop;
  const bool back = loop != no_block && graph.loops()[loop].header == to;
  const bool tested = loop != no_block && graph.loops()[loop].tested_at_header;
  if (back) {
    while (frame.open.back().loop == no_block) close_last();
    if (!tested) iterate(frame);
  } else if (tested && graph.loops()[loop].header == from) {
    iterate(frame);
  }
  while (!frame.open.empty() && frame.open.back().loop == no_block &&
         frame.open.back().join == to) {
    close_last();
  }
  if (back) return;
  const std::uint32_t around = graph.loop_of(to);
  if (around != no_block && graph.loops()[around].header == to)
    open_loop(frame, around, decision.counter);
}

/// Ends the loops that do not contain `to`, with what is open in them.
void ItemLogWriter::close_loops(Frame& frame, std::uint32_t to) {
  while (true) {
    std::size_t at = frame.open.size();
    while (at > 0 && frame.open[at - 1].loop == no_block) --at;
    if (at == 0) return;
    const FlowLoop& loop = frame.graph->loops()[frame.open[at - 1].loop];
    if (loop.contains[to]) return;
    while (frame.open.size() >= at) close_last();
    choose_exit(frame, loop, to);
  }
}

/// What follows a loop with several exits depends on which was taken.
void ItemLogWriter::choose_exit(Frame& frame, const FlowLoop& loop, std::uint32_t to) {
  if (!loop.exits_matter) return;
  const auto taken = std::find(loop.exits.begin(), loop.exits.end(), to) - loop.exits.begin();
  const auto last = static_cast<std::ptrdiff_t>(loop.exits.size()) - 1;
  Open guards;
  guards.join = loop.exit_join;
  for (std::ptrdiff_t exit = 0; exit <= std::min(taken, last - 1); ++exit) {
    guard(loop_id + loop.header, {taken, trace::EQ, exit});
    ++guards.guards;
  }
  frame.open.push_back(guards);
}

void ItemLogWriter::open_loop(Frame& frame, std::uint32_t index,
                              const std::optional<LoopCounter>& counter) {
  const FlowLoop& loop = frame.graph->loops()[index];
  Open open;
  open.loop = index;
  if (counter) open.counter = *counter;
  // Counters of 64 bits may begin anywhere.
  open.counter.begin = within_a_word(open.counter.begin);
  if (loop.recorded) {
    header(RecordKind::loop, 0, loop_id + loop.header);
    value(open.counter.begin);
    open.end_word = words_.size();
    value(0);
    value(open.counter.step);
  }
  frame.open.push_back(open);
  if (!loop.tested_at_header) iterate(frame);
}

void ItemLogWriter::iterate(Frame& frame) {
  Open& loop = frame.open.back();
  if (loop.end_word == 0) return;
  ++loop.iterations;
  header(RecordKind::iteration, 0, 0);
}

void ItemLogWriter::access(std::uint32_t id, const LoggedMemory& access) {
  const bool texel = access.space == trace::IMAGE;
  header(texel ? RecordKind::any_texel : RecordKind::any_memory,
         static_cast<std::uint32_t>(access.space) | (access.write ? log_writes : 0) |
             (access.atomic ? log_atomic : 0),
         id);
  value(access.x);
  if (texel) value(access.y);
  value(access.object);
  value(access.bytes);
}

void ItemLogWriter::barrier(std::uint32_t id) { header(RecordKind::barrier, 0, id); }

void ItemLogWriter::arithmetic(std::uint32_t id, trace::ArithmeticKind kind, std::uint32_t count,
                               std::uint32_t loads_in_flight) {
  header(RecordKind::arithmetic, static_cast<std::uint32_t>(kind), id);
  value(count);
  value(loads_in_flight);
}

void ItemLogWriter::derivation(std::uint32_t id, trace::Derivation::Operator op, std::int64_t left,
                               std::int64_t right) {
  header(RecordKind::derivation, static_cast<std::uint32_t>(op), id);
  value(left);
  value(right);
}

void ItemLogWriter::guard(std::uint32_t id, const Comparison& comparison) {
  const Comparison narrow = narrowed(comparison);
  header(RecordKind::guard, static_cast<std::uint32_t>(narrow.relation), id);
  value(narrow.left);
  value(narrow.right);
}

void ItemLogWriter::local_array(std::uint32_t id, std::uint32_t bytes, const std::string& name) {
  header(RecordKind::local_array, 0, id);
  value(bytes);
  value(1);
  value(static_cast<std::int64_t>(name.size()));
  for (const char letter : name) value(letter);
}

}  // namespace fm
