#pragma once
// Where requests between levels can be watched.

#include <string>
#include <vector>

namespace fm {

enum class RequestPort {
  core_cluster,  ///< what arrives at the cluster caches, where the device has them
  core_l2,       ///< what arrives at the L2: from cores (or clusters), copies, page walks
  l2_slc,        ///< what the L2 sends to the system-level cache
  slc_dram       ///< what the system-level cache sends to DRAM, of all clients
};

/// "core-cluster", "core-l2", "l2-slc", "slc-dram". Throws UserError naming them; `option`: whose
/// value it is.
RequestPort parse_request_port(const std::string& option, const std::string& word);

}  // namespace fm
