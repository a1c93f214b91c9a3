#include "sim/memory/request_order.hpp"

#include <algorithm>

#include "sim/memory/block.hpp"

namespace fm {
namespace {

constexpr std::size_t many = 1 << 16;  // requests worth a sort

}  // namespace

RequestOrder::RequestOrder(std::function<void(const LineRequest&)> in_order)
    : in_order_(std::move(in_order)) {}

void RequestOrder::arriving(const LineRequest& request) {
  waiting_.push_back(request);
  // Whatever comes from now on arrives after the present.
  if (waiting_.size() >= many && waiting_.size() % many == 0) settle(Block::now());
}

void RequestOrder::settle(Ticks time) {
  std::sort(waiting_.begin(), waiting_.end(), RequestBefore{});
  const auto end = std::find_if(waiting_.begin(), waiting_.end(), [time](const LineRequest& waits) {
    return time != never && waits.time >= time;
  });
  std::for_each(waiting_.begin(), end, in_order_);
  waiting_.erase(waiting_.begin(), end);
}

}  // namespace fm
