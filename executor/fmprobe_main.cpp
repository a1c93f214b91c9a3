// fmprobe: from a device to a config.
#include "executor/probe/probe_commands.hpp"

int main(int argc, char** argv) {
  return fm::run_main("fmprobe", [&] { return fm::fmprobe(argc, argv); });
}
