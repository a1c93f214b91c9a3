#include "sim/stats/result_difference.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/stats/quantity_text.hpp"

namespace fm {
namespace {

using nlohmann::json;

void sort_by_effect(std::vector<Difference>* differences) {
  std::stable_sort(
      differences->begin(), differences->end(),
      [](const Difference& a, const Difference& b) { return a.effect() > b.effect(); });
}

Difference row(const std::string& name, const std::string& unit, const json& against,
               const json& now) {
  return {name, unit, against.get<double>(), now.get<double>(), "", true};
}

std::vector<Difference> headline_of(const json& against, const json& now) {
  const auto at = [](const json& result, const char* pointer) {
    return result.at(json::json_pointer(pointer));
  };
  std::vector<Difference> rows;
  const auto add = [&](const char* name, const char* unit, const char* pointer) {
    rows.push_back(row(name, unit, at(against, pointer), at(now, pointer)));
  };
  add("integrated latency", "ns", "/latency/integrated_ns");
  add("initialization", "ns", "/latency/init_ns");
  add("execution", "ns", "/latency/exec_ns");
  add("peak memory", "bytes", "/memory/peak_bytes");
  add("average memory", "bytes", "/memory/average_bytes");
  add("energy", "nJ", "/energy/total_nj");
  sort_by_effect(&rows);
  return rows;
}

double time_of(const json& launch) {
  return launch.at("end_ns").get<double>() - launch.at("start_ns").get<double>();
}

std::string note_of(const json& before, const json& now) {
  const std::string bound = before.at("bound"), other = now.at("bound");
  return now.at("operation").get<std::string>() + ", " + bound +
         (bound == other ? "" : " -> " + other);
}

std::vector<Difference> launches_of(const json& against, const json& now, std::size_t* unmatched) {
  std::map<std::string, const json*> before;
  for (const json& launch : against.at("launches")) before.emplace(launch.at("id"), &launch);
  std::vector<Difference> rows;
  for (const json& launch : now.at("launches")) {
    const auto found = before.find(launch.at("id"));
    if (found == before.end()) {
      ++*unmatched;
      continue;
    }
    Difference one{launch.at("id"),
                   "ns",
                   time_of(*found->second),
                   time_of(launch),
                   note_of(*found->second, launch),
                   true};
    if (one.change() != 0) rows.push_back(one);
    before.erase(found);
  }
  *unmatched += before.size();
  std::stable_sort(rows.begin(), rows.end(), [](const Difference& a, const Difference& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  return rows;
}

std::vector<Difference> counters_of(const json& against, const json& now) {
  std::vector<Difference> rows;
  for (const auto& [name, counter] : now.at("counters").items()) {
    const auto before = against.at("counters").find(name);
    if (before == against.at("counters").end()) continue;
    const Difference one = row(name, counter.at("unit"), before->at("value"), counter.at("value"));
    if (one.change() != 0) rows.push_back(one);
  }
  sort_by_effect(&rows);
  return rows;
}

int sign(double number) { return number > 0 ? 1 : number < 0 ? -1 : 0; }

std::string quantity(double value, const std::string& unit) {
  if (unit == "ns") return text_of(Nanoseconds(static_cast<std::uint64_t>(value)));
  if (unit == "bytes") return text_of(Bytes(static_cast<std::uint64_t>(value)));
  if (unit == "nJ") return text_with_prefix(value * 1e-9, "J");
  return text_with_prefix(value, "");
}

std::string change_text(const Difference& one) {
  if (one.against == 0) return one.now == 0 ? "0 %" : "new";
  const double percent = 100 * one.change() / one.against;
  return (percent > 0 ? "+" : "") + three_digits(percent) + " %";
}

void write_rows(std::ostringstream* out, const std::string& title,
                const std::vector<Difference>& rows, std::size_t most) {
  if (rows.empty()) return;
  *out << "\n"
       << std::left << std::setw(34) << title << std::right << std::setw(11) << "against"
       << std::setw(11) << "now" << std::setw(10) << "change"
       << "\n";
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const Difference& one = rows[i];
    const std::string name = one.note.empty() ? one.name : one.name + " " + one.note;
    *out << "  " << std::left << std::setw(32)
         << (name.size() <= 31 ? name : name.substr(0, 29) + "..") << std::right << std::setw(11)
         << quantity(one.against, one.unit) << std::setw(11) << quantity(one.now, one.unit)
         << std::setw(10) << change_text(one) << (one.sign_known ? "" : "  sign?") << "\n";
  }
  if (rows.size() > most) *out << "  and " << rows.size() - most << " more\n";
}

json rows_json(const std::vector<Difference>& rows) {
  json list = json::array();
  for (const Difference& one : rows) {
    list.push_back({{"name", one.name},
                    {"unit", one.unit},
                    {"against", one.against},
                    {"now", one.now},
                    {"note", one.note},
                    {"sign_known", one.sign_known}});
  }
  return list;
}

}  // namespace

double Difference::effect() const {
  const double larger = std::max(std::abs(against), std::abs(now));
  return larger == 0 ? 0 : std::abs(change()) / larger;
}

ResultDifference difference_of(const json& against, const json& now) {
  ResultDifference difference;
  difference.headline = headline_of(against, now);
  difference.launches = launches_of(against, now, &difference.unmatched_launches);
  difference.counters = counters_of(against, now);
  return difference;
}

void mark_unknown_signs(ResultDifference* difference, const std::vector<ResultDifference>& others) {
  for (Difference& one : difference->headline) {
    for (const ResultDifference& other : others) {
      const auto same =
          std::find_if(other.headline.begin(), other.headline.end(),
                       [&](const Difference& candidate) { return candidate.name == one.name; });
      if (sign(same->change()) * sign(one.change()) < 0) one.sign_known = false;
    }
  }
}

std::string difference_text(const ResultDifference& difference, std::size_t longest) {
  std::ostringstream out;
  write_rows(&out, "Largest effects", difference.headline, difference.headline.size());
  write_rows(&out, "Launches", difference.launches, longest);
  if (difference.unmatched_launches > 0) {
    out << "  " << difference.unmatched_launches << " launches are in one of the runs only\n";
  }
  write_rows(&out, "Counters", difference.counters, longest);
  return out.str();
}

json difference_json(const ResultDifference& difference) {
  return {{"headline", rows_json(difference.headline)},
          {"launches", rows_json(difference.launches)},
          {"unmatched_launches", difference.unmatched_launches},
          {"counters", rows_json(difference.counters)}};
}

}  // namespace fm
