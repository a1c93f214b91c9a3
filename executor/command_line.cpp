#include "executor/command_line.hpp"

#include "core/diagnostics.hpp"

namespace fm {

namespace po = boost::program_options;

po::variables_map parse_command_line(int argc, const char* const* argv,
                                     const po::options_description& options,
                                     const std::string& command) {
  po::variables_map values;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(argc, argv).options(options).style(style).positional({}).run(),
        values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see " + command + " --help");
  }
  return values;
}

}  // namespace fm
