#include "core/access_program.hpp"

#include <algorithm>

#include "core/access_expander.hpp"
#include "core/diagnostics.hpp"

namespace fm {
namespace {

using trace::Expression;
using trace::Node;

std::uint32_t loop_ids_end(const google::protobuf::RepeatedPtrField<Node>& body) {
  std::uint32_t end = 0;
  for (const Node& node : body) {
    if (node.has_loop()) {
      end = std::max({end, node.loop().id() + 1, loop_ids_end(node.loop().body())});
    } else if (node.has_guard()) {
      end = std::max(
          {end, loop_ids_end(node.guard().body()), loop_ids_end(node.guard().otherwise())});
    }
  }
  return end;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

}  // namespace

std::int64_t derive(trace::Derivation::Operator op, std::int64_t left, std::int64_t right) {
  switch (op) {
    case trace::Derivation::QUOTIENT:
    case trace::Derivation::REMAINDER: {
      if (right <= 0) throw UserError("an access program divides by " + std::to_string(right));
      const std::int64_t quotient = floor_quotient(left, right);
      return op == trace::Derivation::QUOTIENT ? quotient : left - quotient * right;
    }
    case trace::Derivation::MINIMUM:
      return std::min(left, right);
    case trace::Derivation::MAXIMUM:
      return std::max(left, right);
    case trace::Derivation::SHIFT_LEFT:
    case trace::Derivation::SHIFT_RIGHT:
      if (right < 0 || right > 62) {
        throw UserError("an access program shifts by " + std::to_string(right));
      }
      // Multiplying keeps negative operands defined.
      return op == trace::Derivation::SHIFT_LEFT ? left * (std::int64_t{1} << right)
                                                 : floor_quotient(left, std::int64_t{1} << right);
    case trace::Derivation::PRODUCT:
      return left * right;
    default:
      throw UserError("an access program uses an unknown derivation");
  }
}

bool holds(std::int64_t left, trace::Relation relation, std::int64_t right) {
  switch (relation) {
    case trace::LT:
      return left < right;
    case trace::LE:
      return left <= right;
    case trace::GT:
      return left > right;
    case trace::GE:
      return left >= right;
    case trace::EQ:
      return left == right;
    case trace::NE:
      return left != right;
    default:
      throw UserError("an access program uses an unknown relation");
  }
}

/// One wave's execution: the lanes' variables and the walk over the tree.
class WaveWalk {
 public:
  WaveWalk(const AccessExpander& expander, std::array<std::uint32_t, 3> group, std::uint32_t wave,
           std::uint32_t width, const OnWaveAccess& on_access,
           const OnWaveArithmetic& on_arithmetic)
      : expander_(expander),
        program_(expander.program_),
        on_access_(on_access),
        on_arithmetic_(on_arithmetic) {
    const std::uint32_t items = items_per_group(program_);
    const std::uint64_t first = std::uint64_t{wave} * width;
    for (std::uint64_t item = first; item < std::min<std::uint64_t>(first + width, items); ++item) {
      lanes_.push_back(make_lane(group, static_cast<std::uint32_t>(item),
                                 static_cast<std::uint32_t>(item - first)));
    }
  }

  void run() {
    std::vector<Lane*> active;
    for (Lane& lane : lanes_) active.push_back(&lane);
    if (!active.empty()) run_block(program_.body(), active);
  }

 private:
  struct Lane {
    std::uint32_t number = 0;
    std::array<std::int64_t, 6> ids{};  // group x, y, z, local x, y, z
    std::vector<std::int64_t> loops, data, derived;
    std::vector<std::uint64_t> cursors;  // next value of each table
  };
  using Lanes = std::vector<Lane*>;
  using Block = google::protobuf::RepeatedPtrField<Node>;

  Lane make_lane(std::array<std::uint32_t, 3> group, std::uint32_t item, std::uint32_t number) {
    Lane lane;
    lane.number = number;
    const std::uint32_t lx = program_.local_size(0), ly = program_.local_size(1);
    lane.ids = {group[0], group[1], group[2], item % lx, item / lx % ly, item / lx / ly};
    lane.loops.resize(expander_.loops_);
    lane.data.resize(static_cast<std::size_t>(program_.sites_size()));
    lane.derived.resize(static_cast<std::size_t>(program_.derivations_size()));
    const std::uint64_t columns = program_.group_count(0), rows = program_.group_count(1);
    const std::uint64_t linear_group = group[0] + columns * (group[1] + rows * group[2]);
    const std::uint64_t linear = linear_group * items_per_group(program_) + item;
    for (const auto& table : expander_.tables_) lane.cursors.push_back(table.first.at(linear));
    return lane;
  }

  std::int64_t evaluate(const Expression& expression, Lane& lane) const {
    if (expression.explicit_table() != 0) {
      const std::size_t table = expression.explicit_table() - 1;
      return expander_.tables_[table].values.at(lane.cursors[table]++);
    }
    std::int64_t value = expression.constant();
    for (const trace::LinearTerm& term : expression.terms()) {
      value += term.coefficient() * variable(term, lane);
    }
    return value;
  }

  static std::int64_t variable(const trace::LinearTerm& term, const Lane& lane) {
    switch (term.variable()) {
      case trace::LOOP:
        return lane.loops[term.index()];
      case trace::DATA:
        return lane.data[term.index()];
      case trace::DERIVED:
        return lane.derived[term.index()];
      default:
        return lane.ids[static_cast<std::size_t>(term.variable())];
    }
  }

  void run_block(const Block& block, const Lanes& active) {
    for (const Node& node : block) run_node(node, active);
  }

  void run_node(const Node& node, const Lanes& active) {
    switch (node.node_case()) {
      case Node::kLoop:
        return run_loop(node.loop(), active);
      case Node::kGuard:
        return run_guard(node.guard(), active);
      case Node::kAccess:
        return run_access(node.access(), active);
      case Node::kDerive:
        return run_derivation(node.derive(), active);
      case Node::kArithmetic:
        if (on_arithmetic_) {
          on_arithmetic_(node.arithmetic(), static_cast<std::uint32_t>(active.size()));
        }
        return;
      case Node::kBarrier:
        ++barrier_epoch_;
        return;
      case Node::NODE_NOT_SET:
        return;
    }
  }

  void run_loop(const Node::Loop& loop, Lanes active) {
    std::vector<std::int64_t> ends;
    for (Lane* lane : active) {
      lane->loops[loop.id()] = evaluate(loop.begin(), *lane);
      ends.push_back(evaluate(loop.end(), *lane));
    }
    while (true) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < active.size(); ++i) {
        if (active[i]->loops[loop.id()] >= ends[i]) continue;
        active[kept] = active[i];
        ends[kept++] = ends[i];
      }
      active.resize(kept);
      ends.resize(kept);
      if (active.empty()) return;
      run_block(loop.body(), active);
      for (Lane* lane : active) lane->loops[loop.id()] += loop.step();
    }
  }

  void run_guard(const Node::Guard& guard, const Lanes& active) {
    Lanes taken, others;
    for (Lane* lane : active) {
      const std::int64_t left = evaluate(guard.left(), *lane);
      const std::int64_t right = evaluate(guard.right(), *lane);
      (holds(left, guard.relation(), right) ? taken : others).push_back(lane);
    }
    if (!taken.empty()) run_block(guard.body(), taken);
    if (!others.empty()) run_block(guard.otherwise(), others);
  }

  void run_access(std::uint32_t index, const Lanes& active) {
    const trace::Site& site = program_.sites(static_cast<int>(index));
    WaveAccess access;
    access.site = index;
    access.barrier_epoch = barrier_epoch_;
    for (Lane* lane : active) {
      const std::int64_t x = evaluate(site.x(), *lane);
      const std::int64_t y = evaluate(site.y(), *lane);
      if (site.index_load()) lane->data[index] = load_index(index, site, x);
      access.lanes.push_back({lane->number, x, y});
    }
    if (on_access_) on_access_(access);
  }

  std::int64_t load_index(std::uint32_t index, const trace::Site& site, std::int64_t offset) const {
    const auto contents = expander_.index_.find(index);
    if (contents == expander_.index_.end()) {
      throw UserError("kernel " + program_.kernel() + ": the contents of index buffer of site " +
                      std::to_string(index) + " are not in the trace");
    }
    const std::int64_t element = floor_quotient(offset, site.bytes());
    if (element < 0 || static_cast<std::size_t>(element) >= contents->second.size()) {
      throw UserError("kernel " + program_.kernel() + ": site " + std::to_string(index) +
                      " loads index " + std::to_string(element) + " of " +
                      std::to_string(contents->second.size()));
    }
    return contents->second[static_cast<std::size_t>(element)];
  }

  void run_derivation(std::uint32_t index, const Lanes& active) {
    const trace::Derivation& derivation = program_.derivations(static_cast<int>(index));
    for (Lane* lane : active) {
      const std::int64_t left = evaluate(derivation.left(), *lane);
      const std::int64_t right = evaluate(derivation.right(), *lane);
      lane->derived[index] = derive(derivation.operator_(), left, right);
    }
  }

  const AccessExpander& expander_;
  const trace::AccessProgram& program_;
  const OnWaveAccess& on_access_;
  const OnWaveArithmetic& on_arithmetic_;
  std::vector<Lane> lanes_;
  std::uint32_t barrier_epoch_ = 0;
};

AccessExpander::AccessExpander(const trace::AccessProgram& program, const IndexValues& index)
    : program_(program), index_(index), loops_(loop_ids_end(program.body())) {
  for (const trace::ExplicitTable& source : program.tables()) {
    Table table;
    table.first.push_back(0);
    for (const std::uint32_t count : source.counts()) {
      table.first.push_back(table.first.back() + count);
    }
    std::int64_t value = 0;
    for (const std::int64_t delta : source.deltas()) table.values.push_back(value += delta);
    tables_.push_back(std::move(table));
  }
}

std::vector<ItemAccess> AccessExpander::item(std::array<std::uint32_t, 3> group,
                                             std::uint32_t linear_item) const {
  std::vector<ItemAccess> accesses;
  wave(
      group, linear_item, 1,
      [&](const WaveAccess& access) {
        accesses.push_back({access.site, access.lanes[0].x, access.lanes[0].y});
      },
      nullptr);
  return accesses;
}

void AccessExpander::wave(std::array<std::uint32_t, 3> group, std::uint32_t wave,
                          std::uint32_t width, const OnWaveAccess& on_access,
                          const OnWaveArithmetic& on_arithmetic) const {
  WaveWalk(*this, group, wave, width, on_access, on_arithmetic).run();
}

std::uint64_t group_total(const trace::AccessProgram& program) {
  return std::uint64_t{program.group_count(0)} * program.group_count(1) * program.group_count(2);
}

std::uint32_t items_per_group(const trace::AccessProgram& program) {
  return program.local_size(0) * program.local_size(1) * program.local_size(2);
}

std::array<std::uint32_t, 3> group_at(const trace::AccessProgram& program,
                                      std::uint64_t linear_group) {
  const std::uint64_t x = program.group_count(0), y = program.group_count(1);
  return {static_cast<std::uint32_t>(linear_group % x),
          static_cast<std::uint32_t>(linear_group / x % y),
          static_cast<std::uint32_t>(linear_group / x / y)};
}

std::vector<ItemAccess> expand_item(const trace::AccessProgram& program, const IndexValues& index,
                                    std::array<std::uint32_t, 3> group, std::uint32_t linear_item) {
  return AccessExpander(program, index).item(group, linear_item);
}

void expand_wave(const trace::AccessProgram& program, const IndexValues& index,
                 std::array<std::uint32_t, 3> group, std::uint32_t wave, std::uint32_t width,
                 const OnWaveAccess& on_access, const OnWaveArithmetic& on_arithmetic) {
  AccessExpander(program, index).wave(group, wave, width, on_access, on_arithmetic);
}

}  // namespace fm
