#include "sim/commands/option_table.hpp"

#include "core/diagnostics.hpp"

namespace fm {

namespace po = boost::program_options;

void parse_options(int argc, const char* const* argv, const po::options_description& description,
                   const std::string& command) {
  const std::string see = "; see " + command + " --help";
  try {
    po::variables_map given;
    po::store(po::command_line_parser(argc, argv).options(description).positional({}).run(), given);
    po::notify(given);
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
