#include "planner/overlap_command.hpp"

#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "planner/summary.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* overlap_flags[] = {"budget", "minimize",   "slowdown",       "pareto",
                                         "runs",   "profile",    "solver-seconds", "lambda",
                                         "m-peak", "transforms", "alpha",          "learn-from"};

/// A decimal number from `least` to `most`.
double number(const po::variables_map& values, const std::string& flag, double least, double most) {
  std::string text = values[flag].as<std::string>();
  if (!text.empty() && text.back() == '%') text.pop_back();
  std::istringstream stream(text);
  double value = 0;
  stream >> value;
  if (!stream || !stream.eof() || !(value >= least) || !(value <= most)) {
    std::ostringstream range;
    range << least << " to " << most;
    throw UserError("--" + flag + " `" + values[flag].as<std::string>() +
                    "`: must be a number from " + range.str());
  }
  return value;
}

std::size_t whole(const po::variables_map& values, const std::string& flag, double least,
                  double most) {
  const double value = number(values, flag, least, most);
  if (value != static_cast<double>(static_cast<std::size_t>(value))) {
    throw UserError("--" + flag + " `" + values[flag].as<std::string>() +
                    "`: must be a whole number");
  }
  return static_cast<std::size_t>(value);
}

/// Adaptive fusion compares latencies of single plans.
void check_adaptive(const OverlapRequest& request) {
  if (request.pareto == 0 && !request.minimize_memory) return;
  throw UserError(
      "--fusion adaptive lowers latency: it takes neither --pareto nor --minimize memory");
}

/// "out/vit.plan.yaml", 2 -> "out/vit.2.plan.yaml"
std::string numbered(const std::string& output, std::size_t index) {
  const std::filesystem::path path(output);
  const std::string name = path.filename().string();
  const std::size_t dot = name.find('.');
  const std::string number = "." + std::to_string(index);
  const std::string changed =
      dot == std::string::npos ? name + number : name.substr(0, dot) + number + name.substr(dot);
  return (path.parent_path() / changed).string();
}

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.stream() << text;
  file.commit();
}

std::string fixed(double value, int digits, int width) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << std::setw(width) << value;
  return text.str();
}

std::string front_table(const std::vector<OverlapPlan>& plans, const std::string& output) {
  std::ostringstream out;
  out << "  peak memory   predicted  x floor      gap  plan\n";
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const OverlapReport& report = plans[i].report;
    out << fixed(static_cast<double>(report.peak.total().count()) / (1 << 20), 2, 9) << " MiB"
        << fixed(static_cast<double>(report.predicted.count()) * 1e-6, 2, 9) << " ms"
        << fixed(report.over_floor(), 3, 9) << fixed(report.gap() * 100, 2, 7) << " %  "
        << numbered(output, i + 1) << '\n';
  }
  return out.str();
}

void write_front(const std::vector<OverlapPlan>& plans, const std::string& output, bool json) {
  auto list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    write_text(numbered(output, i + 1), to_yaml(plans[i].plan));
    auto entry = nlohmann::ordered_json::parse(report_json(plans[i].report));
    entry["plan"] = numbered(output, i + 1);
    list.push_back(std::move(entry));
  }
  if (json) {
    std::cout << list.dump(2) << '\n';
  } else {
    const Plan& plan = plans.front().plan;
    std::cout << plan.models.at(0).file << " for " << plan.config << ", policy " << plan.policy
              << ", memory against latency\n"
              << front_table(plans, output);
  }
}

}  // namespace

OverlapRequest overlap_request(const po::variables_map& values) {
  OverlapRequest request;
  if (values.count("budget") != 0) {
    request.budget = size_of_option(values, "budget");
  }
  if (values.count("minimize") != 0) {
    const std::string& word = values["minimize"].as<std::string>();
    if (word != "latency" && word != "execution" && word != "memory") {
      throw UserError("--minimize `" + word +
                      "`: " + accepted_words(word, {"latency", "execution", "memory"}));
    }
    request.minimize_memory = word == "memory";
    request.programs_count = word != "execution";
  }
  if (values.count("slowdown") != 0) {
    if (!request.minimize_memory) throw UserError("--slowdown belongs to --minimize memory");
    request.slowdown = number(values, "slowdown", 0, 10000) / 100;
  }
  if (values.count("pareto") != 0) request.pareto = whole(values, "pareto", 2, 100);
  if (values.count("runs") != 0) request.runs = whole(values, "runs", 1, 1e6);
  if (values.count("solver-seconds") != 0) {
    request.seconds = number(values, "solver-seconds", 0.001, 3600);
  }
  return request;
}

ProfileFiles profile_files(const po::variables_map& values) {
  ProfileFiles files;
  if (values.count("profile") != 0) files.file = values["profile"].as<std::string>();
  if (values.count("learn-from") != 0) {
    files.learn_from = values["learn-from"].as<std::vector<std::string>>();
  }
  return files;
}

std::optional<LcOpgRequest> lc_opg_request(const po::variables_map& values) {
  const bool optimal = values["policy"].as<std::string>() == "optimal";
  for (const char* flag : {"lambda", "m-peak", "transforms"}) {
    if (optimal && values.count(flag) != 0) {
      throw UserError(std::string("--") + flag + " belongs to --policy lc-opg");
    }
  }
  if (optimal) return std::nullopt;
  for (const char* flag : {"minimize", "slowdown", "pareto", "runs"}) {
    if (values.count(flag) != 0) {
      throw UserError(std::string("--") + flag + " belongs to --policy optimal");
    }
  }
  LcOpgRequest request;
  if (values.count("lambda") != 0) request.lambda = number(values, "lambda", 0, 1);
  if (values.count("m-peak") != 0) {
    request.m_peak = size_of_option(values, "m-peak");
  }
  if (values.count("transforms") != 0) {
    const std::string& word = values["transforms"].as<std::string>();
    if (word != "kernels" && word != "copies") {
      throw UserError("--transforms `" + word +
                      "`: " + accepted_words(word, {"kernels", "copies"}));
    }
    request.copies = word == "copies";
  }
  return request;
}

Bytes size_of_option(const po::variables_map& values, const std::string& flag) {
  return Bytes(static_cast<std::uint64_t>(
      parse_quantity(values[flag].as<std::string>(), QuantityKind::bytes, {"--" + flag, 0, 0})));
}

bool has_overlap_options(const std::string& policy) {
  return policy == "optimal" || policy == "lc-opg";
}

void add_overlap_options(po::options_description* flags) {
  const auto text = [] { return po::value<std::string>(); };
  flags->add_options()("budget", text(), "optimal: most bytes resident at any time, e.g. 1.5GiB")(
      "minimize", text(),
      "optimal: latency (default) | execution, once programs are loaded | memory")(
      "slowdown", text(), "optimal, with --minimize memory: percent over the fastest, default 0")(
      "pareto", text(), "optimal: N plans from the least memory to the fastest")(
      "runs", text(), "optimal: runs of one process; weights may stay for the next")(
      "profile", text(),
      "optimal, lc-opg: of `fmplan profile`, or result.json of a run, for launch times; else "
      "estimated")("learn-from", po::value<std::vector<std::string>>()->composing(),
                   "optimal, lc-opg: a profile of another device, from which launches that "
                   "--profile lacks are learnt too; with a result.json a profile of any device, "
                   "for slowdowns; may be repeated")(
      "solver-seconds", text(), "optimal, lc-opg: time limit of each solve, default 10")(
      "lambda", text(), "lc-opg: weight of preloaded chunks, default 0.9")(
      "m-peak", text(), "lc-opg: most that a layer may transform, default 500 MB")(
      "transforms", text(), "lc-opg: in kernels (default) | copies, to compare")(
      "alpha", text(), "--fusion adaptive: capacity a split must gain, as a share, default 0.1");
}

void refuse_overlap_options(const po::variables_map& values, const std::string& policy,
                            bool budget_allowed) {
  for (const std::string flag : overlap_flags) {
    if (values.count(flag) != 0 && !(budget_allowed && flag == "budget")) {
      throw UserError("--" + flag + " belongs to --policy optimal or lc-opg, not " + policy);
    }
  }
}

void run_overlap_policy(const po::variables_map& values, const std::string& model,
                        const std::string& output, const DeviceConfig& config,
                        PlanOptions options) {
  const OverlapRequest request = overlap_request(values);
  if (request.pareto > 0 && output == "-") {
    throw UserError("--pareto writes several plans: -o must name a file");
  }
  if (options.ring) throw UserError("--ring: this policy sizes the staging ring itself");
  if (options.fusion == FusionMode::adaptive) {
    check_adaptive(request);
    if (values.count("alpha") != 0) options.alpha = number(values, "alpha", 0, 100);
  } else if (values.count("alpha") != 0) {
    throw UserError("--alpha belongs to --fusion adaptive");
  }
  const std::vector<OverlapPlan> plans = make_overlap_plans(
      model, config, options, profile_files(values), request, lc_opg_request(values));
  const bool json = values.count("json") != 0;
  if (request.pareto > 0) return write_front(plans, output, json);
  const OverlapPlan& planned = plans.front();
  write_text(output, to_yaml(planned.plan));
  std::ostream& out = output == "-" ? std::cerr : std::cout;
  if (json) {
    auto summary = nlohmann::ordered_json::parse(plan_summary_json(planned.plan));
    summary["overlap"] = nlohmann::ordered_json::parse(report_json(planned.report));
    out << summary.dump(2) << '\n';
  } else {
    out << plan_summary(planned.plan) << report_text(planned.report);
  }
}

}  // namespace fm
