#include "core/microbench_label.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr std::array<const char*, 5> part_words{"warm", "brief", "full", "alone", "series"};

std::int64_t number_from(const std::string& text, const std::string& word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw UserError("'" + text + "' is no microbenchmark's launch: '" + word +
                    "' should be a number");
  }
  return number;
}

MicrobenchPart part_from(const std::string& text, const std::string& word) {
  for (std::size_t i = 0; i < part_words.size(); ++i) {
    if (word == part_words[i]) return static_cast<MicrobenchPart>(i);
  }
  throw UserError("'" + text + "' is no microbenchmark's launch: part=" + word + "; " +
                  accepted_words(word, {part_words.begin(), part_words.end()}));
}

}  // namespace

std::string to_string(const MicrobenchLabel& label) {
  std::string text;
  for (const auto& [name, value] : label.axes) text += name + "=" + std::to_string(value) + " ";
  return text + "part=" + part_words[static_cast<std::size_t>(label.part)] +
         " work=" + std::to_string(label.work) + " unit=" + label.unit +
         (label.number == 0 ? "" : " number=" + std::to_string(label.number));
}

MicrobenchLabel microbench_label_from(const std::string& text) {
  MicrobenchLabel label;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "part") {
      label.part = part_from(text, value);
    } else if (name == "work") {
      label.work = static_cast<std::uint64_t>(number_from(text, value));
    } else if (name == "unit") {
      label.unit = value;
    } else if (name == "number") {
      label.number = static_cast<std::uint64_t>(number_from(text, value));
    } else {
      label.axes.emplace_back(name, number_from(text, value));
    }
  }
  if (label.work == 0 || label.unit.find('/') == std::string::npos) {
    throw UserError("'" + text + "' is no microbenchmark's launch: work=N unit=A/B is missing");
  }
  return label;
}

}  // namespace fm
