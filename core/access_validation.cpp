// fm::validate(AccessProgram): what every reader may rely on.

#include <set>
#include <string>
#include <vector>

#include "core/access_program.hpp"
#include "core/diagnostics.hpp"

namespace fm {
namespace {

using Block = google::protobuf::RepeatedPtrField<trace::Node>;

constexpr std::uint64_t most_groups = std::uint64_t{1} << 40;
constexpr std::uint64_t most_items = std::uint64_t{1} << 16;

class Validator {
 public:
  explicit Validator(const trace::AccessProgram& program) : program_(program) {}

  void run() {
    check_geometry();
    for (const trace::Site& site : program_.sites()) check_site(site);
    for (const trace::ExplicitTable& table : program_.tables()) check_table(table);
    check_block(program_.body());
    for (const std::uint32_t id : loop_ids_) {
      if (id >= loop_ids_.size()) fail("loop ids are not 0, 1, .. without gaps");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UserError("access program " + std::to_string(program_.id()) + " (kernel " +
                    program_.kernel() + "): " + message);
  }

  void check_geometry() const {
    if (program_.local_size_size() != 3 || program_.group_count_size() != 3) {
      fail("geometry must have three dimensions");
    }
    std::uint64_t items = 1, groups = 1;
    for (int d = 0; d < 3; ++d) {
      if (program_.local_size(d) == 0 || program_.group_count(d) == 0) fail("empty geometry");
      if (program_.local_size(d) > most_items || program_.group_count(d) > most_groups / groups) {
        fail("geometry too large");
      }
      items *= program_.local_size(d);
      groups *= program_.group_count(d);
      if (items > most_items) fail("more than 65536 work-items a group");
    }
    if (program_.groups_fitted() > groups || program_.groups_checked() > groups ||
        program_.groups_total() != groups) {
      fail("numbers of fitted, checked and total groups do not fit the geometry");
    }
  }

  void check_site(const trace::Site& site) const {
    if (!trace::Space_IsValid(site.space())) fail("unknown address space");
    if (site.bytes() == 0) fail("an access of no bytes");
    if (site.space() == trace::LOCAL &&
        site.argument() >= static_cast<std::uint32_t>(program_.local_arrays_size())) {
      fail("no local array " + std::to_string(site.argument()));
    }
    if (site.index_load() &&
        (site.write() || site.space() == trace::IMAGE || site.space() == trace::LOCAL)) {
      fail("an index load must read a buffer");
    }
  }

  void check_table(const trace::ExplicitTable& table) const {
    const std::uint64_t items = group_total(program_) * items_per_group(program_);
    if (static_cast<std::uint64_t>(table.counts_size()) != items) {
      fail("a table covers " + std::to_string(table.counts_size()) + " of " +
           std::to_string(items) + " work-items");
    }
    std::uint64_t values = 0;
    for (const std::uint32_t count : table.counts()) values += count;
    if (values != static_cast<std::uint64_t>(table.deltas_size())) {
      fail("a table's counts do not add up to its values");
    }
  }

  void check_expression(const trace::Expression& expression) {
    if (expression.explicit_table() != 0) {
      if (expression.explicit_table() > static_cast<std::uint32_t>(program_.tables_size())) {
        fail("no table " + std::to_string(expression.explicit_table()));
      }
      if (!tables_used_.insert(expression.explicit_table()).second) {
        fail("a table serves two expressions");
      }
    }
    for (const trace::LinearTerm& term : expression.terms()) check_term(term);
  }

  void check_term(const trace::LinearTerm& term) const {
    const auto in_scope = [&](const std::vector<std::uint32_t>& scope) {
      for (const std::uint32_t index : scope) {
        if (index == term.index()) return true;
      }
      return false;
    };
    const std::string index = std::to_string(term.index());
    if (!trace::VariableKind_IsValid(term.variable())) fail("unknown variable");
    if (term.variable() == trace::LOOP && !in_scope(loops_))
      fail("loop " + index + " not in scope");
    if (term.variable() == trace::DATA && !in_scope(data_)) {
      fail("data of site " + index + " not in scope");
    }
    if (term.variable() == trace::DERIVED && !in_scope(derived_)) {
      fail("derivation " + index + " not in scope");
    }
  }

  /// What a block defines is visible after it in the block, and in the blocks nested there.
  void check_block(const Block& block) {
    const std::size_t data = data_.size(), derived = derived_.size();
    if (++depth_ > 64) fail("nested more than 64 deep");
    for (const trace::Node& node : block) check_node(node);
    --depth_;
    data_.resize(data);
    derived_.resize(derived);
  }

  void check_node(const trace::Node& node) {
    switch (node.node_case()) {
      case trace::Node::kLoop:
        return check_loop(node.loop());
      case trace::Node::kGuard:
        return check_guard(node.guard());
      case trace::Node::kAccess:
        return check_access(node.access());
      case trace::Node::kDerive:
        return check_derivation(node.derive());
      case trace::Node::kArithmetic:
        if (!trace::ArithmeticKind_IsValid(node.arithmetic().kind())) fail("unknown arithmetic");
        return;
      case trace::Node::kBarrier:
        return;
      case trace::Node::NODE_NOT_SET:
        fail("an empty node");
    }
  }

  void check_loop(const trace::Node::Loop& loop) {
    check_expression(loop.begin());
    check_expression(loop.end());
    if (loop.step() <= 0) fail("a loop's step is not positive");
    if (!loop_ids_.insert(loop.id()).second) fail("two loops have one id");
    loops_.push_back(loop.id());
    check_block(loop.body());
    loops_.pop_back();
  }

  void check_guard(const trace::Node::Guard& guard) {
    if (!trace::Relation_IsValid(guard.relation())) fail("unknown relation");
    check_expression(guard.left());
    check_expression(guard.right());
    check_block(guard.body());
    check_block(guard.otherwise());
  }

  void check_access(std::uint32_t index) {
    if (index >= static_cast<std::uint32_t>(program_.sites_size())) {
      fail("no site " + std::to_string(index));
    }
    if (!sites_used_.insert(index).second) fail("site " + std::to_string(index) + " twice");
    const trace::Site& site = program_.sites(static_cast<int>(index));
    check_expression(site.x());
    check_expression(site.y());
    if (site.index_load()) data_.push_back(index);
  }

  void check_derivation(std::uint32_t index) {
    if (index >= static_cast<std::uint32_t>(program_.derivations_size())) {
      fail("no derivation " + std::to_string(index));
    }
    if (!derivations_used_.insert(index).second) {
      fail("derivation " + std::to_string(index) + " twice");
    }
    const trace::Derivation& derivation = program_.derivations(static_cast<int>(index));
    if (!trace::Derivation::Operator_IsValid(derivation.operator_())) fail("unknown derivation");
    check_expression(derivation.left());
    check_expression(derivation.right());
    derived_.push_back(index);
  }

  const trace::AccessProgram& program_;
  std::set<std::uint32_t> loop_ids_, sites_used_, derivations_used_, tables_used_;
  std::vector<std::uint32_t> loops_, data_, derived_;  // in scope
  int depth_ = 0;
};

}  // namespace

void validate(const trace::AccessProgram& program) { Validator(program).run(); }

}  // namespace fm
