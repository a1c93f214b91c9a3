#pragma once
// How fmexec and its subcommands read their options.

#include <boost/program_options.hpp>
#include <string>

namespace fm {

/// Options without positional words. None may be abbreviated: an option added later must not change
/// what a script means. Throws UserError that points at `command` --help ("fmexec tune").
boost::program_options::variables_map parse_command_line(
    int argc, const char* const* argv, const boost::program_options::options_description& options,
    const std::string& command);

}  // namespace fm
