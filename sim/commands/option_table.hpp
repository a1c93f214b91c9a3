#pragma once
// A command's options as a table: one row an option, one member of a struct for what was given.

#include <boost/program_options.hpp>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace fm {

/// `member` decides what the option takes: nothing (bool), one value, or one each time it is given
/// (vector). The default is the member's initial value.
template <class Options>
struct OptionRow {
  const char* name;        ///< "output,o": long name, short one
  const char* value_name;  ///< "FILE"; "" for a switch
  const char* description;
  std::variant<bool Options::*, std::string Options::*, std::uint64_t Options::*,
               std::vector<std::string> Options::*>
      member;
};

namespace option_table {

/// Digits only: a sign would wrap around. Throws UserError.
std::uint64_t whole_number(const std::string& option, const std::string& text);

inline boost::program_options::value_semantic* semantic_of(bool* target, const char* /*option*/,
                                                           const char* /*name*/) {
  return boost::program_options::bool_switch(target);
}
inline boost::program_options::value_semantic* semantic_of(std::string* target,
                                                           const char* /*option*/,
                                                           const char* name) {
  auto* value = boost::program_options::value(target)->value_name(name);
  if (!target->empty()) value->default_value(*target);
  return value;
}
inline boost::program_options::value_semantic* semantic_of(std::uint64_t* target,
                                                           const char* option, const char* name) {
  return boost::program_options::value<std::string>()
      ->value_name(name)
      ->default_value(std::to_string(*target))
      ->notifier([=](const std::string& text) { *target = whole_number(option, text); });
}
inline boost::program_options::value_semantic* semantic_of(std::vector<std::string>* target,
                                                           const char* /*option*/,
                                                           const char* name) {
  return boost::program_options::value(target)->value_name(name)->composing();
}

}  // namespace option_table

/// The rows as Boost's options, each writing to its member of `options`.
template <class Options>
boost::program_options::options_description describe(const std::string& title,
                                                     const std::vector<OptionRow<Options>>& rows,
                                                     Options* options) {
  boost::program_options::options_description description(title, 80);
  for (const OptionRow<Options>& row : rows) {
    std::visit(
        [&](auto member) {
          description.add_options()(
              row.name, option_table::semantic_of(&(options->*member), row.name, row.value_name),
              row.description);
        },
        row.member);
  }
  return description;
}

/// An option as it was written on the command line.
struct GivenOption {
  std::string name;                ///< long name: "output"
  std::vector<std::string> words;  ///< "-o", "x.json"
};

/// Fills what `description` points to. `command` names the help to see: "fmsim replay". Throws
/// UserError: an unknown option (with the nearest known ones), a value missing, empty, odd or too
/// many, a word that belongs to no option. Returns what was given, in order.
std::vector<GivenOption> parse_options(
    int argc, const char* const* argv,
    const boost::program_options::options_description& description, const std::string& command);

}  // namespace fm
