#include "executor/driver_memory.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace fm {
namespace {

using Fields = std::map<std::string, std::string>;

/// "key:  value" lines.
Fields fields_of(const std::filesystem::path& path) {
  Fields fields;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    fields[line.substr(0, colon)] = first == std::string::npos ? "" : line.substr(first);
  }
  return fields;
}

/// "12 KiB", "3 MiB" or bytes.
std::uint64_t amount(const std::string& text) {
  std::istringstream words(text);
  std::uint64_t value = 0;
  std::string unit;
  words >> value >> unit;
  return unit == "KiB" || unit == "kB" ? value << 10 : unit == "MiB" ? value << 20 : value;
}

std::uint64_t sum_of(const Fields& fields, const std::string& prefix) {
  std::uint64_t sum = 0;
  for (auto found = fields.lower_bound(prefix);
       found != fields.end() && found->first.compare(0, prefix.size(), prefix) == 0; ++found) {
    sum += amount(found->second);
  }
  return sum;
}

std::string field(const Fields& fields, const std::string& key) {
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second;
}

/// Kernels before 6.5 know drm-memory-<region> alone.
std::uint64_t drm_bytes(const Fields& fields) {
  for (const char* prefix : {"drm-resident-", "drm-memory-", "drm-total-"}) {
    if (const std::uint64_t bytes = sum_of(fields, prefix)) return bytes;
  }
  return 0;
}

void add_descriptors(const std::filesystem::path& folder, DriverMemory* memory) {
  std::set<std::string> clients, buffers;  // several descriptors may be of one
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const Fields fields = fields_of(entry.path());
    if (fields.count("drm-driver") != 0) {
      const std::string client = field(fields, "drm-client-id");
      const bool known =
          !client.empty() && !clients.insert(field(fields, "drm-pdev") + " " + client).second;
      if (!known) memory->drm += Bytes(drm_bytes(fields));
    } else if (fields.count("exp_name") != 0) {
      const std::string inode = field(fields, "ino");
      const bool known = !inode.empty() && !buffers.insert(inode).second;
      if (!known) memory->dma_buf += Bytes(amount(field(fields, "size")));
    }
  }
}

bool is_device_memory(const std::string& path) {
  for (const char* part : {"/dev/kgsl", "/dev/mali", "/dev/pvr", "/dev/dri/", "/dev/nvidia",
                           "/dev/ion", "/dmabuf", "anon_inode:dmabuf", "anon_inode:[mali"}) {
    if (path.find(part) != std::string::npos) return true;
  }
  return false;
}

/// Mappings begin with "from-to rights offset device inode path".
void add_mappings(const std::filesystem::path& maps, DriverMemory* memory) {
  std::ifstream file(maps);
  for (std::string line; std::getline(file, line);) {
    unsigned long long from = 0, to = 0;
    int path_at = 0;
    const int found =
        std::sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %*s %n", &from, &to, &path_at);
    if (found != 2 || path_at == 0 || to < from) continue;
    if (is_device_memory(line.substr(static_cast<std::size_t>(path_at)))) {
      memory->mapped += Bytes(to - from);
    }
  }
}

}  // namespace

DriverMemory read_driver_memory(const std::string& process) {
  DriverMemory memory;
  const std::filesystem::path folder(process);
  add_descriptors(folder / "fdinfo", &memory);
  add_mappings(folder / "maps", &memory);
  return memory;
}

}  // namespace fm
