// fmtrace: looks into traces, checks them, and composes new ones from access programs already
// recorded.
#include <array>
#include <boost/program_options.hpp>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <set>

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
    "Looks into traces written by `fmexec --record` or libfmtrace_layer.so.\n\n"
    "info     what the trace holds and how much of each launch was checked\n"
    "dump     host operations; with --launch every access of a work-group; with --program the\n"
    "         access program as pseudo-code\n"
    "check    reads everything, expands work-groups two ways, compares with the plan; exit status "
    "4\n"
    "         when something differs\n"
    "compose  the trace of another plan from launches recorded before; exit status 2 with a list\n"
    "         when some are missing\n\n"
    "Example: fmtrace dump vit.trace --launch L3 --group 1,0,0 --wave 0\n";

/// Digits only, of at most nine figures: Boost would let a sign wrap around.
class WholeNumber {
 public:
  WholeNumber() = default;
  explicit WholeNumber(std::uint32_t number) : number_(number) {}
  std::uint32_t get() const { return number_; }

 private:
  std::uint32_t number_ = 0;
};

std::ostream& operator<<(std::ostream& stream, const WholeNumber& number) {
  return stream << number.get();
}

std::istream& operator>>(std::istream& stream, WholeNumber& number) {
  std::string text;
  stream >> text;
  const bool digits = !text.empty() && text.size() <= 9 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    number = WholeNumber(static_cast<std::uint32_t>(std::stoul(text)));
  } else {
    stream.setstate(std::ios::failbit);
  }
  return stream;
}

po::options_description described_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("json", "info: as JSON");
  add("launch", po::value<std::string>(), "dump: expand this launch of the plan");
  add("program", po::value<WholeNumber>(), "dump: print this access program");
  add("group", po::value<std::string>(), "dump: work-group id, e.g. 3,0,0 (default 0,0,0)");
  add("wave", po::value<WholeNumber>(), "dump: only this wave of the group");
  add("width", po::value<WholeNumber>()->default_value(WholeNumber(32)), "dump: work-items a wave");
  add("limit", po::value<WholeNumber>()->default_value(WholeNumber(0)),
      "dump: lines at most (0: all)");
  add("plan", po::value<std::string>(), "check, compose: a plan (check: default the trace's own)");
  add("groups", po::value<WholeNumber>()->default_value(WholeNumber(8)),
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

/// Every command takes some of the options; the others would be ignored.
void check_options(const po::variables_map& values, const std::string& command) {
  static const std::map<std::string, std::set<std::string>> taken{
      {"info", {"json", "output"}},
      {"dump", {"launch", "program", "group", "wave", "width", "limit", "output"}},
      {"check", {"plan", "groups", "output"}},
      {"compose", {"plan", "traces", "output"}}};
  std::vector<std::string> commands;
  for (const auto& [name, options] : taken) commands.push_back(name);
  const auto options = taken.find(command);
  if (options == taken.end()) {
    throw UserError("no command '" + command + "': " + accepted_words(command, commands));
  }
  for (const auto& [name, value] : values) {
    if (name == "words" || value.defaulted() || options->second.count(name) != 0) continue;
    throw UserError("fmtrace " + command + " takes no --" + name + "; see fmtrace --help");
  }
}

/// Every file the command reads.
std::vector<std::string> inputs_of(const po::variables_map& values,
                                   const std::vector<std::string>& words) {
  std::vector<std::string> inputs(words.begin() + 1, words.end());
  if (values.count("plan")) inputs.push_back(values["plan"].as<std::string>());
  if (values.count("traces")) {
    const auto traces = values["traces"].as<std::vector<std::string>>();
    inputs.insert(inputs.end(), traces.begin(), traces.end());
  }
  return inputs;
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
  if (values.count("program")) selection.program = values["program"].as<WholeNumber>().get();
  if (values.count("group")) selection.group = group_from(values["group"].as<std::string>());
  if (values.count("wave")) selection.wave = values["wave"].as<WholeNumber>().get();
  selection.width = values["width"].as<WholeNumber>().get();
  selection.limit = values["limit"].as<WholeNumber>().get();
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

std::string undescribed(const CheckReport& report) {
  if (report.undescribed_launches == 0) return "";
  return "; " + std::to_string(report.undescribed_launches) +
         " launches of other programs' kernels have no accesses to check";
}

ExitStatus run_check(const po::variables_map& values, const std::string& path) {
  const Trace trace = read_trace(path);
  CheckReport report;
  check_accesses(trace, values["groups"].as<WholeNumber>().get(), &report);
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
                           " work-groups expanded" + undescribed(report) + "\n");
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
  check_options(values, command);
  if (values.count("output")) {
    AtomicFile::refuse_input(values["output"].as<std::string>(), inputs_of(values, words));
  }
  if (command == "info") return run_info(values, trace_path(words));
  if (command == "dump") return run_dump(values, trace_path(words));
  if (command == "check") return run_check(values, trace_path(words));
  if (command == "compose" && words.size() == 1) return run_compose(values);
  throw UserError("fmtrace compose takes traces by --traces; see fmtrace --help");
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
