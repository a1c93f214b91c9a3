#include "planner/streaming.hpp"

#include <algorithm>
#include <map>

#include "core/diagnostics.hpp"
#include "core/weights_file.hpp"
#include "planner/activation_memory.hpp"
#include "planner/weight_stay.hpp"

namespace fm {
namespace {

/// Streamed weights by the launch that uses them first.
using WeightsByLaunch = std::map<std::string, std::vector<WeightSlice*>>;

WeightsByLaunch choose_streamed(Plan* plan) {
  WeightsByLaunch by_launch;
  for (WeightSlice& slice : plan->weights) {
    const PlanTensor& tensor = plan->tensor(slice.tensor);
    if (slice.bytes < smallest_streamed || slice.residency == Residency::disk) continue;
    slice.residency = Residency::stream;
    slice.release_after = tensor.last_use;
    by_launch[tensor.first_use].push_back(&slice);
  }
  return by_launch;
}

void set_earliest(StreamingPolicy policy, const WeightsByLaunch& by_launch, const Plan& plan) {
  std::map<std::string, std::string> previous;  // operation ("" for any) -> launch
  for (const PlanLaunch& launch : plan.launches) {
    const auto found = by_launch.find(launch.id);
    if (found == by_launch.end()) continue;
    const std::string key =
        policy == StreamingPolicy::same_op_type ? launch.operation : std::string();
    for (WeightSlice* slice : found->second) slice->earliest_launch = previous[key];
    previous[key] = launch.id;
  }
}

void insert_copies(const WeightsByLaunch& by_launch, Plan* plan) {
  std::vector<PlanLaunch> launches;
  std::size_t copies = 0;
  for (PlanLaunch& launch : plan->launches) {
    if (const auto found = by_launch.find(launch.id); found != by_launch.end()) {
      for (WeightSlice* slice : found->second) {
        if (plan->tensor(slice->tensor).placement != Placement::image2d) continue;
        PlanLaunch copy;
        copy.id = "C" + std::to_string(copies++);
        copy.kind = LaunchKind::copy;
        copy.operation = "Copy";
        copy.weight = slice->tensor;
        copy.model = plan->tensor(slice->tensor).model;
        const std::uint64_t chunks = ceil_div(slice->bytes.count(), plan->chunk_bytes.count());
        slice->transforms = {{copy.id, 0, chunks}};
        launches.push_back(std::move(copy));
      }
    }
    launches.push_back(std::move(launch));
  }
  plan->launches = std::move(launches);
}

/// Bytes in the ring during each launch.
std::vector<Bytes> ring_use(const Plan& plan) {
  std::vector<Bytes> use(plan.launches.size());
  const auto positions = launch_positions(plan);
  for (const WeightSlice& slice : plan.weights) {
    if (slice.transforms.empty()) continue;
    const WeightStay stay = stay_of(plan, slice, positions);
    for (const StagedPart& part : stay.parts) {
      for (std::size_t i = stay.read; i <= part.moved; ++i)
        use[i] += round_up(part.bytes, slice_alignment);
    }
  }
  return use;
}

/// Preloaded weights that are released are in flight until then.
void claim_until_released(const std::map<std::string, std::size_t>& positions, Plan* plan) {
  for (const WeightSlice& slice : plan->weights) {
    if (slice.residency != Residency::preload || stays(slice)) continue;
    const bool image = plan->tensor(slice.tensor).placement == Placement::image2d;
    for (std::size_t i = 0; i <= positions.at(slice.release_after); ++i) {
      MemoryClaims& claims = plan->launches[i].claims;
      (image ? claims.tm_in_flight : claims.um_in_flight) += slice.bytes;
    }
  }
}

}  // namespace

StreamingPolicy streaming_policy_from(const std::string& word) {
  if (word == "preload") return StreamingPolicy::preload;
  if (word == "always-next") return StreamingPolicy::always_next;
  if (word == "same-op-type") return StreamingPolicy::same_op_type;
  throw UserError(
      "--policy `" + word + "`: " +
      accepted_words(word, {"preload", "always-next", "same-op-type", "lc-opg", "optimal"}));
}

std::string to_string(StreamingPolicy policy) {
  switch (policy) {
    case StreamingPolicy::preload:
      return "preload";
    case StreamingPolicy::always_next:
      return "always-next";
    case StreamingPolicy::same_op_type:
      return "same-op-type";
  }
  return "unknown";
}

void list_weights(Plan* plan, const std::map<std::string, std::string>& stored_as) {
  plan->weights.clear();
  std::map<std::string, std::size_t> positions = launch_positions(*plan);
  positions[""] = 0;  // an embedding's table that no launch uses: its rows are needed first
  std::vector<const PlanTensor*> weights;
  for (const PlanTensor& tensor : plan->tensors) {
    if (tensor.role == TensorRole::weight) weights.push_back(&tensor);
  }
  std::stable_sort(weights.begin(), weights.end(), [&](const PlanTensor* a, const PlanTensor* b) {
    return positions.at(a->first_use) < positions.at(b->first_use);
  });
  for (const PlanTensor* tensor : weights) {
    WeightSlice slice;
    slice.tensor = tensor->id;
    slice.bytes = tensor->bytes;
    if (tensor->first_use.empty()) slice.residency = Residency::disk;
    plan->weights.push_back(std::move(slice));
  }
  Bytes offset = first_slice_offset(expected_index(*plan).entries);
  std::map<std::string, Bytes> places;
  for (WeightSlice& slice : plan->weights) {
    if (const auto other = stored_as.find(slice.tensor); other != stored_as.end()) {
      slice.file_offset = places.at(other->second);
      continue;
    }
    places[slice.tensor] = slice.file_offset = offset;
    offset = round_up(offset + slice.bytes, slice_alignment);
  }
  plan->weights_index_digest = index_digest(expected_index(*plan));
}

void apply_policy(StreamingPolicy policy, std::optional<Bytes> ring, Plan* plan) {
  plan->policy = to_string(policy);
  if (policy == StreamingPolicy::preload) return;
  const WeightsByLaunch by_launch = choose_streamed(plan);
  set_earliest(policy, by_launch, *plan);
  insert_copies(by_launch, plan);
  size_ring(ring, plan);
}

void size_ring(std::optional<Bytes> ring, Plan* plan) {
  Bytes needed, smallest;
  for (Bytes use : ring_use(*plan)) needed = std::max(needed, use);
  for (const WeightSlice& slice : plan->weights) {
    if (!slice.transforms.empty())
      smallest = std::max(smallest, std::min(slice.bytes, plan->chunk_bytes));
  }
  if (ring && needed != Bytes(0) && *ring < smallest) {
    throw UserError("--ring " + std::to_string(ring->count()) +
                    ": the staging ring must hold one chunk, " + std::to_string(smallest.count()) +
                    " bytes");
  }
  plan->staging_ring_bytes = needed == Bytes(0) ? Bytes(0) : ring.value_or(needed);
}

void set_claims(Plan* plan) {
  const auto positions = launch_positions(*plan);
  MemoryClaims always;
  always.activations = pool_bytes(*plan);
  for (const WeightSlice& slice : plan->weights) {
    if (stays(slice)) always.preloaded += slice.bytes;
  }
  for (PlanLaunch& launch : plan->launches) launch.claims = always;
  claim_until_released(positions, plan);
  for (const WeightGather& gather : plan->gathers) {
    for (std::size_t i = 0; i <= positions.at(gather.release_after); ++i) {
      plan->launches[i].claims.um_in_flight += plan->tensor(gather.tensor).bytes;
    }
  }
  std::map<std::string, std::size_t> releases;  // weight -> launch
  for (const WeightSlice& slice : plan->weights) {
    if (!slice.release_after.empty()) {
      releases[slice.tensor] = positions.at(slice.release_after);
    }
  }
  for (const WeightSlice& slice : plan->weights) {
    if (slice.residency != Residency::stream) continue;
    const WeightStay stay = stay_of(*plan, slice, positions);
    const auto released = releases.find(slice.reuses);
    if (slice.transforms.empty()) {
      const std::size_t first = released == releases.end() ? stay.read : released->second + 1;
      for (std::size_t i = first; i <= stay.release; ++i) {
        plan->launches[i].claims.um_in_flight += slice.bytes;
      }
      continue;
    }
    // The image exists from when the first launch that fills it is enqueued, up to
    // enqueue_ahead - 1 launches before that runs; a reused one since its last owner's time.
    const auto ahead = static_cast<std::size_t>(plan->enqueue_ahead) - 1;
    std::size_t first = stay.image - std::min(ahead, stay.image);
    if (released != releases.end()) first = released->second + 1;
    for (std::size_t i = first; i <= stay.release; ++i) {
      plan->launches[i].claims.tm_in_flight += slice.bytes;
    }
  }
  const std::vector<Bytes> in_ring = ring_use(*plan);
  for (std::size_t i = 0; i < plan->launches.size(); ++i) {
    const Bytes used = std::min(in_ring[i], plan->staging_ring_bytes);
    plan->launches[i].claims.um_in_flight += used;
    plan->launches[i].claims.staging = plan->staging_ring_bytes - used;
  }
}

}  // namespace fm
