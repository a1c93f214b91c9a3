#include "sim/commands/option_table.hpp"

#include "core/diagnostics.hpp"

namespace fm {

namespace po = boost::program_options;

std::vector<GivenOption> parse_options(int argc, const char* const* argv,
                                       const po::options_description& description,
                                       const std::string& command) {
  const std::string see = "; see " + command + " --help";
  try {
    const po::parsed_options parsed =
        po::command_line_parser(argc, argv).options(description).positional({}).run();
    po::variables_map values;
    po::store(parsed, values);
    po::notify(values);
    std::vector<GivenOption> given;
    for (const auto& option : parsed.options) {
      const bool swallowed = !option.value.empty() && option.value.front().rfind("--", 0) == 0;
      if (swallowed) {
        throw UserError("--" + option.string_key + " needs a value, and " + option.value.front() +
                        " is an option" + see);
      }
      given.push_back({option.string_key, option.original_tokens});
    }
    return given;
  } catch (const po::unknown_option& error) {
    std::vector<std::string> known;
    for (const auto& option : description.options()) known.push_back("--" + option->long_name());
    const std::string name = error.get_option_name();
    throw UserError("unknown option " + name + ": " + accepted_words(name, known) + see);
  } catch (const po::too_many_positional_options_error&) {
    throw UserError("a word belongs to no option (options are written --name VALUE)" + see);
  } catch (const po::error& error) {
    throw UserError(error.what() + see);
  }
}

}  // namespace fm
