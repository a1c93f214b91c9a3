// fmtrace: looks into traces, checks them, and composes new ones from access programs already
// recorded.
#include <boost/program_options.hpp>
#include <iostream>
#include <optional>
#include <regex>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "core/version.hpp"
#include "executor/trace_tool/trace_check.hpp"
#include "executor/trace_tool/trace_compose.hpp"
#include "executor/trace_tool/trace_dump.hpp"
#include "executor/trace_tool/trace_info.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmtrace info TRACE [--json]\n"
    "       fmtrace dump TRACE [--launch ID [--group X,Y,Z] [--wave N] [--width N] | --program N]\n"
    "       fmtrace check TRACE [--plan PLAN] [--groups N]\n"
    "       fmtrace compose --plan PLAN --traces TRACE... -o TRACE\n"
    "Looks into traces written by `fmexec --record`.\n\n"
    "info     what the trace holds and how much of each launch was checked\n"
    "dump     host operations; with --launch every access of a work-group; with --program the\n"
    "         access program as pseudo-code\n"
    "check    reads everything, expands work-groups two ways, compares with the plan; exit status "
    "4\n"
    "         when something differs\n"
    "compose  the trace of another plan from launches recorded before; exit status 2 with a list\n"
    "         when some are missing\n\n"
    "Example: fmtrace dump vit.trace --launch L3 --group 0,1,0 --wave 0\n";

po::options_description described_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("json", "info: as JSON");
  add("launch", po::value<std::string>(), "dump: expand this launch of the plan");
  add("program", po::value<std::uint32_t>(), "dump: print this access program");
  add("group", po::value<std::string>(), "dump: work-group id, e.g. 3,0,0 (default 0,0,0)");
  add("wave", po::value<std::uint32_t>(), "dump: only this wave of the group");
  add("width", po::value<std::uint32_t>()->default_value(32), "dump: work-items a wave");
  add("limit", po::value<std::uint64_t>()->default_value(0), "dump: lines at most (0: all)");
  add("plan", po::value<std::string>(), "check, compose: a plan (check: default the trace's own)");
  add("groups", po::value<std::uint64_t>()->default_value(8),
      "check: work-groups expanded of each access program, beside corners and middle");
  add("traces", po::value<std::vector<std::string>>()->multitoken(),
      "compose: traces that hold recorded launches");
  add("output,o", po::value<std::string>(), "where the result goes (default -, standard output)");
  add("help,h", "print this");
  add("version", "print the version");
  return options;
}

std::array<std::uint32_t, 3> group_from(const std::string& text) {
  static const std::regex form("(\\d{1,9}),(\\d{1,9}),(\\d{1,9})");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) {
    throw UserError("--group '" + text + "': three numbers are needed, e.g. 3,0,0");
  }
  const auto number = [&](std::size_t i) {
    return static_cast<std::uint32_t>(std::stoul(parts[i]));
  };
  return {number(1), number(2), number(3)};
}

/// The command's single trace.
std::string trace_path(const std::vector<std::string>& words) {
  if (words.size() == 2) return words[1];
  throw UserError("fmtrace " + words[0] + " takes one trace; see fmtrace --help");
}

void write_output(const po::variables_map& values, const std::string& text) {
  AtomicFile file(values.count("output") ? values["output"].as<std::string>() : "-");
  file.stream() << text;
  file.commit();
}

ExitStatus run_info(const po::variables_map& values, const std::string& path) {
  const Trace trace = read_trace(path);
  write_output(values, values.count("json") ? info_json(trace, path) : info_text(trace, path));
  return ExitStatus::done;
}

ExitStatus run_dump(const po::variables_map& values, const std::string& path) {
  DumpSelection selection;
  if (values.count("launch")) selection.launch = values["launch"].as<std::string>();
  if (values.count("program")) selection.program = values["program"].as<std::uint32_t>();
  if (values.count("group")) selection.group = group_from(values["group"].as<std::string>());
  if (values.count("wave")) selection.wave = values["wave"].as<std::uint32_t>();
  selection.width = values["width"].as<std::uint32_t>();
  selection.limit = values["limit"].as<std::uint64_t>();
  if (selection.width == 0 || selection.width > 1024) throw UserError("--width must be 1 to 1024");
  if ((selection.group || selection.wave) && selection.launch.empty()) {
    throw UserError("--group and --wave need --launch");
  }
  if (selection.program && !selection.launch.empty()) {
    throw UserError("--program and --launch exclude each other");
  }
  const Trace trace = read_trace(path);
  AtomicFile file(values.count("output") ? values["output"].as<std::string>() : "-");
  dump(trace, selection, file.stream());
  file.commit();
  return ExitStatus::done;
}

ExitStatus run_check(const po::variables_map& values, const std::string& path) {
  const Trace trace = read_trace(path);
  CheckReport report;
  check_accesses(trace, values["groups"].as<std::uint64_t>(), &report);
  const bool other = values.count("plan") > 0;
  if (other) {
    check_plan(trace, read_plan(values["plan"].as<std::string>()), &report);
  } else if (!trace.header.plan_yaml().empty()) {
    check_plan(trace, parse_plan(trace.header.plan_yaml(), path + " (plan)"), &report);
  }
  for (const std::string& difference : report.differences) std::cerr << difference << "\n";
  if (!report.differences.empty()) {
    throw VerificationError(path + " differs from " +
                            (other ? values["plan"].as<std::string>() : "what it should be"));
  }
  write_output(values, path + ": sound; " + std::to_string(trace.operations.size()) +
                           " host operations, " + std::to_string(trace.programs.size()) +
                           " access programs, " + std::to_string(report.accesses_expanded) +
                           " accesses of " + std::to_string(report.groups_expanded) +
                           " work-groups expanded\n");
  return ExitStatus::done;
}

ExitStatus run_compose(const po::variables_map& values) {
  for (const char* needed : {"plan", "traces", "output"}) {
    if (!values.count(needed)) {
      throw UserError(std::string("compose needs --") + needed + "; see fmtrace --help");
    }
  }
  const Plan plan = read_plan(values["plan"].as<std::string>());
  std::vector<Trace> sources;
  for (const std::string& path : values["traces"].as<std::vector<std::string>>()) {
    sources.push_back(read_trace(path));
  }
  write_trace(values["output"].as<std::string>(), compose_trace(plan, sources));
  return ExitStatus::done;
}

ExitStatus run(const po::variables_map& values, const std::vector<std::string>& words) {
  const std::string& command = words[0];
  if (command == "info") return run_info(values, trace_path(words));
  if (command == "dump") return run_dump(values, trace_path(words));
  if (command == "check") return run_check(values, trace_path(words));
  if (command == "compose" && words.size() == 1) return run_compose(values);
  throw UserError("fmtrace: " + accepted_words(command, {"info", "dump", "check", "compose"}));
}

ExitStatus fmtrace(int argc, char** argv) {
  const po::options_description described = described_options();
  po::options_description all;
  all.add(described);
  all.add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);
  po::variables_map values;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(argc, argv).options(all).style(style).positional(positional).run(),
        values);
    po::notify(values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see fmtrace --help");
  }
  if (values.count("help")) {
    std::cout << usage << "\n" << described;
    return ExitStatus::done;
  }
  if (values.count("version")) {
    std::cout << "fmtrace " << version << "\n";
    return ExitStatus::done;
  }
  if (!values.count("words")) throw UserError("a command is missing; see fmtrace --help");
  return run(values, values["words"].as<std::vector<std::string>>());
}

}  // namespace
}  // namespace fm

int main(int argc, char** argv) {
  return fm::run_main("fmtrace", [&] { return fm::fmtrace(argc, argv); });
}
