#include "sim/replay/program_code.hpp"

#include <stdexcept>
#include <unordered_map>

#include "core/units.hpp"
#include "sim/replay/uniformity.hpp"

namespace fm {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<trace::Node>;

CodeTable decode(const trace::ExplicitTable& table) {
  CodeTable decoded;
  decoded.values.reserve(static_cast<std::size_t>(table.deltas_size()));
  std::int64_t value = 0;
  for (const std::int64_t delta : table.deltas()) decoded.values.push_back(value += delta);
  decoded.starts.reserve(static_cast<std::size_t>(table.counts_size()) + 1);
  std::uint64_t start = 0;
  for (const std::uint32_t count : table.counts()) {
    decoded.starts.push_back(start);
    start += count;
  }
  decoded.starts.push_back(start);
  return decoded;
}

/// Flattens a program into `code`.
class Flattener {
 public:
  Flattener(const trace::AccessProgram& program, CompiledProgram::Code* code)
      : program_(program), code_(*code), lane_variables_(find_lane_variables(program)) {}

  /// Arrays follow one another in the order of their declaration.
  std::uint64_t local_offset(const trace::Site& site) const {
    std::uint64_t offset = 0;
    if (site.space() != trace::LOCAL) return offset;
    for (std::uint32_t i = 0; i < site.argument(); ++i) {
      offset += program_.local_arrays(static_cast<int>(i)).bytes();
    }
    return offset;
  }

  void run() {
    code_.code_sites.resize(static_cast<std::size_t>(program_.sites_size()));
    for (const auto& site : program_.sites()) {
      code_.sites.push_back({site.space(), site.write(), site.atomic(), site.bytes(),
                             site.argument(), local_offset(site)});
    }
    code_.derivations.resize(static_cast<std::size_t>(program_.derivations_size()));
    for (const auto& table : program_.tables()) code_.tables.push_back(decode(table));
    flatten(program_.body());
    emit(Operation::finish, 0);
  }

 private:
  struct Slot {
    std::uint32_t slot;
    bool lanes;
  };

  Slot new_slot(bool lanes) { return {lanes ? code_.lane_slots++ : code_.uniform_slots++, lanes}; }

  Slot slot_of(const trace::LinearTerm& term) const {
    switch (term.variable()) {
      case trace::GROUP_X:
      case trace::GROUP_Y:
      case trace::GROUP_Z:
        return {static_cast<std::uint32_t>(term.variable() - trace::GROUP_X), false};
      case trace::LOCAL_X:
      case trace::LOCAL_Y:
      case trace::LOCAL_Z:
        return {static_cast<std::uint32_t>(term.variable() - trace::LOCAL_X), true};
      case trace::LOOP:
        return loop_slots_.at(term.index());
      case trace::DATA:
        return {data_slots_.at(term.index()), true};
      case trace::DERIVED: {
        const auto& derivation = code_.derivations.at(term.index());
        return {derivation.slot, derivation.lanes};
      }
      default:
        throw std::logic_error("unknown variable in a validated access program");
    }
  }

  CodeExpression expression(const trace::Expression& given) {
    CodeExpression result;
    result.constant = given.constant();
    result.table = given.explicit_table();
    result.uniform_begin = static_cast<std::uint32_t>(code_.uniform_terms.size());
    result.lane_begin = static_cast<std::uint32_t>(code_.lane_terms.size());
    for (const auto& term : given.terms()) {
      if (term.coefficient() == 0 || result.table != 0) continue;
      const Slot slot = slot_of(term);
      (slot.lanes ? code_.lane_terms : code_.uniform_terms)
          .push_back({term.coefficient(), slot.slot});
    }
    result.uniform_end = static_cast<std::uint32_t>(code_.uniform_terms.size());
    result.lane_end = static_cast<std::uint32_t>(code_.lane_terms.size());
    if (!result.is_uniform()) result.cache = code_.caches++;
    return result;
  }

  void flatten_site(std::uint32_t index) {
    const auto& given = program_.sites(static_cast<int>(index));
    CodeSite site;
    site.x = expression(given.x());
    site.y = expression(given.y());
    site.has_y = given.space() == trace::IMAGE || given.has_y();
    site.index_load = given.index_load();
    if (site.index_load) {
      data_slots_[index] = site.data_slot = code_.lane_slots++;
      const auto values = code_.index.find(index);
      site.values = values == code_.index.end() ? nullptr : &values->second;
    }
    code_.code_sites[index] = site;
    emit(Operation::access, index);
  }

  void flatten_derivation(std::uint32_t index) {
    const auto& given = program_.derivations(static_cast<int>(index));
    CodeDerivation derivation;
    derivation.operation = given.operator_();
    derivation.left = expression(given.left());
    derivation.right = expression(given.right());
    const Slot slot = new_slot(lane_variables_.derivations[index]);
    derivation.lanes = slot.lanes;
    derivation.slot = slot.slot;
    code_.derivations[index] = derivation;
    emit(Operation::derive, index);
  }

  std::uint32_t emit(Operation operation, std::size_t operand) {
    code_.instructions.push_back({operation, static_cast<std::uint32_t>(operand), 0});
    return static_cast<std::uint32_t>(code_.instructions.size() - 1);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(code_.instructions.size()); }

  void flatten(const Nodes& body) {
    for (const auto& node : body) {
      switch (node.node_case()) {
        case trace::Node::kLoop:
          flatten(node.loop());
          break;
        case trace::Node::kGuard:
          flatten(node.guard());
          break;
        case trace::Node::kAccess:
          flatten_site(node.access());
          break;
        case trace::Node::kArithmetic: {
          const auto& given = node.arithmetic();
          emit(Operation::arithmetic, code_.arithmetic.size());
          code_.arithmetic.push_back({given.kind(), given.count(), given.loads_in_flight()});
          break;
        }
        case trace::Node::kBarrier:
          emit(Operation::barrier, 0);
          break;
        case trace::Node::kDerive:
          flatten_derivation(node.derive());
          break;
        case trace::Node::NODE_NOT_SET:
          break;
      }
    }
  }

  void flatten(const trace::Node::Loop& given) {
    CodeLoop loop;
    loop.begin = expression(given.begin());
    loop.end = expression(given.end());
    loop.step = given.step();
    const Slot counter = new_slot(lane_variables_.loops[given.id()]);
    loop_slots_[given.id()] = counter;
    loop.slot = counter.slot;
    loop.lane_counter = counter.lanes;
    loop.lane_end = !loop.end.is_uniform();
    const std::size_t index = code_.loops.size();
    if (loop.divergent()) loop.depth = enter();
    code_.loops.push_back(loop);
    const std::uint32_t begin = emit(Operation::loop_begin, index);
    flatten(given.body());
    code_.instructions[emit(Operation::loop_end, index)].jump = begin + 1;
    code_.instructions[begin].jump = here();
    if (loop.divergent()) --depth_;
  }

  void flatten(const trace::Node::Guard& given) {
    CodeGuard guard;
    guard.left = expression(given.left());
    guard.right = expression(given.right());
    guard.relation = given.relation();
    guard.lanes = !guard.left.is_uniform() || !guard.right.is_uniform();
    const std::size_t index = code_.guards.size();
    if (guard.lanes) guard.depth = enter();
    code_.guards.push_back(guard);
    const std::uint32_t begin = emit(Operation::guard_begin, index);
    flatten(given.body());
    const std::uint32_t otherwise = emit(Operation::guard_else, index);
    flatten(given.otherwise());
    code_.instructions[begin].jump = otherwise;
    code_.instructions[otherwise].jump = emit(Operation::guard_end, index);
    if (guard.lanes) --depth_;
  }

  std::uint32_t enter() {
    const std::uint32_t depth = depth_++;
    if (depth_ > code_.mask_depth) code_.mask_depth = depth_;
    return depth;
  }

  const trace::AccessProgram& program_;
  CompiledProgram::Code& code_;
  LaneVariables lane_variables_;
  std::unordered_map<std::uint32_t, Slot> loop_slots_;
  std::unordered_map<std::uint32_t, std::uint32_t> data_slots_;
  std::uint32_t depth_ = 0;
};

}  // namespace

CompiledProgram::CompiledProgram(const trace::AccessProgram& program, const IndexValues& index,
                                 std::uint32_t width) {
  if (width == 0 || width > maximum_wave_width) {
    throw std::logic_error("wave width " + std::to_string(width) + " is outside 1.." +
                           std::to_string(maximum_wave_width));
  }
  validate(program);
  auto code = std::make_unique<Code>();
  code->kernel = program.kernel();
  code->index = index;
  code->width = width;
  code->items = fm::items_per_group(program);
  for (int d = 0; d < 3; ++d) {
    code->local[static_cast<std::size_t>(d)] = program.local_size(d);
    code->groups[static_cast<std::size_t>(d)] = program.group_count(d);
  }
  for (const auto& array : program.local_arrays()) code->local_bytes += array.bytes();
  Flattener(program, code.get()).run();
  code_ = std::move(code);
}

CompiledProgram::~CompiledProgram() = default;
CompiledProgram::CompiledProgram(CompiledProgram&&) noexcept = default;
CompiledProgram& CompiledProgram::operator=(CompiledProgram&&) noexcept = default;

const std::vector<CompiledSite>& CompiledProgram::sites() const { return code_->sites; }
std::uint32_t CompiledProgram::width() const { return code_->width; }
std::uint64_t CompiledProgram::group_total() const {
  return code_->groups[0] * code_->groups[1] * code_->groups[2];
}
std::uint32_t CompiledProgram::items_per_group() const { return code_->items; }
std::uint32_t CompiledProgram::waves_per_group() const {
  return static_cast<std::uint32_t>(ceil_div(code_->items, code_->width));
}
std::uint64_t CompiledProgram::local_bytes() const { return code_->local_bytes; }

}  // namespace fm
