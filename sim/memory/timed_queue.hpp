#pragma once
// A queue in order of time whose items arrive almost in order.

#include <cstddef>
#include <utility>
#include <vector>

namespace fm {

/// Ring buffer sorted by `Less`. push() moves an item forward past the few that come after it;
/// equal items keep their order of arrival, so `Less` must decide every tie that a result could
/// show. Grows; bounded by the senders' credits.
template <class Item, class Less>
class TimedQueue {
 public:
  TimedQueue() : items_(16) {}
  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  const Item& front() const { return items_[head_ & (items_.size() - 1)]; }
  /// The `place`-th from the front; < size().
  const Item& at(std::size_t place) const { return items_[(head_ + place) & (items_.size() - 1)]; }
  void pop() { ++head_; }
  void push(const Item& item) {
    if (size() == items_.size()) grow();
    const std::size_t mask = items_.size() - 1;
    std::size_t place = tail_++;
    while (place != head_ && less_(item, items_[(place - 1) & mask])) {
      items_[place & mask] = items_[(place - 1) & mask];
      --place;
    }
    items_[place & mask] = item;
  }

 private:
  void grow() {
    std::vector<Item> larger(items_.size() * 2);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = items_[(head_ + i) & (items_.size() - 1)];
    items_ = std::move(larger);
    head_ = 0;
    tail_ = count;
  }
  std::vector<Item> items_;
  std::size_t head_ = 0, tail_ = 0;
  Less less_;
};

}  // namespace fm
