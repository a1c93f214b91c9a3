// fmsim: replays traces on simulated phones. The commands are in sim/commands/.

#include "core/diagnostics.hpp"
#include "sim/commands/command.hpp"

int main(int argc, char** argv) {
  return fm::run_main("fmsim", [&] { return fm::run_command(argc, argv); });
}
