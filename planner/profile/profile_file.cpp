// The profile as YAML.
#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "core/yaml_text.hpp"
#include "core/yaml_value.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/launch_numbers.hpp"

namespace fm {
namespace {

constexpr std::uint64_t profile_version = 3;
constexpr std::uint64_t longest = std::uint64_t{1} << 50;  // nanoseconds: 13 days

std::vector<SlowedTime> points_in(const YamlValue& value) {
  std::vector<SlowedTime> points;
  for (const YamlValue& item : value.sequence()) {
    YamlMap map = item.map();
    const Bytes streamed(map.required("streamed_bytes").unsigned_integer(1));
    const YamlValue time = map.required("time_ns");
    points.push_back({streamed, Nanoseconds(time.unsigned_integer(1, longest))});
    map.reject_unknown();
  }
  return points;
}

LaunchNumbers numbers_in(const YamlValue& value) {
  const std::vector<YamlValue> given = value.sequence();
  if (given.size() != launch_number_names().size()) {
    value.fail("has " + std::to_string(given.size()) + " numbers, this version takes " +
               std::to_string(launch_number_names().size()) + ": profile anew");
  }
  LaunchNumbers numbers;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto number = static_cast<double>(given[i].real());
    if (!(number >= 0)) given[i].fail(std::string(launch_number_names()[i].name) + " is below 0");
    numbers.*launch_number_names()[i].number = number;
  }
  return numbers;
}

DeviceRates rates_in(const YamlValue& value) {
  YamlMap map = value.map();
  DeviceRates rates;
  const YamlValue isa = map.required("isa");
  rates.isa = isa.text();
  const std::vector<std::string> known{"adreno", "bifrost", "valhall"};
  if (std::find(known.begin(), known.end(), rates.isa) == known.end()) {
    isa.fail("`" + rates.isa + "`: " + accepted_words(rates.isa, known));
  }
  for (const DeviceRateName& name : device_rate_names()) {
    const YamlValue rate = map.required(name.name);
    rates.*name.rate = static_cast<double>(rate.real());
    if (!(rates.*name.rate >= 0)) rate.fail("is below 0");
  }
  map.reject_unknown();
  return rates;
}

ProfileEntry entry_in(YamlMap& map) {
  ProfileEntry entry;
  const YamlValue kernel = map.required("kernel");
  entry.kernel = kernel.text();
  const YamlValue given = map.required("class");
  const auto known = operator_class_named(given.text());
  if (!known) {
    given.fail("unknown class '" + given.text() +
               "': " + accepted_words(given.text(), {"elemental", "reusable", "hierarchical"}));
  }
  try {
    if (*known != operator_class(entry.kernel)) {
      given.fail("kernel " + entry.kernel + " is " + to_string(operator_class(entry.kernel)));
    }
  } catch (const std::out_of_range&) {
    kernel.fail("the catalogue has no kernel '" + entry.kernel + "'");
  }
  const YamlValue time = map.required("time_ns");
  entry.time = Nanoseconds(time.unsigned_integer(1, longest));
  entry.points = points_in(map.required("points"));
  entry.numbers = numbers_in(map.required("numbers"));
  map.reject_unknown();
  return entry;
}

void write_entry(std::ostream& out, const std::string& signature, const ProfileEntry& entry) {
  out << "  - launch: " << yaml_quoted(signature) << "\n    kernel: " << yaml_word(entry.kernel)
      << "\n    class: " << to_string(operator_class(entry.kernel))
      << "\n    time_ns: " << entry.time.count() << "\n    points: [";
  for (std::size_t i = 0; i < entry.points.size(); ++i) {
    out << (i == 0 ? "" : ", ") << "{streamed_bytes: " << entry.points[i].streamed.count()
        << ", time_ns: " << entry.points[i].time.count() << '}';
  }
  out << "]\n    numbers: [";
  const auto& names = launch_number_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    out << (i == 0 ? "" : ", ") << static_cast<float>(entry.numbers.*names[i].number);
  }
  out << "]\n";
}

struct ErrorName {
  const char* name;
  double HeldOutErrors::*share;
};
constexpr ErrorName error_names[] = {{"mean", &HeldOutErrors::mean},
                                     {"median", &HeldOutErrors::median},
                                     {"p90", &HeldOutErrors::ninth_decile},
                                     {"largest", &HeldOutErrors::largest},
                                     {"within_tenth", &HeldOutErrors::within_tenth}};

HeldOutResult held_out_in(YamlMap& map) {
  HeldOutResult result;
  result.what = map.required("what").text();
  result.errors.predictions = map.required("predictions").unsigned_integer();
  for (const ErrorName& name : error_names) {
    result.errors.*name.share = static_cast<double>(map.required(name.name).real());
  }
  map.reject_unknown();
  return result;
}

void write_held_out(std::ostream& out, const std::vector<HeldOutResult>& results) {
  out << "held_out:" << (results.empty() ? " []\n" : "\n");
  for (const HeldOutResult& result : results) {
    out << "  - {what: " << yaml_quoted(result.what)
        << ", predictions: " << result.errors.predictions;
    for (const ErrorName& name : error_names) {
      out << ", " << name.name << ": " << static_cast<float>(result.errors.*name.share);
    }
    out << "}\n";
  }
}

struct MarginName {
  const char* name;
  ClassMargins CapacityMargins::*margins;
};
constexpr MarginName margin_names[] = {{"measured", &CapacityMargins::measured},
                                       {"bare_known", &CapacityMargins::bare_known},
                                       {"learnt", &CapacityMargins::learnt}};

double share_in(const YamlValue& value) {
  const auto share = static_cast<double>(value.real());
  if (!(share >= 0)) value.fail("is below 0");
  return share;
}

CapacityMargins margins_in(const YamlValue& value) {
  YamlMap map = value.map();
  CapacityMargins margins;
  for (const MarginName& name : margin_names) {
    YamlMap of = map.required(name.name).map();
    margins.*name.margins = {share_in(of.required("elemental")), share_in(of.required("reusable"))};
    of.reject_unknown();
  }
  map.reject_unknown();
  return margins;
}

void write_margins(std::ostream& out, const CapacityMargins& margins) {
  out << "margins:\n";
  for (const MarginName& name : margin_names) {
    const ClassMargins& of = margins.*name.margins;
    out << "  " << name.name << ": {elemental: " << static_cast<float>(of.elemental)
        << ", reusable: " << static_cast<float>(of.reusable) << "}\n";
  }
}

void write_rates(std::ostream& out, const DeviceRates& rates) {
  out << "rates:\n  isa: " << rates.isa << '\n';
  for (const DeviceRateName& name : device_rate_names()) {
    out << "  " << name.name << ": " << static_cast<float>(rates.*name.rate) << '\n';
  }
}

}  // namespace

DeviceProfile parse_profile(const std::string& yaml, const std::string& file_name) {
  YamlMap top = parse_yaml_document(yaml, file_name).map();
  const YamlValue version = top.required("profile");
  if (version.unsigned_integer() != profile_version) {
    version.fail("format version must be " + std::to_string(profile_version) +
                 ": profile anew with fmplan profile");
  }
  DeviceProfile profile;
  profile.device = top.required("device").text();
  profile.measured_by = top.required("measured_by").text();
  profile.rates = rates_in(top.required("rates"));
  for (const YamlValue& item : top.required("held_out").sequence()) {
    YamlMap map = item.map();
    profile.held_out.push_back(held_out_in(map));
  }
  profile.margins = margins_in(top.required("margins"));
  for (const YamlValue& item : top.required("entries").sequence()) {
    YamlMap map = item.map();
    const YamlValue launch = map.required("launch");
    if (!profile.entries.emplace(launch.text(), entry_in(map)).second) {
      launch.fail("launch '" + launch.text() + "' is given twice");
    }
  }
  top.reject_unknown();
  return profile;
}

DeviceProfile read_profile(const std::string& path) {
  return parse_profile(read_text_file(path), path);
}

std::string to_yaml(const DeviceProfile& profile) {
  std::ostringstream out;
  out.precision(9);
  out << "profile: " << profile_version << "\ndevice: " << yaml_word(profile.device)
      << "\nmeasured_by: " << yaml_word(profile.measured_by) << '\n';
  write_rates(out, profile.rates);
  write_held_out(out, profile.held_out);
  write_margins(out, profile.margins);
  out << "entries:";
  out << (profile.entries.empty() ? " []\n" : "\n");
  for (const auto& [signature, entry] : profile.entries) write_entry(out, signature, entry);
  return out.str();
}

}  // namespace fm
