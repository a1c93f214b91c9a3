#include "sim/commands/command.hpp"

namespace fm {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"replay", "replay a trace on a simulated phone (the default)", run_replay},
      {"reuse", "hit ratio over cache size of the requests at a port", run_reuse},
      {"dram", "drive one DRAM channel with a stream of requests", run_dram},
      {"microbench", "measure a simulated phone as one measures a real one", run_microbench},
  };
  return all;
}

std::string list_of_commands() {
  std::string text = "Commands (fmsim COMMAND --help):\n";
  for (const Command& command : commands()) {
    std::string name = command.name;
    name.resize(14, ' ');
    text += "  " + name + command.summary + "\n";
  }
  return text;
}

ExitStatus run_command(int argc, const char* const* argv) {
  const Command& replay = commands().front();
  if (argc < 2 || argv[1][0] == '-') return replay.run(argc, argv);
  const std::string name = argv[1];
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (name == command.name) return command.run(argc - 1, argv + 1);
    names.emplace_back(command.name);
  }
  throw UserError("no command '" + name + "': " + accepted_words(name, names) +
                  "; see fmsim --help");
}

}  // namespace fm
