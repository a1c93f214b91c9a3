#pragma once
// Drivers known to crash or to compute wrongly, which no query reveals: a table from public bug
// reports, and what fmexec does about each.

#include <string>
#include <vector>

#include "core/trace.pb.h"
#include "executor/opencl_device.hpp"

namespace fm {

enum class QuirkEffect {
  no_binaries,      ///< programs are compiled in every run, none is loaded from the cache
  no_optimisation,  ///< programs are built with -cl-opt-disable
  warning,          ///< nothing that is known to help: results are to be checked
};

struct DriverQuirk {
  std::string name;
  // Regular expressions found in the device's texts; "" fits all.
  std::string device;    ///< CL_DEVICE_NAME
  std::string platform;  ///< CL_PLATFORM_NAME, CL_PLATFORM_VERSION
  std::string driver;    ///< CL_DRIVER_VERSION, CL_DEVICE_VERSION
  QuirkEffect effect = QuirkEffect::warning;
  std::string symptom;
  std::string link;  ///< the public report
};

/// The whole table.
const std::vector<DriverQuirk>& known_quirks();
/// Those of this device's driver.
std::vector<DriverQuirk> quirks_of(const OpenClDevice& device);
bool has_quirk(const OpenClDevice& device, QuirkEffect effect);

/// What fmexec does: "programs are compiled in every run".
std::string to_string(QuirkEffect effect);
/// Name, symptom, what is done, link.
std::string describe(const DriverQuirk& quirk);
void add_quirks(const std::vector<DriverQuirk>& quirks, trace::Header* header);

}  // namespace fm
