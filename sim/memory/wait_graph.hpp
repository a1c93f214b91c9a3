#pragma once
// Who waits for whom: what a simulation that cannot go on says about itself.

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/memory/line_request.hpp"

namespace fm {

/// One block that has work it cannot finish.
struct Wait {
  std::string block;  ///< "core 3 texture unit"
  std::string state;  ///< "4 fetches at the L2, blocked for a victim"
  /// Blocks it waits for: a name, or the first words of several ("l2": every slice). Empty: it
  /// waits for itself or for nothing, so the fault is its own.
  std::vector<std::string> waits_for;
  std::optional<LineRequest> oldest;  ///< of the requests it holds, the one that came first
};

/// "read of 64 B at 0x1f40 for texture, since 12345 ps".
std::string describe(const LineRequest& request);

/// The waits from the first block on until a block that waits for none of the others, or the cycle
/// they form; the oldest request; then every wait, one a line.
std::string wait_report(const std::vector<Wait>& waits);

/// The simulation stopped, or went on without getting anywhere, with work left: our own fault.
class DeadlockError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace fm
