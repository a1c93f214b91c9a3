#include <algorithm>
#include <stdexcept>

#include "core/plan_index.hpp"

namespace fm {
namespace {

class TensorValidation {
 public:
  TensorValidation(const PlanIndex& index, const std::vector<TensorUses>& uses)
      : index_(index), plan_(index.plan()), uses_(uses) {}

  void run() const {
    for (std::size_t i = 0; i < plan_.pools.size(); ++i) check_pool(i);
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) check_tensor(i);
    check_pools_not_shared();
  }

 private:
  void check_pool(std::size_t i) const {
    const Pool& pool = plan_.pools[i];
    if (pool.placement == Placement::buffer) {
      if (pool.bytes == Bytes(0)) index_.fail(PlanItem::pool, i, "bytes must be above 0");
      return;
    }
    if (pool.placement != Placement::image2d) {
      index_.fail(PlanItem::pool, i, "a pool's placement is buffer or image2d");
    }
    const Bytes bytes = size_of(pool.dtype) * 4 * pool.extent.width * pool.extent.height;
    if (bytes == Bytes(0)) index_.fail(PlanItem::pool, i, "its extent must be above 0");
    if (bytes != pool.bytes) {
      index_.fail(PlanItem::pool, i,
                  "bytes are " + std::to_string(pool.bytes.count()) + ", extent and dtype give " +
                      std::to_string(bytes.count()));
    }
  }

  void check_tensor(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    check_form(i);
    const bool pooled =
        tensor.role != TensorRole::weight && tensor.role != TensorRole::gathered &&
        (tensor.placement == Placement::buffer || tensor.placement == Placement::image2d);
    if (pooled) check_place_in_pool(i);
    if (!pooled && !tensor.pool.empty()) {
      index_.fail(PlanItem::tensor, i,
                  "only inputs, outputs and activations in buffers or images have a pool");
    }
    check_declared_uses(i);
  }

  void check_form(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    try {
      const Bytes bytes = storage_bytes(tensor.layout, tensor.dtype, tensor.shape);
      if (bytes != tensor.bytes) {
        index_.fail(PlanItem::tensor, i,
                    "bytes are " + std::to_string(tensor.bytes.count()) +
                        ", layout, dtype and shape give " + std::to_string(bytes.count()));
      }
    } catch (const std::invalid_argument& error) {
      index_.fail(PlanItem::tensor, i, error.what());
    }
    if (tensor.placement == Placement::image2d && tensor.layout == Layout::linear) {
      index_.fail(PlanItem::tensor, i, "the linear layout cannot be in an image2d");
    }
  }

  void check_place_in_pool(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    const std::optional<std::size_t> position = index_.find_pool(tensor.pool);
    if (!position) {
      index_.fail(PlanItem::tensor, i, "pool '" + tensor.pool + "' is not among the plan's pools");
    }
    const Pool& pool = plan_.pools[*position];
    if (pool.placement != tensor.placement) {
      index_.fail(PlanItem::tensor, i,
                  "placement is " + to_string(tensor.placement) + ", that of its pool '" + pool.id +
                      "' is " + to_string(pool.placement));
    }
    if (pool.placement == Placement::buffer) {
      if (tensor.offset % pool_alignment != Bytes(0)) {
        index_.fail(
            PlanItem::tensor, i,
            "offset must be a multiple of " + std::to_string(pool_alignment.count()) + " B");
      }
      if (tensor.offset + tensor.bytes > pool.bytes) {
        index_.fail(PlanItem::tensor, i,
                    "ends at byte " + std::to_string((tensor.offset + tensor.bytes).count()) +
                        " of pool '" + pool.id + "', which has " +
                        std::to_string(pool.bytes.count()));
      }
      return;
    }
    const GridExtent grid = grid_extent(tensor.layout, tensor.shape);
    if (tensor.offset != Bytes(0))
      index_.fail(PlanItem::tensor, i, "in an image2d the offset must be 0");
    if (tensor.dtype != pool.dtype) {
      index_.fail(PlanItem::tensor, i, "dtype differs from that of its pool '" + pool.id + "'");
    }
    if (grid.width > pool.extent.width || grid.height > pool.extent.height) {
      index_.fail(PlanItem::tensor, i,
                  "its " + std::to_string(grid.width) + " x " + std::to_string(grid.height) +
                      " texels do not fit pool '" + pool.id + "' of " +
                      std::to_string(pool.extent.width) + " x " +
                      std::to_string(pool.extent.height));
    }
  }

  void check_declared_uses(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    const TensorUses& uses = uses_[i];
    if (tensor.first_use.empty() != tensor.last_use.empty()) {
      index_.fail(PlanItem::tensor, i, "first_use and last_use go together");
    }
    if (tensor.first_use.empty()) {
      if (uses.first) {
        index_.fail(
            PlanItem::tensor, i,
            "first_use is empty, but launch '" + plan_.launches[*uses.first].id + "' touches it");
      }
      return;
    }
    const std::size_t first =
        index_.known_launch(PlanItem::tensor, i, "first_use", tensor.first_use);
    const std::size_t last = index_.known_launch(PlanItem::tensor, i, "last_use", tensor.last_use);
    if (first > last) index_.fail(PlanItem::tensor, i, "first_use comes after last_use");
    if (uses.first && *uses.first < first) {
      index_.fail(PlanItem::tensor, i,
                  "launch '" + plan_.launches[*uses.first].id + "' touches it before first_use '" +
                      tensor.first_use + "'");
    }
    if (uses.last && *uses.last > last) {
      index_.fail(PlanItem::tensor, i,
                  "launch '" + plan_.launches[*uses.last].id + "' touches it after last_use '" +
                      tensor.last_use + "'");
    }
  }

  /// Launch positions during which a pooled tensor's bytes are its own: inputs are there from the
  /// start, outputs stay.
  std::pair<std::int64_t, std::int64_t> alive(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    const auto end = static_cast<std::int64_t>(plan_.launches.size());
    std::int64_t first = -1, last = -1;
    if (!tensor.first_use.empty()) {
      first = static_cast<std::int64_t>(index_.launch(tensor.first_use));
      last = static_cast<std::int64_t>(index_.launch(tensor.last_use));
    }
    if (tensor.role == TensorRole::input) first = -1;
    if (tensor.role == TensorRole::output) last = end;
    return {first, last};
  }

  void check_pools_not_shared() const {
    std::map<std::string, std::vector<std::size_t>> by_pool;
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[i];
      const bool idle = tensor.role == TensorRole::activation && tensor.first_use.empty();
      if (!tensor.pool.empty() && !idle) by_pool[tensor.pool].push_back(i);
    }
    for (const auto& [pool, members] : by_pool) {
      for (std::size_t a = 0; a < members.size(); ++a) {
        for (std::size_t b = a + 1; b < members.size(); ++b) check_apart(members[a], members[b]);
      }
    }
  }

  void check_apart(std::size_t a, std::size_t b) const {
    const PlanTensor& x = plan_.tensors[a];
    const PlanTensor& y = plan_.tensors[b];
    const bool in_buffer = x.placement == Placement::buffer;
    if (in_buffer && (x.offset + x.bytes <= y.offset || y.offset + y.bytes <= x.offset)) return;
    const auto [x_first, x_last] = alive(a);
    const auto [y_first, y_last] = alive(b);
    if (x_last < y_first || y_last < x_first) return;
    const std::int64_t both = std::max(x_first, y_first);
    const std::string when =
        both < 0 ? "before the first launch"
        : both >= static_cast<std::int64_t>(plan_.launches.size())
            ? "after the last launch"
            : "during launch '" + plan_.launches[static_cast<std::size_t>(both)].id + "'";
    index_.fail(PlanItem::tensor, b,
                "shares bytes of pool '" + x.pool + "' with tensor '" + x.id +
                    "' while both are alive, " + when);
  }

  const PlanIndex& index_;
  const Plan& plan_;
  const std::vector<TensorUses>& uses_;
};

}  // namespace

void validate_tensors_of(const PlanIndex& index, const std::vector<TensorUses>& uses) {
  TensorValidation(index, uses).run();
}

}  // namespace fm
