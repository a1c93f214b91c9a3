#include "core/plan_validation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

namespace fm {
namespace {

/// First and last position, in launch order, of the launches that touch a tensor by an argument.
struct Uses {
  std::optional<std::size_t> first, last, first_write;
};

class Validation {
 public:
  Validation(const Plan& plan, const PlanPlaces& places) : plan_(plan), places_(places) {}

  void run() {
    index_items();
    for (std::size_t i = 0; i < plan_.pools.size(); ++i) check_pool(i);
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) check_launch(i);
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) check_tensor(i);
    check_pools_not_shared();
    check_weights();
    check_copies();
  }

 private:
  using Index = std::map<std::string, std::size_t>;
  enum class Item { plan, pool, tensor, weight, launch };

  [[noreturn]] void fail(Item item, std::size_t index, const std::string& message) const {
    static const std::vector<SourceLocation> none;
    const std::vector<SourceLocation>* places = &none;
    std::string name = "plan";
    switch (item) {
      case Item::plan:
        break;
      case Item::pool:
        places = &places_.pools, name = "pool '" + plan_.pools[index].id + "'";
        break;
      case Item::tensor:
        places = &places_.tensors, name = "tensor '" + plan_.tensors[index].id + "'";
        break;
      case Item::weight:
        places = &places_.weights, name = "weight '" + plan_.weights[index].tensor + "'";
        break;
      case Item::launch:
        places = &places_.launches, name = "launch '" + plan_.launches[index].id + "'";
        break;
    }
    const SourceLocation where = index < places->size() ? (*places)[index] : SourceLocation{};
    throw UserError(where, name + ": " + message);
  }

  template <class Items>
  void index_by_id(Item kind, const Items& items, Index& index) const {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].id.empty()) fail(kind, i, "its id is empty");
      if (!index.emplace(items[i].id, i).second) fail(kind, i, "its id is given twice");
    }
  }

  void index_items() {
    index_by_id(Item::pool, plan_.pools, pools_);
    index_by_id(Item::tensor, plan_.tensors, tensors_);
    index_by_id(Item::launch, plan_.launches, launches_);
    for (const PlanModel& model : plan_.models) {
      if (!models_.insert(model.name).second) {
        fail(Item::plan, 0, "two models are named '" + model.name + "'");
      }
    }
    const auto is_real = [](DataType type) {
      return type == DataType::f16 || type == DataType::f32;
    };
    if (!is_real(plan_.storage)) fail(Item::plan, 0, "storage must be f16 or f32");
    if (!is_real(plan_.accumulate)) fail(Item::plan, 0, "accumulate must be f16 or f32");
    if (plan_.enqueue_ahead < 1) fail(Item::plan, 0, "enqueue_ahead must be at least 1");
    uses_.resize(plan_.tensors.size());
  }

  std::size_t known_launch(Item item, std::size_t index, const char* key,
                           const std::string& id) const {
    const auto entry = launches_.find(id);
    if (entry == launches_.end()) {
      fail(item, index, std::string(key) + " names launch '" + id + "', which the plan lacks");
    }
    return entry->second;
  }

  void check_pool(std::size_t i) const {
    const Pool& pool = plan_.pools[i];
    if (pool.placement == Placement::buffer) {
      if (pool.bytes == Bytes(0)) fail(Item::pool, i, "bytes must be above 0");
      return;
    }
    if (pool.placement != Placement::image2d) {
      fail(Item::pool, i, "a pool's placement is buffer or image2d");
    }
    const Bytes bytes = size_of(pool.dtype) * 4 * pool.extent.width * pool.extent.height;
    if (bytes == Bytes(0)) fail(Item::pool, i, "its extent must be above 0");
    if (bytes != pool.bytes) {
      fail(Item::pool, i,
           "bytes are " + std::to_string(pool.bytes.count()) + ", extent and dtype give " +
               std::to_string(bytes.count()));
    }
  }

  void check_launch(std::size_t i) {
    const PlanLaunch& launch = plan_.launches[i];
    if (!launch.model.empty() && models_.count(launch.model) == 0) {
      fail(Item::launch, i, "model '" + launch.model + "' is not among the plan's models");
    }
    for (const std::string& id : launch.depends) {
      if (known_launch(Item::launch, i, "depends", id) >= i) {
        fail(Item::launch, i, "depends on launch '" + id + "', which is not before it");
      }
    }
    if (launch.kind == LaunchKind::copy) return check_copy_launch(i);
    if (launch.kernel.empty()) fail(Item::launch, i, "kernel is empty");
    if (!launch.weight.empty()) fail(Item::launch, i, "only a copy launch has a weight");
    for (std::size_t d = 0; d < 3; ++d) {
      if (launch.local[d] == 0 || launch.global[d] == 0 ||
          launch.global[d] % launch.local[d] != 0) {
        fail(Item::launch, i,
             "global must be a multiple of local, both above 0, in every dimension");
      }
    }
    // Reads first: a launch does not feed itself.
    for (const bool write : {false, true}) {
      for (const LaunchArgument& argument : launch.arguments) note_argument(i, argument, write);
    }
  }

  void note_argument(std::size_t i, const LaunchArgument& argument, bool write) {
    if (const auto* local = std::get_if<LocalArgument>(&argument)) {
      if (local->bytes == Bytes(0)) fail(Item::launch, i, "a local argument needs at least 1 B");
    }
    const auto* used = std::get_if<TensorArgument>(&argument);
    if (used == nullptr || used->write != write) return;
    const auto entry = tensors_.find(used->tensor);
    if (entry == tensors_.end()) {
      fail(Item::launch, i, "argument names tensor '" + used->tensor + "', which the plan lacks");
    }
    const PlanTensor& tensor = plan_.tensors[entry->second];
    Uses& uses = uses_[entry->second];
    const bool given = tensor.role == TensorRole::input || tensor.role == TensorRole::weight;
    if (write && given) {
      fail(Item::launch, i,
           "writes tensor '" + tensor.id + "', whose role is " + to_string(tensor.role));
    }
    if (!write && !given && !uses.first_write) {
      fail(Item::launch, i, "reads tensor '" + tensor.id + "', which no launch before it writes");
    }
    if (!uses.first) uses.first = i;
    if (write && !uses.first_write) uses.first_write = i;
    uses.last = i;
  }

  void check_copy_launch(std::size_t i) const {
    const PlanLaunch& launch = plan_.launches[i];
    if (!launch.kernel.empty()) fail(Item::launch, i, "a copy launch has no kernel");
    const auto entry = tensors_.find(launch.weight);
    if (entry == tensors_.end() || plan_.tensors[entry->second].role != TensorRole::weight) {
      fail(Item::launch, i, "weight '" + launch.weight + "' is not a weight of the plan");
    }
  }

  void check_tensor(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    check_form(i);
    const bool pooled =
        tensor.role != TensorRole::weight &&
        (tensor.placement == Placement::buffer || tensor.placement == Placement::image2d);
    if (pooled) check_place_in_pool(i);
    if (!pooled && !tensor.pool.empty()) {
      fail(Item::tensor, i,
           "only inputs, outputs and activations in buffers or images have a pool");
    }
    check_declared_uses(i);
  }

  void check_form(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    try {
      const Bytes bytes = storage_bytes(tensor.layout, tensor.dtype, tensor.shape);
      if (bytes != tensor.bytes) {
        fail(Item::tensor, i,
             "bytes are " + std::to_string(tensor.bytes.count()) +
                 ", layout, dtype and shape give " + std::to_string(bytes.count()));
      }
    } catch (const std::invalid_argument& error) {
      fail(Item::tensor, i, error.what());
    }
    if (tensor.placement == Placement::image2d && tensor.layout == Layout::linear) {
      fail(Item::tensor, i, "the linear layout cannot be in an image2d");
    }
  }

  void check_place_in_pool(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    const auto entry = pools_.find(tensor.pool);
    if (entry == pools_.end()) {
      fail(Item::tensor, i, "pool '" + tensor.pool + "' is not among the plan's pools");
    }
    const Pool& pool = plan_.pools[entry->second];
    if (pool.placement != tensor.placement) {
      fail(Item::tensor, i,
           "placement is " + to_string(tensor.placement) + ", that of its pool '" + pool.id +
               "' is " + to_string(pool.placement));
    }
    if (pool.placement == Placement::buffer) {
      if (tensor.offset % pool_alignment != Bytes(0)) {
        fail(Item::tensor, i,
             "offset must be a multiple of " + std::to_string(pool_alignment.count()) + " B");
      }
      if (tensor.offset + tensor.bytes > pool.bytes) {
        fail(Item::tensor, i,
             "ends at byte " + std::to_string((tensor.offset + tensor.bytes).count()) +
                 " of pool '" + pool.id + "', which has " + std::to_string(pool.bytes.count()));
      }
      return;
    }
    const GridExtent grid = grid_extent(tensor.layout, tensor.shape);
    if (tensor.offset != Bytes(0)) fail(Item::tensor, i, "in an image2d the offset must be 0");
    if (tensor.dtype != pool.dtype) {
      fail(Item::tensor, i, "dtype differs from that of its pool '" + pool.id + "'");
    }
    if (grid.width > pool.extent.width || grid.height > pool.extent.height) {
      fail(Item::tensor, i,
           "its " + std::to_string(grid.width) + " x " + std::to_string(grid.height) +
               " texels do not fit pool '" + pool.id + "' of " + std::to_string(pool.extent.width) +
               " x " + std::to_string(pool.extent.height));
    }
  }

  void check_declared_uses(std::size_t i) const {
    const PlanTensor& tensor = plan_.tensors[i];
    const Uses& uses = uses_[i];
    if (tensor.first_use.empty() != tensor.last_use.empty()) {
      fail(Item::tensor, i, "first_use and last_use go together");
    }
    if (tensor.first_use.empty()) {
      if (uses.first) {
        fail(Item::tensor, i,
             "first_use is empty, but launch '" + plan_.launches[*uses.first].id + "' touches it");
      }
      return;
    }
    const std::size_t first = known_launch(Item::tensor, i, "first_use", tensor.first_use);
    const std::size_t last = known_launch(Item::tensor, i, "last_use", tensor.last_use);
    if (first > last) fail(Item::tensor, i, "first_use comes after last_use");
    if (uses.first && *uses.first < first) {
      fail(Item::tensor, i,
           "launch '" + plan_.launches[*uses.first].id + "' touches it before first_use '" +
               tensor.first_use + "'");
    }
    if (uses.last && *uses.last > last) {
      fail(Item::tensor, i,
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
      first = static_cast<std::int64_t>(launches_.at(tensor.first_use));
      last = static_cast<std::int64_t>(launches_.at(tensor.last_use));
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
    fail(Item::tensor, b,
         "shares bytes of pool '" + x.pool + "' with tensor '" + x.id + "' while both are alive, " +
             when);
  }

  void check_weights() const {
    std::set<std::string> sliced;
    Bytes free_from = slice_alignment;  // the header's block
    for (std::size_t i = 0; i < plan_.weights.size(); ++i) {
      const WeightSlice& slice = plan_.weights[i];
      const auto entry = tensors_.find(slice.tensor);
      if (entry == tensors_.end() || plan_.tensors[entry->second].role != TensorRole::weight) {
        fail(Item::weight, i, "it is not among the plan's tensors of role weight");
      }
      if (!sliced.insert(slice.tensor).second) fail(Item::weight, i, "it is given twice");
      if (slice.bytes != plan_.tensors[entry->second].bytes) {
        fail(Item::weight, i, "its bytes differ from those of its tensor");
      }
      if (slice.file_offset % slice_alignment != Bytes(0)) {
        fail(Item::weight, i, "file_offset must be a multiple of 4 KiB");
      }
      if (slice.file_offset < free_from) {
        fail(Item::weight, i, "file_offset lies inside the header or the slice before it");
      }
      free_from = slice.file_offset + slice.bytes;
      if (slice.residency == Residency::preload) check_preloaded(i);
      if (slice.residency == Residency::stream) check_streamed(i, entry->second);
    }
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[i];
      if (tensor.role == TensorRole::weight && sliced.count(tensor.id) == 0) {
        fail(Item::tensor, i, "it is a weight without a slice in weights");
      }
    }
  }

  void check_preloaded(std::size_t i) const {
    const WeightSlice& slice = plan_.weights[i];
    if (!slice.transforms.empty() || !slice.earliest_launch.empty() ||
        !slice.release_after.empty()) {
      fail(Item::weight, i,
           "earliest_launch, transforms and release_after belong to streamed weights");
    }
  }

  void check_streamed(std::size_t i, std::size_t tensor_index) const {
    const WeightSlice& slice = plan_.weights[i];
    const Uses& uses = uses_[tensor_index];
    if (slice.release_after.empty()) fail(Item::weight, i, "a streamed weight needs release_after");
    const std::size_t release = known_launch(Item::weight, i, "release_after", slice.release_after);
    if (uses.last && release < *uses.last) {
      fail(Item::weight, i,
           "release_after '" + slice.release_after + "' is before its last use, launch '" +
               plan_.launches[*uses.last].id + "'");
    }
    std::optional<std::size_t> needed = uses.first;
    if (plan_.tensors[tensor_index].placement == Placement::image2d) {
      for (const WeightTransform& transform : slice.transforms) {
        const std::size_t at = check_transform(i, transform, uses, release);
        needed = std::min(needed.value_or(at), at);
      }
      check_chunks_covered(i);
    } else if (!slice.transforms.empty()) {
      fail(Item::weight, i, "only a weight placed in an image2d has transforms");
    }
    if (slice.earliest_launch.empty()) return;
    const std::size_t earliest =
        known_launch(Item::weight, i, "earliest_launch", slice.earliest_launch);
    if (needed && earliest >= *needed) {
      fail(Item::weight, i,
           "earliest_launch '" + slice.earliest_launch + "' is not before launch '" +
               plan_.launches[*needed].id +
               "', which needs its bytes: that launch would wait for itself");
    }
  }

  std::size_t check_transform(std::size_t i, const WeightTransform& transform, const Uses& uses,
                              std::size_t release) const {
    const std::size_t at = known_launch(Item::weight, i, "transforms", transform.launch);
    const PlanLaunch& launch = plan_.launches[at];
    if (launch.kind == LaunchKind::copy && launch.weight != plan_.weights[i].tensor) {
      fail(Item::weight, i, "copy launch '" + launch.id + "' moves another weight");
    }
    if ((uses.first && at >= *uses.first) || at > release) {
      fail(Item::weight, i,
           "launch '" + launch.id + "' transforms a chunk not before its first use");
    }
    return at;
  }

  void check_chunks_covered(std::size_t i) const {
    const WeightSlice& slice = plan_.weights[i];
    if (plan_.chunk_bytes == Bytes(0)) fail(Item::plan, 0, "chunk_bytes must be above 0");
    if (plan_.staging_ring_bytes < std::min(plan_.chunk_bytes, slice.bytes)) {
      fail(Item::plan, 0,
           "staging_ring_bytes cannot hold one chunk of weight '" + slice.tensor + "'");
    }
    const std::uint64_t chunks = ceil_div(slice.bytes.count(), plan_.chunk_bytes.count());
    std::map<std::uint64_t, std::uint64_t> ranges;  // first chunk -> one past the last
    for (const WeightTransform& transform : slice.transforms) {
      if (transform.chunk_count == 0 || transform.chunk_count > chunks ||
          transform.first_chunk > chunks - transform.chunk_count) {
        fail(Item::weight, i, "a transform lies outside its " + std::to_string(chunks) + " chunks");
      }
      const std::uint64_t end = transform.first_chunk + transform.chunk_count;
      if (!ranges.emplace(transform.first_chunk, end).second) {
        fail(Item::weight, i,
             "chunk " + std::to_string(transform.first_chunk) + " is transformed twice");
      }
    }
    std::uint64_t next = 0;
    for (const auto& [first, end] : ranges) {
      if (first < next) {
        fail(Item::weight, i, "chunk " + std::to_string(first) + " is transformed twice");
      }
      if (first > next) break;
      next = end;
    }
    if (next < chunks) {
      fail(Item::weight, i,
           "chunk " + std::to_string(next) + " of " + std::to_string(chunks) +
               " is never transformed");
    }
  }

  /// A copy launch is some transform of its weight, or it would move nothing.
  void check_copies() const {
    std::set<std::string> transforming;
    for (const WeightSlice& slice : plan_.weights) {
      for (const WeightTransform& transform : slice.transforms)
        transforming.insert(transform.launch);
    }
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const PlanLaunch& launch = plan_.launches[i];
      if (launch.kind == LaunchKind::copy && transforming.count(launch.id) == 0) {
        fail(Item::launch, i, "no transform of weight '" + launch.weight + "' names this copy");
      }
    }
  }

  const Plan& plan_;
  const PlanPlaces& places_;
  Index pools_, tensors_, launches_;
  std::set<std::string> models_;
  std::vector<Uses> uses_;
};

}  // namespace

void validate(const Plan& plan, const PlanPlaces& places) { Validation(plan, places).run(); }

void validate(const Plan& plan) { validate(plan, PlanPlaces{}); }

}  // namespace fm
