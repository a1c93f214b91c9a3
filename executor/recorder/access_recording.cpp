#include "executor/recorder/access_recording.hpp"

#include <functional>
#include <set>

#include "core/access_program.hpp"
#include "core/diagnostics.hpp"
#include "executor/recorder/expression_fit.hpp"
#include "executor/recorder/group_choice.hpp"
#include "executor/recorder/program_builder.hpp"

namespace fm {
namespace {

constexpr std::size_t logs_limit = std::size_t{96} << 20;  // bytes of logs kept while fitting
constexpr std::size_t checked_at_once = 40;
constexpr int most_rounds = 6;
constexpr std::size_t most_table_values = std::size_t{1} << 26;
constexpr std::uint64_t groups_at_once = 256;

LaunchIntegers launch_integers(const RecordingKernel& kernel) {
  LaunchIntegers integers;
  integers.local_size = kernel.local_size;
  integers.group_count = kernel.group_count;
  integers.parameters = kernel.parameters;
  for (const RecordedArgument& argument : kernel.arguments) {
    if (const auto* integer = std::get_if<IntArgument>(&argument)) {
      integers.arguments.push_back(integer->value);
    }
  }
  return integers;
}

/// Passes samples on to the fits and keeps those of unexplained expressions.
struct TableSink {
  ExpressionFits& fits;
  RecordedTables& tables;
  std::size_t values = 0;

  void sample(std::uint32_t expression, std::int64_t value, const std::int64_t* variables) {
    const auto table = tables.find(expression);
    if (table == tables.end()) return fits.sample(expression, value, variables);
    table->second.values.push_back(value);
    ++values;
  }
};

class Recording {
 public:
  Recording(const RecordingKernel& kernel, GroupSource& groups)
      : kernel_(kernel),
        groups_(groups),
        random_(std::hash<std::string>{}(kernel.name)),
        fits_(tree_, launch_integers(kernel), random_()) {}

  trace::AccessProgram run(Groups seen) {
    keep(groups_to_fit(kernel_.group_count, random_));
    fit_kept();
    bool explained = false;
    const int rounds = seen == Groups::chosen ? most_rounds : 0;
    for (int round = 0; round < rounds && !explained && !has_tables(); ++round) {
      explained = check_round();
    }
    // Mismatches to the last: everything is recorded, so that the program is right whatever it
    // costs.
    if (!explained) record_all();
    trace::AccessProgram program = build_program(tree_, fits_, tables_, kernel_);
    program.set_groups_fitted(kept_.size());
    program.set_groups_checked(explained ? known_.size() : total());
    program.set_groups_total(total());
    return program;
  }

 private:
  std::uint64_t total() const {
    return std::uint64_t{kernel_.group_count[0]} * kernel_.group_count[1] * kernel_.group_count[2];
  }

  template <class Sink>
  void walk(const GroupLog& log, Sink& sink) {
    LogWalk<Sink> walk(kernel_.name, tree_, sink);
    for (std::uint32_t item = 0; item < log.items(); ++item) walk.walk(log.item(item));
  }

  void keep(const std::vector<GroupId>& groups) {
    groups_.record(groups, [&](GroupLog log) {
      known_.insert(log.group());
      // The first groups are the corners; beyond the limit the rest is left to the checks.
      if (kept_bytes_ + log.bytes() > logs_limit && !kept_.empty()) return;
      kept_bytes_ += log.bytes();
      kept_.push_back(std::move(log));
    });
  }

  void fit_kept() {
    do {
      for (const GroupLog& log : kept_) walk(log, fits_);
    } while (fits_.refit());
  }

  bool has_tables() const {
    for (const std::uint32_t expression : needed_expressions(tree_, fits_)) {
      if (fits_.state(expression) == FitState::unfitted) return true;
    }
    return false;
  }

  /// True when every access of other groups was as predicted, or no other group is left.
  bool check_round() {
    const std::vector<GroupId> others =
        groups_to_check(tree_, fits_, kernel_.group_count, known_, checked_at_once, random_);
    if (others.empty()) return true;
    groups_.record(others, [&](GroupLog log) {
      known_.insert(log.group());
      walk(log, fits_);
      pending_.push_back(std::move(log));
      shed_pending();
    });
    if (!fits_.refit()) {
      pending_.clear();
      return true;
    }
    for (GroupLog& log : pending_) {
      kept_bytes_ += log.bytes();
      kept_.push_back(std::move(log));
    }
    pending_.clear();
    fit_kept();
    return false;
  }

  /// Logs of groups that are only checked are not all kept either.
  void shed_pending() {
    std::size_t bytes = 0;
    for (const GroupLog& log : pending_) bytes += log.bytes();
    if (bytes > logs_limit) pending_.erase(pending_.begin());
  }

  /// Walks all groups, filling tables for what is unexplained, until nothing else mispredicts.
  void record_all() {
    bool again = true;
    while (again) {
      start_tables();
      TableSink sink{fits_, tables_};
      for (std::uint64_t first = 0; first < total(); first += groups_at_once) {
        groups_.record(all_groups(kernel_.group_count, first, groups_at_once),
                       [&](const GroupLog& log) {
                         known_.insert(log.group());
                         record_group(log, sink);
                       });
      }
      again = fits_.refit();
    }
  }

  void start_tables() {
    tables_.clear();
    for (const std::uint32_t expression : needed_expressions(tree_, fits_)) {
      if (fits_.state(expression) == FitState::unfitted) tables_[expression];
    }
  }

  void record_group(const GroupLog& log, TableSink& sink) {
    LogWalk<TableSink> walk(kernel_.name, tree_, sink);
    std::map<std::uint32_t, std::size_t> before;
    for (std::uint32_t item = 0; item < log.items(); ++item) {
      for (const auto& [expression, table] : tables_) before[expression] = table.values.size();
      walk.walk(log.item(item));
      for (auto& [expression, table] : tables_) {
        table.counts.push_back(
            static_cast<std::uint32_t>(table.values.size() - before[expression]));
      }
    }
    if (sink.values > most_table_values) {
      throw UserError(
          "kernel " + kernel_.name +
          " cannot be recorded: more than 2^26 operands fit no formula; use FM_QUOTIENT, "
          "FM_REMAINDER, FM_MIN, FM_MAX and the shifts for its index arithmetic");
    }
  }

  const RecordingKernel& kernel_;
  GroupSource& groups_;
  std::mt19937_64 random_;
  AccessTree tree_;
  ExpressionFits fits_;
  RecordedTables tables_;
  std::vector<GroupLog> kept_, pending_;
  std::size_t kept_bytes_ = 0;
  std::set<GroupId> known_;  // recorded and walked
};

}  // namespace

trace::AccessProgram record_accesses(const RecordingKernel& kernel, GroupSource& groups,
                                     Groups seen) {
  trace::AccessProgram program = Recording(kernel, groups).run(seen);
  validate(program);
  return program;
}

}  // namespace fm
