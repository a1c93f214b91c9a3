#include <algorithm>

#include "core/plan_index.hpp"
#include "core/plan_streams.hpp"

namespace fm {
namespace {

class WeightValidation {
 public:
  WeightValidation(const PlanIndex& index, const std::vector<TensorUses>& uses)
      : index_(index), plan_(index.plan()), uses_(uses) {}

  void run() const {
    check_weights();
    check_copies();
    check_streams();
  }

 private:
  void check_weights() const {
    std::set<std::string> sliced;
    std::map<Bytes, std::size_t> stored;  // by offset
    Bytes free_from = slice_alignment;    // the header's block
    for (std::size_t i = 0; i < plan_.weights.size(); ++i) {
      const WeightSlice& slice = plan_.weights[i];
      const std::optional<std::size_t> position = index_.find_tensor(slice.tensor);
      if (!position || plan_.tensors[*position].role != TensorRole::weight) {
        index_.fail(PlanItem::weight, i, "it is not among the plan's tensors of role weight");
      }
      if (!sliced.insert(slice.tensor).second)
        index_.fail(PlanItem::weight, i, "it is given twice");
      if (slice.bytes != plan_.tensors[*position].bytes) {
        index_.fail(PlanItem::weight, i, "its bytes differ from those of its tensor");
      }
      if (slice.file_offset % slice_alignment != Bytes(0)) {
        index_.fail(PlanItem::weight, i, "file_offset must be a multiple of 4 KiB");
      }
      const auto [place, alone] = stored.emplace(slice.file_offset, i);
      if (!alone) {
        check_shared_slice(i, place->second);
      } else if (slice.file_offset < free_from) {
        index_.fail(PlanItem::weight, i,
                    "file_offset lies inside the header or the slice before it");
      } else {
        free_from = slice.file_offset + slice.bytes;
      }
      if (slice.residency != Residency::stream) check_not_streamed(i);
      if (slice.residency == Residency::stream) check_streamed(i, *position);
    }
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[i];
      if (tensor.role == TensorRole::weight && sliced.count(tensor.id) == 0) {
        index_.fail(PlanItem::tensor, i, "it is a weight without a slice in weights");
      }
    }
  }

  /// Contents that are stored once for several weights have one form.
  void check_shared_slice(std::size_t i, std::size_t other) const {
    const PlanTensor& tensor = plan_.tensor(plan_.weights[i].tensor);
    const PlanTensor& first = plan_.tensor(plan_.weights[other].tensor);
    if (tensor.layout == first.layout && tensor.dtype == first.dtype &&
        tensor.shape == first.shape) {
      return;
    }
    index_.fail(PlanItem::weight, i,
                "has the file_offset of weight '" + first.id +
                    "', which has another layout, dtype or shape");
  }

  void check_not_streamed(std::size_t i) const {
    const WeightSlice& slice = plan_.weights[i];
    if (!slice.transforms.empty() || !slice.earliest_launch.empty() || !slice.reuses.empty()) {
      index_.fail(PlanItem::weight, i,
                  "earliest_launch, transforms and reuses belong to streamed weights");
    }
    const std::optional<std::size_t> tensor = index_.find_tensor(slice.tensor);
    if (!slice.release_after.empty()) {
      if (slice.residency == Residency::disk) {
        index_.fail(PlanItem::weight, i, "its residency is disk: there is no memory to release");
      }
      released(i, uses_[*tensor]);
    }
    if (slice.residency == Residency::disk && uses_[*tensor].first) {
      index_.fail(PlanItem::weight, i,
                  "its residency is disk, but launch '" + plan_.launches[*uses_[*tensor].first].id +
                      "' uses it");
    }
  }

  /// The position of release_after.
  std::size_t released(std::size_t i, const TensorUses& uses) const {
    const WeightSlice& slice = plan_.weights[i];
    const std::size_t release =
        index_.known_launch(PlanItem::weight, i, "release_after", slice.release_after);
    if (uses.last && release < *uses.last) {
      index_.fail(PlanItem::weight, i,
                  "release_after '" + slice.release_after + "' is before its last use, launch '" +
                      plan_.launches[*uses.last].id + "'");
    }
    return release;
  }

  void check_streamed(std::size_t i, std::size_t tensor_index) const {
    const WeightSlice& slice = plan_.weights[i];
    const TensorUses& uses = uses_[tensor_index];
    if (slice.release_after.empty())
      index_.fail(PlanItem::weight, i, "a streamed weight needs release_after");
    const std::size_t release = released(i, uses);
    std::optional<std::size_t> needed = uses.first;
    if (plan_.tensors[tensor_index].placement == Placement::image2d) {
      for (const WeightTransform& transform : slice.transforms) {
        const std::size_t at = check_transform(i, transform, uses, release);
        needed = std::min(needed.value_or(at), at);
      }
      check_chunks_covered(i);
    } else if (!slice.transforms.empty()) {
      index_.fail(PlanItem::weight, i, "only a weight placed in an image2d has transforms");
    }
    if (!slice.earliest_launch.empty()) check_earliest(i, needed);
    if (!slice.reuses.empty()) check_reuse(i);
  }

  void check_earliest(std::size_t i, std::optional<std::size_t> needed) const {
    const WeightSlice& slice = plan_.weights[i];
    const std::size_t earliest =
        index_.known_launch(PlanItem::weight, i, "earliest_launch", slice.earliest_launch);
    if (needed && earliest > *needed) {
      index_.fail(PlanItem::weight, i,
                  "earliest_launch '" + slice.earliest_launch + "' is after launch '" +
                      plan_.launches[*needed].id +
                      "', which needs its bytes: that launch would wait for itself");
    }
  }

  static bool same_memory(const PlanTensor& a, const PlanTensor& b) {
    if (a.placement != b.placement) return false;
    if (a.placement == Placement::buffer) return a.bytes == b.bytes;
    return a.dtype == b.dtype && grid_extent(a.layout, a.shape) == grid_extent(b.layout, b.shape);
  }

  void check_reuse(std::size_t i) const {
    const WeightSlice& slice = plan_.weights[i];
    const auto other =
        std::find_if(plan_.weights.begin(), plan_.weights.end(),
                     [&](const WeightSlice& weight) { return weight.tensor == slice.reuses; });
    const auto fail = [&](const std::string& why) {
      index_.fail(PlanItem::weight, i, "it reuses the memory of '" + slice.reuses + "', " + why);
    };
    if (other == plan_.weights.end() || other->release_after.empty()) {
      fail("which is no weight that is released");
    }
    if (!same_memory(plan_.tensor(slice.reuses), plan_.tensor(slice.tensor))) {
      fail("which is of another extent or type");
    }
    const bool image = plan_.tensor(slice.tensor).placement == Placement::image2d;
    std::vector<std::string> fillers;
    for (const WeightTransform& transform : slice.transforms) fillers.push_back(transform.launch);
    if (!image) fillers.push_back(slice.earliest_launch);
    const std::size_t released =
        index_.known_launch(PlanItem::weight, i, "release_after", other->release_after);
    for (const std::string& filler : fillers) {
      if (!filler.empty() &&
          index_.known_launch(PlanItem::weight, i, "transforms", filler) > released) {
        continue;
      }
      fail((filler.empty() ? "but may be read at once," : "but launch '" + filler + "' fills it") +
           " before launch '" + other->release_after + "', the other's release_after, has ended");
    }
    const auto takers =
        std::count_if(plan_.weights.begin(), plan_.weights.end(),
                      [&](const WeightSlice& weight) { return weight.reuses == slice.reuses; });
    if (takers > 1) fail("which another weight takes over too");
  }

  std::size_t check_transform(std::size_t i, const WeightTransform& transform,
                              const TensorUses& uses, std::size_t release) const {
    const std::size_t at = index_.known_launch(PlanItem::weight, i, "transforms", transform.launch);
    const PlanLaunch& launch = plan_.launches[at];
    if (launch.kind == LaunchKind::copy && launch.weight != plan_.weights[i].tensor) {
      index_.fail(PlanItem::weight, i, "copy launch '" + launch.id + "' moves another weight");
    }
    if ((uses.first && at >= *uses.first) || at > release) {
      index_.fail(PlanItem::weight, i,
                  "launch '" + launch.id + "' transforms a chunk not before its first use");
    }
    if (launch.kind == LaunchKind::kernel) check_streamed_inside(i, launch);
    return at;
  }

  void check_streamed_inside(std::size_t i, const PlanLaunch& launch) const {
    if (stream_slots(launch) == 0) {
      index_.fail(PlanItem::weight, i,
                  "chunks are transformed inside launch '" + launch.id +
                      "', whose kernel streams none: it needs parameter STREAMS, or the weight a "
                      "copy launch");
    }
    if (plan_.tensor(plan_.weights[i].tensor).dtype != plan_.storage) {
      index_.fail(PlanItem::weight, i,
                  "only weights of the plan's storage type, " + to_string(plan_.storage) +
                      ", can be transformed inside a kernel launch");
    }
  }

  void check_chunks_covered(std::size_t i) const {
    const WeightSlice& slice = plan_.weights[i];
    if (plan_.chunk_bytes == Bytes(0))
      index_.fail(PlanItem::plan, 0, "chunk_bytes must be above 0");
    if (plan_.staging_ring_bytes < std::min(plan_.chunk_bytes, slice.bytes)) {
      index_.fail(PlanItem::plan, 0,
                  "staging_ring_bytes cannot hold one chunk of weight '" + slice.tensor + "'");
    }
    const std::uint64_t chunks = ceil_div(slice.bytes.count(), plan_.chunk_bytes.count());
    std::map<std::uint64_t, std::uint64_t> ranges;  // first chunk -> one past the last
    for (const WeightTransform& transform : slice.transforms) {
      if (transform.chunk_count == 0 || transform.chunk_count > chunks ||
          transform.first_chunk > chunks - transform.chunk_count) {
        index_.fail(PlanItem::weight, i,
                    "a transform lies outside its " + std::to_string(chunks) + " chunks");
      }
      const std::uint64_t end = transform.first_chunk + transform.chunk_count;
      if (!ranges.emplace(transform.first_chunk, end).second) {
        index_.fail(PlanItem::weight, i,
                    "chunk " + std::to_string(transform.first_chunk) + " is transformed twice");
      }
    }
    std::uint64_t next = 0;
    for (const auto& [first, end] : ranges) {
      if (first < next) {
        index_.fail(PlanItem::weight, i,
                    "chunk " + std::to_string(first) + " is transformed twice");
      }
      if (first > next) break;
      next = end;
    }
    if (next < chunks) {
      index_.fail(PlanItem::weight, i,
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
        index_.fail(PlanItem::launch, i,
                    "no transform of weight '" + launch.weight + "' names this copy");
      }
    }
  }

  /// What a launch streams has a slot each, and all of it fits into the ring at once.
  void check_streams() const {
    struct Streamed {
      int count = 0;
      Bytes bytes;
    };
    std::map<std::string, Streamed> streamed;  // by launch
    for (const WeightSlice& slice : plan_.weights) {
      for (const WeightTransform& transform : slice.transforms) {
        Streamed& launch = streamed[transform.launch];
        ++launch.count;
        launch.bytes += std::min(plan_.chunk_bytes * transform.chunk_count, slice.bytes);
      }
    }
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const PlanLaunch& launch = plan_.launches[i];
      const int slots = stream_slots(launch);
      if (launch.kind != LaunchKind::kernel || slots == 0) continue;
      const auto found = streamed.find(launch.id);
      if (found == streamed.end()) {
        index_.fail(PlanItem::launch, i,
                    "it has parameter STREAMS, but no weight's transforms name it");
      }
      if (found->second.count > slots) {
        index_.fail(PlanItem::launch, i,
                    std::to_string(found->second.count) + " transforms name it, but STREAMS is " +
                        std::to_string(slots));
      }
      if (found->second.bytes > plan_.staging_ring_bytes) {
        index_.fail(PlanItem::launch, i,
                    "it streams " + std::to_string(found->second.bytes.count()) +
                        " bytes at once, more than staging_ring_bytes");
      }
    }
  }

  const PlanIndex& index_;
  const Plan& plan_;
  const std::vector<TensorUses>& uses_;
};

}  // namespace

void validate_weights_of(const PlanIndex& index, const std::vector<TensorUses>& uses) {
  WeightValidation(index, uses).run();
}

}  // namespace fm
