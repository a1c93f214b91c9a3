#include "planner/solve_command.hpp"

#include <boost/program_options.hpp>
#include <iostream>

#include "core/atomic_file.hpp"
#include "core/figures_text.hpp"
#include "planner/overlap/lc_opg_report.hpp"
#include "planner/overlap/timed_report.hpp"
#include "planner/overlap_command.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmplan solve PROBLEM.yaml [options]\n\n"
    "Solves an overlap problem given by sizes, without a plan. Of LC-OPG (docs/lc-opg.md): which\n"
    "weights to preload, and in which layers the chunks of the others are transformed. Of a timed\n"
    "problem (docs/overlap.md): which chunks are streamed in which launch, the shortest within a\n"
    "budget. Prints objective or latency, lower bound and gap.\n\n"
    "examples: fmplan solve out/sizes/GPTN-2.7B.yaml --preload head.weight --json\n"
    "          fmplan solve out/timed/ViT.yaml --budget 40MiB\n\n";

/// Flags that mean something for one kind of problem only.
constexpr const char* lc_opg_flags[] = {"lambda", "preload", "prove"};
constexpr const char* timed_flags[] = {"budget"};

po::options_description solve_flags() {
  po::options_description flags("options of fmplan solve");
  flags.add_options()("problem", po::value<std::string>(), "the problem; also without the flag")(
      "lambda", po::value<double>(), "LC-OPG: instead of the problem's, 0 to 1")(
      "preload", po::value<std::vector<std::string>>()->composing(),
      "NAME: LC-OPG: a weight that must be preloaded; may be given several times")(
      "prove", "LC-OPG: go on until the plan is proven best or time is out")(
      "budget", po::value<std::string>(), "timed: instead of the problem's, e.g. 40MiB")(
      "time-limit", po::value<double>()->default_value(60, "60"),
      "seconds after which the best plan so far is given")(
      "json", "print JSON, with every weight or launch")(
      "output,o", po::value<std::string>()->default_value("-"), "file; - for standard output")(
      "help", "print this");
  return flags;
}

po::variables_map parsed(const std::vector<std::string>& words,
                         const po::options_description& flags) {
  po::variables_map values;
  po::positional_options_description positions;
  positions.add("problem", 1);
  try {
    po::store(po::command_line_parser(words).options(flags).positional(positions).run(), values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see fmplan solve --help");
  }
  return values;
}

YamlValue document_of(const po::variables_map& values) {
  if (values.count("problem") == 0) {
    throw UserError("the problem is missing; see fmplan solve --help");
  }
  const std::string path = values["problem"].as<std::string>();
  return parse_yaml_document(read_text_file(path), path);
}

template <std::size_t count>
void refuse(const po::variables_map& values, const char* const (&flags)[count],
            const std::string& why) {
  for (const char* flag : flags) {
    if (values.count(flag) != 0) throw UserError("--" + std::string(flag) + ": " + why);
  }
}

double time_limit_of(const po::variables_map& values) {
  const double seconds = values["time-limit"].as<double>();
  if (!(seconds > 0)) throw UserError("--time-limit: must be above 0 seconds");
  return seconds;
}

std::string solve_lc_opg_file(const YamlValue& document, const po::variables_map& values) {
  refuse(values, timed_flags, "means nothing for LC-OPG; see fmplan solve --help");
  LcOpgProblem problem = lc_opg_problem_of(document);
  if (values.count("lambda") != 0) problem.lambda = values["lambda"].as<double>();
  if (values.count("preload") != 0) {
    force_preload(values["preload"].as<std::vector<std::string>>(), &problem);
  }
  LcOpgOptions options;
  options.prove = values.count("prove") != 0;
  options.time_limit = time_limit_of(values);
  const LcOpgResult result = solve_lc_opg(problem, options);
  return values.count("json") != 0 ? lc_opg_report_json(problem, result)
                                   : lc_opg_report(problem, result);
}

void refuse_small_budget(const NamedTimedProblem& named) {
  const MinimumBudget minimum = minimum_budget(named.problem);
  if (named.problem.budget >= minimum.bytes) return;
  throw UserError(named.name + ": a budget of " + mebibytes_down(named.problem.budget) +
                  " is below the minimum, " + least_budget_text(minimum.bytes) + ": launch '" +
                  named.launches[minimum.launch] + "' holds " + mebibytes_up(minimum.activations) +
                  " beside " + mebibytes_up(minimum.weights) + " of weights and " +
                  mebibytes_up(minimum.ring) + " of staging ring");
}

std::string solve_timed_file(const YamlValue& document, const po::variables_map& values) {
  refuse(values, lc_opg_flags, "means nothing for a timed problem; see fmplan solve --help");
  NamedTimedProblem named = timed_problem_of(document);
  if (values.count("budget") != 0) named.problem.budget = size_of_option(values, "budget");
  refuse_small_budget(named);
  const OptimalSolution solution = solve_optimal(named.problem, {time_limit_of(values)});
  return values.count("json") != 0 ? timed_report_json(named, solution)
                                   : timed_report(named, solution);
}

}  // namespace

ExitStatus run_solve(const std::vector<std::string>& words) {
  const po::options_description flags = solve_flags();
  const po::variables_map values = parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const YamlValue document = document_of(values);
  const std::string report = is_timed_problem(document) ? solve_timed_file(document, values)
                                                        : solve_lc_opg_file(document, values);
  AtomicFile file(values["output"].as<std::string>());
  file.stream() << report;
  file.commit();
  return ExitStatus::done;
}

}  // namespace fm
