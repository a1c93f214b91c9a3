#include "executor/probe/ring.hpp"

#include <numeric>
#include <random>
#include <utility>

namespace fm {
namespace {

constexpr std::size_t lanes = 4;

/// Fisher and Yates, written out: std::shuffle differs from library to library.
void shuffle(std::vector<std::int64_t>* values) {
  std::mt19937 random(20260101);
  for (std::size_t i = values->size(); i > 1; --i) {
    std::swap((*values)[i - 1], (*values)[random() % i]);
  }
}

}  // namespace

std::vector<float> chase_ring(std::int64_t elements, std::int64_t stride, RingOrder order) {
  std::vector<float> ring(static_cast<std::size_t>(elements) * lanes);
  if (order == RingOrder::sequential) {
    for (std::int64_t i = 0; i < elements; ++i) {
      ring[static_cast<std::size_t>(i) * lanes] = static_cast<float>((i + stride) % elements);
    }
    return ring;
  }
  std::vector<std::int64_t> visited(static_cast<std::size_t>((elements - 1) / stride));
  std::iota(visited.begin(), visited.end(), 1);
  shuffle(&visited);
  std::int64_t at = 0;
  for (const std::int64_t next : visited) {
    ring[static_cast<std::size_t>(at) * lanes] = static_cast<float>(next * stride);
    at = next * stride;
  }
  return ring;  // the last one leads to 0
}

std::vector<float> block_ring(std::int64_t size, std::int64_t across, std::int64_t down) {
  std::vector<std::pair<std::int64_t, std::int64_t>> path;
  for (std::int64_t top = 0; top < size; top += down) {
    for (std::int64_t left = 0; left < size; left += across) {
      for (std::int64_t y = top; y < top + down; ++y) {
        for (std::int64_t x = left; x < left + across; ++x) path.emplace_back(x, y);
      }
    }
  }
  std::vector<float> ring(path.size() * lanes);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto [x, y] = path[(i + 1) % path.size()];
    const auto at = static_cast<std::size_t>(path[i].second * size + path[i].first) * lanes;
    ring[at] = static_cast<float>(x);
    ring[at + 1] = static_cast<float>(y);
  }
  return ring;
}

}  // namespace fm
