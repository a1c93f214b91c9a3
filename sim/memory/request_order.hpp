#pragma once
// Watched requests, put in order of time.

#include <functional>
#include <vector>

#include "sim/memory/memory_level.hpp"

namespace fm {

/// A level learns of requests before they arrive, each source's in order and within a window of
/// simulation time. This hands them on in the order of arrival: by time, source, sequence.
class RequestOrder : public RequestTap {
 public:
  explicit RequestOrder(std::function<void(const LineRequest&)> in_order);
  void arriving(const LineRequest& request) override;
  /// Those that arrive before `time`. No request that arrives before it may come later.
  void settle(Ticks time);
  /// All; at the end of a run.
  void finish() { settle(never); }

 private:
  std::function<void(const LineRequest&)> in_order_;
  std::vector<LineRequest> waiting_;
};

}  // namespace fm
