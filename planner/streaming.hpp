#pragma once
// When weights come: all before the first launch, or each one ahead of its use (FlashMem
// section 5.4's baselines).

#include <map>
#include <optional>
#include <string>

#include "core/plan.hpp"

namespace fm {

enum class StreamingPolicy { preload, always_next, same_op_type };
/// "preload", "always-next" or "same-op-type"; throws UserError otherwise.
StreamingPolicy streaming_policy_from(const std::string& word);
std::string to_string(StreamingPolicy policy);

/// Weights below this size are preloaded by every policy: a read of its own costs more than they
/// occupy.
constexpr Bytes smallest_streamed{64 * 1024};
/// S, the unit of weight transforms.
constexpr Bytes default_chunk_bytes{256 * 1024};

/// Lists the weights in first-use order with their places in the .fmw file (plan->weights).
/// `stored_as`: tensor id of a weight -> that of an earlier one with its contents, whose slice is
/// read for both.
void list_weights(Plan* plan, const std::map<std::string, std::string>& stored_as = {});

/// Decides residency, reads, copies and releases, inserts the copy launches ("C0", ..) before the
/// launches that use the weights, and sizes the staging ring (`ring`, or what the copies need).
/// Uses must be set. always-next: a weight's read may start when the launch starts that uses the
/// previous streamed weight. same-op-type: .. when the previous launch of the same operation that
/// uses a streamed weight starts. Throws UserError when `ring` cannot hold one chunk.
void apply_policy(StreamingPolicy policy, std::optional<Bytes> ring, Plan* plan);

/// Sets the staging ring to `ring`, or to what streamed image weights need. Throws UserError when
/// `ring` cannot hold one chunk.
void size_ring(std::optional<Bytes> ring, Plan* plan);

/// Fills every launch's claims. Pools, uses and weights must be set.
void set_claims(Plan* plan);

}  // namespace fm
