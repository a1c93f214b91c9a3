#include "sim/commands/option_table.hpp"

#include <charconv>

#include "core/diagnostics.hpp"

namespace fm {

namespace po = boost::program_options;

namespace option_table {

std::uint64_t whole_number(const std::string& option, const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end) return number;
  throw UserError("--" + option + " " + text + ": needs a whole number" +
                  (error == std::errc::result_out_of_range ? ", and a smaller one" : ""));
}

}  // namespace option_table

namespace {

/// What Boost lets pass: words that are no option's, options taken for values, empty values.
void check_as_written(const po::parsed_options& parsed, const std::string& see) {
  for (const auto& option : parsed.options) {
    if (option.string_key.empty()) {
      throw UserError("'" + option.value.front() +
                      "' belongs to no option (options are written --name VALUE)" + see);
    }
    if (option.value.empty()) continue;
    const std::string& value = option.value.front();
    if (value.empty()) {
      throw UserError("--" + option.string_key + " needs a value, and this one is empty" + see);
    }
    const bool by_itself = option.original_tokens.size() > 1;  // not --name=VALUE
    if (by_itself && value.rfind("--", 0) == 0) {
      throw UserError("--" + option.string_key + " needs a value, and " + value + " is an option" +
                      see);
    }
  }
}

}  // namespace

std::vector<GivenOption> parse_options(int argc, const char* const* argv,
                                       const po::options_description& description,
                                       const std::string& command) {
  const std::string see = "; see " + command + " --help";
  try {
    const po::parsed_options parsed =
        po::command_line_parser(argc, argv).options(description).run();
    check_as_written(parsed, see);
    po::variables_map values;
    po::store(parsed, values);
    po::notify(values);
    std::vector<GivenOption> given;
    for (const auto& option : parsed.options) {
      given.push_back({option.string_key, option.original_tokens});
    }
    return given;
  } catch (const po::unknown_option& error) {
    std::vector<std::string> known;
    for (const auto& option : description.options()) known.push_back("--" + option->long_name());
    const std::string name = error.get_option_name();
    throw UserError("unknown option " + name + ": " + accepted_words(name, known) + see);
  } catch (const po::error& error) {
    throw UserError(error.what() + see);
  }
}

}  // namespace fm
