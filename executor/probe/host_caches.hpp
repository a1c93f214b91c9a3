#pragma once
// The caches of the computer a CPU device runs on, as its operating system knows them.

#include <filesystem>
#include <map>
#include <string>

namespace fm {

/// "l1_bytes", "l1_ways", "l1_line", and of l2 and l3 where they are: data and unified caches of
/// the first core, from Linux's sysfs. Empty where it says nothing.
std::map<std::string, std::string> host_cache_facts(
    const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace fm
