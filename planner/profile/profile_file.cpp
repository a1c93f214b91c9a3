// The profile as YAML.
#include <sstream>
#include <stdexcept>

#include "core/yaml_text.hpp"
#include "core/yaml_value.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/launch_features.hpp"

namespace fm {
namespace {

constexpr std::uint64_t profile_version = 1;
constexpr std::uint64_t longest = std::uint64_t{1} << 50;  // nanoseconds: 13 days

std::vector<SlowdownPoint> points_in(const YamlValue& value) {
  std::vector<SlowdownPoint> points;
  for (const YamlValue& item : value.sequence()) {
    YamlMap map = item.map();
    const Bytes streamed(map.required("streamed_bytes").unsigned_integer(1));
    const YamlValue extra = map.required("extra_ns");
    points.push_back({streamed, Nanoseconds(extra.unsigned_integer(0, longest))});
    map.reject_unknown();
  }
  return points;
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
  const YamlValue features = map.required("features");
  for (const YamlValue& feature : features.sequence()) entry.features.push_back(feature.real());
  if (entry.features.size() != launch_feature_names().size()) {
    features.fail("has " + std::to_string(entry.features.size()) + " numbers, this version takes " +
                  std::to_string(launch_feature_names().size()) + ": profile anew");
  }
  map.reject_unknown();
  return entry;
}

void write_entry(std::ostream& out, const std::string& signature, const ProfileEntry& entry) {
  out << "  - launch: " << yaml_quoted(signature) << "\n    kernel: " << yaml_word(entry.kernel)
      << "\n    class: " << to_string(operator_class(entry.kernel))
      << "\n    time_ns: " << entry.time.count() << "\n    points: [";
  for (std::size_t i = 0; i < entry.points.size(); ++i) {
    out << (i == 0 ? "" : ", ") << "{streamed_bytes: " << entry.points[i].streamed.count()
        << ", extra_ns: " << entry.points[i].extra.count() << '}';
  }
  out << "]\n    features: [";
  out.precision(9);
  for (std::size_t i = 0; i < entry.features.size(); ++i) {
    out << (i == 0 ? "" : ", ") << entry.features[i];
  }
  out << "]\n";
}

}  // namespace

DeviceProfile parse_profile(const std::string& yaml, const std::string& file_name) {
  YamlMap top = parse_yaml_document(yaml, file_name).map();
  const YamlValue version = top.required("profile");
  if (version.unsigned_integer() != profile_version) {
    version.fail("format version must be " + std::to_string(profile_version));
  }
  DeviceProfile profile;
  profile.device = top.required("device").text();
  profile.measured_by = top.required("measured_by").text();
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
  out << "profile: " << profile_version << "\ndevice: " << yaml_word(profile.device)
      << "\nmeasured_by: " << yaml_word(profile.measured_by) << "\nentries:";
  out << (profile.entries.empty() ? " []\n" : "\n");
  for (const auto& [signature, entry] : profile.entries) write_entry(out, signature, entry);
  return out.str();
}

}  // namespace fm
