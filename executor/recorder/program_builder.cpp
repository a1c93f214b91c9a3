#include "executor/recorder/program_builder.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

using Block = google::protobuf::RepeatedPtrField<trace::Node>;

class Needs {
 public:
  Needs(const AccessTree& tree, const ExpressionFits& fits) : tree_(tree), fits_(fits) {}
  std::set<std::uint32_t> collect() {
    collect(tree_.root);
    return std::move(needed_);
  }

 private:
  void collect(const TreeBlock& block) {
    for (const auto& node : block.nodes) {
      if (node->kind != RecordKind::derivation) need_all(*node);
      collect(node->body);
      collect(node->otherwise);
    }
  }

  void need_all(const TreeNode& node) {
    for (std::uint32_t i = 0; i < expression_count(node.kind); ++i) need(node.first_expression + i);
  }

  void need(std::uint32_t expression) {
    if (!needed_.insert(expression).second) return;
    if (fits_.state(expression) != FitState::fitted) return;
    const FittedExpression& fitted = fits_.fitted(expression);
    need_variables(fitted.form);
    for (const auto& [coefficient, term] : fitted.synthesised) {
      need_variables(term.left);
      need_variables(term.right);
    }
  }

  void need_variables(const SlotForm& form) {
    for (const auto& [slot, coefficient] : form.terms) {
      const TreeVariable& variable = tree_.variables[slot];
      if (variable.kind == trace::DERIVED) need_all(*variable.node);
    }
  }

  const AccessTree& tree_;
  const ExpressionFits& fits_;
  std::set<std::uint32_t> needed_;
};

class Builder {
 public:
  Builder(const AccessTree& tree, const ExpressionFits& fits, const RecordedTables& tables,
          const RecordingKernel& kernel)
      : tree_(tree),
        fits_(fits),
        tables_(tables),
        kernel_(kernel),
        needed_(needed_expressions(tree, fits)),
        index_of_slot_(tree.variables.size()) {}

  trace::AccessProgram build() {
    program_.set_kernel(kernel_.name);
    program_.set_key(kernel_.key);
    for (std::size_t d = 0; d < 3; ++d) {
      program_.add_local_size(kernel_.local_size[d]);
      program_.add_group_count(kernel_.group_count[d]);
    }
    for (const TreeLocalArray& array : tree_.local_arrays) {
      trace::LocalArray* out = program_.add_local_arrays();
      out->set_name(array.name);
      out->set_bytes(array.bytes);
    }
    program_.mutable_registers()->insert(kernel_.registers.begin(), kernel_.registers.end());
    program_.set_registers_source(kernel_.registers_source);
    build_block(tree_.root, program_.mutable_body());
    return std::move(program_);
  }

 private:
  /// A derivation made up for the expressions of one block.
  struct Made {
    SynthesisedTerm term;
    std::uint32_t index;
  };

  void build_block(const TreeBlock& block, Block* out) {
    const std::size_t outer = made_.size();
    for (const auto& node : block.nodes) build_node(*node, out);
    made_.resize(outer);
  }

  void build_node(const TreeNode& node, Block* out) {
    switch (node.kind) {
      case RecordKind::loop:
        return build_loop(node, out);
      case RecordKind::guard:
        return build_guard(node, out);
      case RecordKind::derivation:
        return build_derivation(node, out);
      case RecordKind::barrier:
        out->Add()->mutable_barrier();
        return;
      case RecordKind::arithmetic:
        return build_arithmetic(node, out);
      case RecordKind::any_memory:
      case RecordKind::any_texel:
        return build_any(node, out);
      default:
        return build_access(node, out);
    }
  }

  void build_arithmetic(const TreeNode& node, Block* out) {
    if (node.count == 0) return;
    trace::Node::Arithmetic* arithmetic = out->Add()->mutable_arithmetic();
    arithmetic->set_kind(static_cast<trace::ArithmeticKind>(node.detail));
    arithmetic->set_count(node.count);
    arithmetic->set_loads_in_flight(node.in_flight);
  }

  // Expressions come before their node is added: they may add derivations in front of it.
  void build_loop(const TreeNode& node, Block* out) {
    const trace::Expression begin = expression(node.first_expression, 1, out);
    const trace::Expression end = expression(node.first_expression + 1, 1, out);
    trace::Node::Loop* loop = out->Add()->mutable_loop();
    index_of_slot_[node.slot] = loops_;
    loop->set_id(loops_++);
    *loop->mutable_begin() = begin;
    *loop->mutable_end() = end;
    loop->set_step(node.step);
    build_block(node.body, loop->mutable_body());
  }

  void build_guard(const TreeNode& node, Block* out) {
    const trace::Expression left = expression(node.first_expression, 1, out);
    const trace::Expression right = expression(node.first_expression + 1, 1, out);
    trace::Node::Guard* guard = out->Add()->mutable_guard();
    *guard->mutable_left() = left;
    guard->set_relation(static_cast<trace::Relation>(node.detail));
    *guard->mutable_right() = right;
    build_block(node.body, guard->mutable_body());
    build_block(node.otherwise, guard->mutable_otherwise());
  }

  void build_derivation(const TreeNode& node, Block* out) {
    if (needed_.count(node.first_expression) == 0) return;
    trace::Derivation derivation;
    derivation.set_operator_(static_cast<trace::Derivation::Operator>(node.detail));
    *derivation.mutable_left() = expression(node.first_expression, 1, out);
    *derivation.mutable_right() = expression(node.first_expression + 1, 1, out);
    index_of_slot_[node.slot] = add_derivation(std::move(derivation), out);
  }

  std::uint32_t add_derivation(trace::Derivation derivation, Block* out) {
    const auto index = static_cast<std::uint32_t>(program_.derivations_size());
    *program_.add_derivations() = std::move(derivation);
    out->Add()->set_derive(index);
    return index;
  }

  void build_access(const TreeNode& node, Block* out) {
    trace::Site site;
    site.set_write((node.detail & log_writes) != 0);
    site.set_index_load(node.kind == RecordKind::index);
    std::int64_t unit = 1;  // bytes an index counts
    if (node.kind == RecordKind::local) {
      unit = describe_local(node, &site);
    } else {
      unit = describe_tensor(node, &site);
    }
    *site.mutable_x() = expression(node.first_expression, unit, out);
    if (node.kind == RecordKind::image) {
      *site.mutable_y() = expression(node.first_expression + 1, 1, out);
    }
    const auto index = static_cast<std::uint32_t>(program_.sites_size());
    *program_.add_sites() = std::move(site);
    out->Add()->set_access(index);
    if (node.kind == RecordKind::index) index_of_slot_[node.slot] = index;
  }

  /// An access of a kernel without macros. One that reaches several objects becomes a choice.
  void build_any(const TreeNode& node, Block* out) {
    if (node.objects.size() == 1) {
      trace::Site site = any_site(node, *node.objects.begin());
      *site.mutable_x() = expression(node.first_expression, 1, out);
      if (site.space() == trace::IMAGE) {
        *site.mutable_y() = expression(node.first_expression + 1, 1, out);
      }
      return add_site(std::move(site), out);
    }
    const std::uint32_t coordinates = expression_count(node.kind) - 1;
    std::vector<trace::Expression> derived;
    for (std::uint32_t i = 0; i <= coordinates; ++i) {
      derived.push_back(evaluated_once(expression(node.first_expression + i, 1, out), out));
    }
    for (const std::int64_t object : node.objects) {
      trace::Node::Guard* guard = out->Add()->mutable_guard();
      *guard->mutable_left() = derived.back();
      guard->set_relation(trace::EQ);
      guard->mutable_right()->set_constant(object);
      trace::Site site = any_site(node, object);
      *site.mutable_x() = derived[0];
      if (site.space() == trace::IMAGE) *site.mutable_y() = derived[1];
      add_site(std::move(site), guard->mutable_body());
      out = guard->mutable_otherwise();
    }
  }

  trace::Site any_site(const TreeNode& node, std::int64_t object) const {
    trace::Site site;
    site.set_space(static_cast<trace::Space>(node.detail & 3));
    site.set_write((node.detail & log_writes) != 0);
    site.set_atomic((node.detail & log_atomic) != 0);
    site.set_bytes(node.bytes);
    site.set_argument(static_cast<std::uint32_t>(object));
    if (node.id < kernel_.lines.size()) site.set_line(kernel_.lines[node.id]);
    return site;
  }

  void add_site(trace::Site site, Block* out) {
    out->Add()->set_access(static_cast<std::uint32_t>(program_.sites_size()));
    *program_.add_sites() = std::move(site);
  }

  /// A variable with the expression's value: tables are read once.
  trace::Expression evaluated_once(trace::Expression value, Block* out) {
    trace::Derivation derivation;
    derivation.set_operator_(trace::Derivation::SHIFT_LEFT);
    *derivation.mutable_left() = std::move(value);
    derivation.mutable_right();
    trace::Expression result;
    trace::LinearTerm* term = result.add_terms();
    term->set_coefficient(1);
    term->set_variable(trace::DERIVED);
    term->set_index(add_derivation(std::move(derivation), out));
    return result;
  }

  std::int64_t describe_local(const TreeNode& node, trace::Site* site) const {
    site->set_space(trace::LOCAL);
    for (std::size_t i = 0; i < tree_.local_arrays.size(); ++i) {
      if (tree_.local_arrays[i].id != node.local_array) continue;
      site->set_argument(static_cast<std::uint32_t>(i));
      site->set_bytes(tree_.local_arrays[i].element_bytes);
      return site->bytes();
    }
    throw UserError("kernel " + kernel_.name + " uses a local array it does not declare");
  }

  std::int64_t describe_tensor(const TreeNode& node, trace::Site* site) const {
    const std::uint32_t argument = node.detail & ~log_writes;
    site->set_argument(argument);
    const auto& tensor = std::get<RecordedTensor>(kernel_.arguments.at(argument));
    const auto element = static_cast<std::uint32_t>(size_of(tensor.dtype).count());
    const bool texel = node.kind == RecordKind::texel || node.kind == RecordKind::image;
    site->set_bytes(texel ? 4 * element : element);
    site->set_space(node.kind == RecordKind::image            ? trace::IMAGE
                    : tensor.placement == Placement::constant ? trace::CONSTANT
                                                              : trace::GLOBAL);
    return node.kind == RecordKind::image ? 1 : site->bytes();
  }

  trace::Expression expression(std::uint32_t index, std::int64_t unit, Block* out) {
    trace::Expression result;
    const auto table = tables_.find(index);
    if (table != tables_.end()) {
      result.set_explicit_table(add_table(table->second, unit));
      return result;
    }
    if (fits_.state(index) != FitState::fitted) return result;  // in a block nothing enters
    const FittedExpression& fitted = fits_.fitted(index);
    result = form_expression(fitted.form, unit);
    for (const auto& [coefficient, term] : fitted.synthesised) {
      trace::LinearTerm* out_term = result.add_terms();
      out_term->set_coefficient(coefficient * unit);
      out_term->set_variable(trace::DERIVED);
      out_term->set_index(made_derivation(term, out));
    }
    return result;
  }

  std::uint32_t made_derivation(const SynthesisedTerm& term, Block* out) {
    for (const Made& made : made_) {
      if (made.term == term) return made.index;
    }
    trace::Derivation derivation;
    derivation.set_operator_(term.op);
    *derivation.mutable_left() = form_expression(term.left, 1);
    *derivation.mutable_right() = form_expression(term.right, 1);
    made_.push_back({term, add_derivation(std::move(derivation), out)});
    return made_.back().index;
  }

  trace::Expression form_expression(const SlotForm& form, std::int64_t unit) const {
    trace::Expression result;
    result.set_constant(form.constant * unit);
    for (const auto& [slot, coefficient] : form.terms) {
      trace::LinearTerm* term = result.add_terms();
      term->set_coefficient(coefficient * unit);
      term->set_variable(tree_.variables[slot].kind);
      if (slot >= id_slots) term->set_index(index_of_slot_[slot]);
    }
    return result;
  }

  std::uint32_t add_table(const RecordedTable& table, std::int64_t unit) {
    trace::ExplicitTable* out = program_.add_tables();
    out->mutable_counts()->Add(table.counts.begin(), table.counts.end());
    std::int64_t before = 0;
    for (const std::int64_t value : table.values) {
      out->add_deltas((value - before) * unit);
      before = value;
    }
    return static_cast<std::uint32_t>(program_.tables_size());
  }

  const AccessTree& tree_;
  const ExpressionFits& fits_;
  const RecordedTables& tables_;
  const RecordingKernel& kernel_;
  const std::set<std::uint32_t> needed_;
  std::vector<std::uint32_t> index_of_slot_;  // of the loop, derivation or site
  std::vector<Made> made_;                    // in scope
  std::uint32_t loops_ = 0;
  trace::AccessProgram program_;
};

}  // namespace

std::set<std::uint32_t> needed_expressions(const AccessTree& tree, const ExpressionFits& fits) {
  return Needs(tree, fits).collect();
}

trace::AccessProgram build_program(const AccessTree& tree, const ExpressionFits& fits,
                                   const RecordedTables& tables, const RecordingKernel& kernel) {
  return Builder(tree, fits, tables, kernel).build();
}

}  // namespace fm
