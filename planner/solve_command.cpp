#include "planner/solve_command.hpp"

#include <boost/program_options.hpp>
#include <iostream>

#include "core/atomic_file.hpp"
#include "planner/overlap/lc_opg_report.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmplan solve PROBLEM.yaml [options]\n\n"
    "Solves LC-OPG for a problem given by sizes (docs/lc-opg.md): which weights to preload, and "
    "in\n"
    "which layers the chunks of the others are transformed. Prints objective, lower bound and "
    "gap.\n\n"
    "example: fmplan solve out/sizes/GPTN-2.7B.yaml --preload head.weight --json\n\n";

po::options_description solve_flags() {
  po::options_description flags("options of fmplan solve");
  flags.add_options()("problem", po::value<std::string>(), "the problem; also without the flag")(
      "lambda", po::value<double>(), "instead of the problem's: 0 to 1")(
      "preload", po::value<std::vector<std::string>>()->composing(),
      "NAME: a weight that must be preloaded; may be given several times")(
      "prove", "go on until the plan is proven best or time is out")(
      "time-limit", po::value<double>()->default_value(60, "60"),
      "seconds after which the best plan so far is given")("json", "print JSON, with every weight")(
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

LcOpgProblem problem_of(const po::variables_map& values) {
  if (values.count("problem") == 0) {
    throw UserError("the problem is missing; see fmplan solve --help");
  }
  LcOpgProblem problem = read_lc_opg_problem(values["problem"].as<std::string>());
  if (values.count("lambda") != 0) problem.lambda = values["lambda"].as<double>();
  if (values.count("preload") != 0) {
    force_preload(values["preload"].as<std::vector<std::string>>(), &problem);
  }
  return problem;
}

LcOpgOptions options_of(const po::variables_map& values) {
  LcOpgOptions options;
  options.prove = values.count("prove") != 0;
  options.time_limit = values["time-limit"].as<double>();
  if (!(options.time_limit > 0)) throw UserError("--time-limit: must be above 0 seconds");
  return options;
}

}  // namespace

ExitStatus run_solve(const std::vector<std::string>& words) {
  const po::options_description flags = solve_flags();
  const po::variables_map values = parsed(words, flags);
  if (values.count("help") != 0) {
    std::cout << usage << flags;
    return ExitStatus::done;
  }
  const LcOpgProblem problem = problem_of(values);
  const LcOpgResult result = solve_lc_opg(problem, options_of(values));
  const std::string report = values.count("json") != 0 ? lc_opg_report_json(problem, result)
                                                       : lc_opg_report(problem, result);
  AtomicFile file(values["output"].as<std::string>());
  file.stream() << report;
  file.commit();
  return ExitStatus::done;
}

}  // namespace fm
