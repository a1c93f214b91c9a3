#pragma once
// What Oclgrind (J. Price, S. McIntosh-Smith, IWOCL 2015), a simulator of OpenCL devices, sees of a
// program's kernels, by way of libfmtrace_oclgrind.so.

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/access_expander.hpp"
#include "core/trace_file.hpp"
#include "paths.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm::test {

constexpr const char* oclgrind_library = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

/// Why it cannot be asked, if it cannot.
inline std::optional<std::string> oclgrind_missing() {
  if (!std::filesystem::exists(oclgrind_library)) return "Oclgrind is missing: package oclgrind";
  if (!std::filesystem::exists(FM_OCLGRIND_PLUGIN)) {
    return "libfmtrace_oclgrind.so is missing: tools/oclgrind/headers.sh, then build again";
  }
  return std::nullopt;
}

struct OclgrindRun {
  int status = 0;
  std::string out, err;
};

/// Runs a program that finds its device by the ICD loader, recorded into `trace`.
inline OclgrindRun run_under_oclgrind(const std::string& command, const std::string& trace,
                                      const TemporaryFolder& folder) {
  const std::string whole = "env XDG_CACHE_HOME=" + folder.path() +
                            " OCL_ICD_VENDORS=" + oclgrind_library +
                            " OCLGRIND_PLUGINS=" FM_OCLGRIND_PLUGIN " FM_TRACE_FILE=" + trace +
                            " " + command + " >" + folder.file("out") + " 2>" + folder.file("err");
  OclgrindRun run;
  run.status = WEXITSTATUS(std::system(whole.c_str()));
  run.out = contents_of(folder.file("out"));
  run.err = contents_of(folder.file("err"));
  return run;
}

/// One access of a work-item, as both kinds of program can say it.
struct SeenAccess {
  trace::Space space;
  bool write, atomic;
  std::uint32_t argument, bytes, epoch;  ///< epoch: barriers before it
  std::int64_t x, y;
  friend bool operator==(const SeenAccess& a, const SeenAccess& b) { return a.key() == b.key(); }
  friend bool operator<(const SeenAccess& a, const SeenAccess& b) { return a.key() < b.key(); }
  std::tuple<int, bool, bool, std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t,
             std::int64_t>
  key() const {
    return {space, write, atomic, argument, bytes, epoch, x, y};
  }
  friend std::ostream& operator<<(std::ostream& out, const SeenAccess& access) {
    return out << trace::Space_Name(access.space) << (access.write ? " write " : " read ")
               << access.argument << ": " << access.bytes << " bytes at " << access.x << ", "
               << access.y << " in epoch " << access.epoch;
  }
};

/// In the order of the work-item's program.
inline std::vector<SeenAccess> accesses_of(const AccessExpander& expander,
                                           const trace::AccessProgram& program,
                                           std::array<std::uint32_t, 3> group, std::uint32_t item) {
  std::vector<SeenAccess> seen;
  expander.wave(
      group, item, 1,
      [&](const WaveAccess& access) {
        const trace::Site& site = program.sites(static_cast<int>(access.site));
        seen.push_back({site.space(), site.write(), site.atomic(), site.argument(), site.bytes(),
                        access.barrier_epoch, access.lanes[0].x, access.lanes[0].y});
      },
      nullptr);
  return seen;
}

}  // namespace fm::test
