#pragma once
// Compiled kernels: kept in memory for the run and as binaries on disk between runs.

#include <map>
#include <string>
#include <vector>

#include "executor/opencl_objects.hpp"

namespace fm {

/// $XDG_CACHE_HOME/flashmem, else $HOME/.cache/flashmem, else "" (no caching on disk).
std::string default_cache_folder();

/// A kernel that the compiler refused as planned, and built from the same source with plainer
/// options: what it computes is the same but for roundings.
struct BuildFallback {
  std::string kernel;
  std::string options;  ///< built with these
  std::string refused;  ///< what the compiler said of the planned ones
};
/// With the compiler's log.
std::string describe(const BuildFallback& fallback);

/// Binaries are keyed by source, options, device, driver and platform, and checksummed. One that is
/// damaged or that the driver refuses is deleted and built again. Not thread-safe.
class ProgramCache {
 public:
  /// `folder` "": in memory only. Known faults of the driver may forbid binaries or optimisation.
  explicit ProgramCache(const OpenClContext& context, std::string folder = default_cache_folder());

  /// The kernel function `name` of `source` built with `options`: the same object for the same
  /// three. Options that the compiler refuses, when it builds or when the kernel is created, are
  /// tried without the -cl- ones, then with -cl-opt-disable. Throws DeviceError naming the kernel,
  /// with the compiler's log.
  const OpenClKernel& kernel(const std::string& name, const std::string& source,
                             const std::string& options);

  std::size_t built_from_source() const { return built_from_source_; }
  const std::vector<BuildFallback>& fallbacks() const { return fallbacks_; }
  std::size_t loaded_from_disk() const { return loaded_from_disk_; }
  /// Programs in memory.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    OpenClProgram program;
    OpenClKernel kernel;
  };
  Entry make(const std::string& name, const std::string& source, const std::string& options);
  /// Throws ProgramBuildError when the compiler refuses it.
  Entry load_or_build(const std::string& name, const std::string& source,
                      const std::string& options);
  bool load(const std::string& path, const std::string& name, Entry* entry);
  void save(const std::string& path, const OpenClProgram& program) const;

  const OpenClContext& context_;
  std::string folder_;
  const bool optimises_;
  std::map<std::string, Entry> entries_;  // by key digest
  std::vector<BuildFallback> fallbacks_;
  std::size_t built_from_source_ = 0;
  std::size_t loaded_from_disk_ = 0;
};

}  // namespace fm
