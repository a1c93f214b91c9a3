#pragma once
// The flat form of an access program, shared by the compiler (program_code.cpp) and the cursor
// (wave_cursor.cpp).
//
// Every variable is either uniform (one value a wave: group ids, most loop counters, what derives
// from them) or a lane variable (local ids, loaded indices, what derives from them). A linear
// expression is a uniform part plus a lane part.

#include <array>
#include <string>
#include <vector>

#include "sim/replay/wave_cursor.hpp"

namespace fm {

struct CodeTerm {
  std::int64_t coefficient;
  std::uint32_t slot;
};

/// constant + uniform terms + lane terms, or the next value of an explicit table for each lane.
struct CodeExpression {
  std::int64_t constant = 0;
  std::uint32_t uniform_begin = 0, uniform_end = 0;  ///< in Code::uniform_terms
  std::uint32_t lane_begin = 0, lane_end = 0;        ///< in Code::lane_terms
  std::uint32_t table = 0;                           ///< 1 + index, 0 = none
  std::uint32_t cache = 0;  ///< where a cursor keeps its lane part, unless uniform
  bool is_uniform() const { return lane_begin == lane_end && table == 0; }
};

struct CodeSite {
  CodeExpression x, y;
  bool has_y = false;
  bool index_load = false;
  std::uint32_t data_slot = 0;  ///< lane slot of its DATA variable
  const std::vector<std::int64_t>* values =
      nullptr;  ///< what an index load reads; nullptr when not in the trace
  /// Has no effect beside the access.
  bool repeatable() const { return !index_load && x.table == 0 && y.table == 0; }
};

struct CodeDerivation {
  trace::Derivation::Operator operation = trace::Derivation::QUOTIENT;
  CodeExpression left, right;
  bool lanes = false;      ///< a lane variable
  std::uint32_t slot = 0;  ///< uniform or lane slot
};

struct CodeLoop {
  CodeExpression begin, end;
  std::int64_t step = 1;
  bool lane_counter = false;  ///< lanes count differently
  bool lane_end = false;      ///< lanes leave at different times
  std::uint32_t slot = 0;     ///< uniform or lane slot of the counter
  std::uint32_t depth = 0;    ///< its place among saved masks, when lane_counter or lane_end
  bool divergent() const { return lane_counter || lane_end; }
};

struct CodeGuard {
  CodeExpression left, right;
  trace::Relation relation = trace::LT;
  bool lanes = false;
  std::uint32_t depth = 0;
};

struct CodeArithmetic {
  trace::ArithmeticKind kind;
  std::uint32_t count, loads_in_flight;
};

enum class Operation : std::uint8_t {
  access,
  arithmetic,
  barrier,
  derive,
  loop_begin,
  loop_end,
  guard_begin,
  guard_else,
  guard_end,
  finish
};

struct Instruction {
  Operation operation;
  std::uint32_t operand = 0;  ///< index into the array of its kind
  std::uint32_t jump = 0;     ///< loop_begin: behind its loop; loop_end: body; guard_begin: its
                              ///< guard_else; guard_else: its guard_end
};

/// An explicit table decoded: values and where each work-item's begin.
struct CodeTable {
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> starts;  ///< one more than work-items
};

struct CompiledProgram::Code {
  std::vector<Instruction> instructions;
  std::vector<CodeSite> code_sites;
  std::vector<CodeDerivation> derivations;
  std::vector<CodeLoop> loops;
  std::vector<CodeGuard> guards;
  std::vector<CodeArithmetic> arithmetic;
  std::vector<CodeTable> tables;
  std::vector<CodeTerm> uniform_terms, lane_terms;
  std::uint32_t uniform_slots = 3;  ///< 0..2 group ids
  std::uint32_t lane_slots = 3;     ///< 0..2 local ids
  std::uint32_t caches = 0;         ///< lane parts a cursor keeps
  std::uint32_t mask_depth = 0;
  std::array<std::uint64_t, 3> local{1, 1, 1}, groups{1, 1, 1};
  std::vector<CompiledSite> sites;
  std::uint32_t width = 0;
  std::uint32_t items = 0;
  std::uint64_t local_bytes = 0;
  std::string kernel;
  IndexValues index;
};

}  // namespace fm
