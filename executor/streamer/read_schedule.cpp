#include "executor/streamer/read_schedule.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/diagnostics.hpp"
#include "core/plan_streams.hpp"
#include "core/preload_memory.hpp"
#include "core/staged_piece.hpp"

namespace fm {
namespace {

using Positions = std::map<std::string, std::size_t>;

std::optional<std::size_t> first_use(const Plan& plan, const std::string& tensor) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    for (const LaunchArgument& argument : plan.launches[i].arguments) {
      const auto* used = std::get_if<TensorArgument>(&argument);
      if (used && used->tensor == tensor) return i;
    }
  }
  return std::nullopt;
}

Bytes row_bytes(const PlanTensor& tensor) {
  return size_of(tensor.dtype) * 4 * grid_extent(tensor.layout, tensor.shape).width;
}

/// Most room that one kernel launch takes for what it streams.
Bytes streamed_at_once(const Plan& plan) {
  Bytes most;
  for (const PlanLaunch& launch : plan.launches) {
    Bytes room;
    for (const WeightStream& stream : streams_in(plan, launch)) {
      const Bytes begin = stream.rows.row_bytes * stream.rows.first;
      room += staged_room(plan.weights[stream.weight], begin,
                          begin + stream.rows.row_bytes * stream.rows.count);
    }
    most = std::max(most, room);
  }
  return most;
}

Bytes ring_bytes(const Plan& plan) {
  if (plan.staging_ring_bytes == Bytes(0)) return preload_ring(plan);
  Bytes widest_row;
  for (const WeightSlice& slice : plan.weights) {
    const PlanTensor& tensor = plan.tensor(slice.tensor);
    if (tensor.placement != Placement::image2d) continue;
    widest_row = std::max(widest_row, row_bytes(tensor));
  }
  if (widest_row == Bytes(0)) return Bytes(0);
  return std::max(
      round_up(std::max(plan.staging_ring_bytes, widest_row), slice_alignment) + staging_slack,
      streamed_at_once(plan));
}

/// For append_rows(): do not split.
constexpr Bytes whole_ring{std::uint64_t{1} << 62};

/// Splits rows [first, last) so that several parts fit into the ring: they are read while others
/// are copied.
void append_rows(const WeightSlice& slice, const ReadPart& pattern, Bytes row, std::uint64_t first,
                 std::uint64_t last, Bytes ring, std::vector<ReadPart>* parts) {
  const Bytes most = staged_piece(ring);
  const std::uint64_t fitting = most > staging_slack ? (most - staging_slack) / row : 0;
  const std::uint64_t rows_a_part = std::max<std::uint64_t>(1, fitting);
  for (std::uint64_t at = first; at < last; at += rows_a_part) {
    ReadPart part = pattern;
    part.staged = true;
    part.first_row = at;
    part.rows = std::min(rows_a_part, last - at);
    part.begin = row * at;
    part.end = row * (at + part.rows);
    part.claim = staged_room(slice, part.begin, part.end);
    parts->push_back(part);
  }
}

void append_streamed_image(const Plan& plan, const Positions& positions, const ReadPart& pattern,
                           Bytes ring, std::vector<ReadPart>* parts) {
  const WeightSlice& slice = plan.weights[pattern.weight];
  std::vector<WeightTransform> transforms = slice.transforms;
  std::stable_sort(transforms.begin(), transforms.end(), [&](const auto& a, const auto& b) {
    return positions.at(a.launch) < positions.at(b.launch);
  });
  std::uint64_t next_chunk = 0;
  for (const WeightTransform& transform : transforms) {
    const std::size_t at = positions.at(transform.launch);
    if (transform.first_chunk != next_chunk) {
      throw UserError("weight '" + slice.tensor +
                      "': chunks must be transformed in order, but launch '" + transform.launch +
                      "' takes chunk " + std::to_string(transform.first_chunk) + " when chunk " +
                      std::to_string(next_chunk) + " is next");
    }
    next_chunk += transform.chunk_count;
    const WeightRows rows = rows_of(plan, slice, transform);
    ReadPart part = pattern;
    part.due = at;
    const bool inside = plan.launches[at].kind == LaunchKind::kernel;
    append_rows(slice, part, rows.row_bytes, rows.first, rows.first + rows.count,
                inside ? whole_ring : ring, parts);
  }
}

void append_weight(const Plan& plan, const Positions& positions, std::size_t index, Bytes ring,
                   ReadSchedule* schedule) {
  const WeightSlice& slice = plan.weights[index];
  if (slice.residency == Residency::disk) return;
  const PlanTensor& tensor = plan.tensor(slice.tensor);
  const bool streamed = slice.residency == Residency::stream;
  const std::optional<std::size_t> use = first_use(plan, slice.tensor);
  ReadPart part;
  part.weight = index;
  part.end = slice.bytes;
  if (streamed && !slice.earliest_launch.empty())
    part.earliest = positions.at(slice.earliest_launch);
  std::vector<ReadPart>* parts = streamed ? &schedule->stream : &schedule->preload;
  if (streamed && !use) return;
  part.due = use.value_or(0);
  if (tensor.placement != Placement::image2d) {
    parts->push_back(part);
  } else if (streamed) {
    append_streamed_image(plan, positions, part, ring, parts);
  } else {
    const Bytes row = row_bytes(tensor);
    append_rows(slice, part, row, 0, slice.bytes / row, ring, parts);
  }
}

/// Parts that one kernel launch streams share one claim, made with the first of them.
void join_claims(const Plan& plan, std::vector<ReadPart>* parts) {
  ReadPart* first = nullptr;
  for (ReadPart& part : *parts) {
    if (!part.staged || plan.launches[part.due].kind != LaunchKind::kernel) continue;
    if (first == nullptr || first->due != part.due) {
      first = &part;
      continue;
    }
    part.claim_offset = first->claim;
    first->claim += part.claim;
    part.claim = Bytes(0);
  }
}

void append_gather(const Plan& plan, std::size_t index, ReadSchedule* schedule) {
  const std::optional<std::size_t> use = first_use(plan, plan.gathers[index].tensor);
  if (!use) return;
  ReadPart part;
  part.gather = index;
  part.end = plan.tensor(plan.gathers[index].tensor).bytes;
  part.due = *use;
  schedule->stream.push_back(part);
}

}  // namespace

Bytes staged_room(const WeightSlice& slice, Bytes begin, Bytes end) {
  const Bytes from = slice.file_offset + begin;
  return round_up(slice.file_offset + end, slice_alignment) - (from - from % slice_alignment);
}

const std::string& tensor_of(const Plan& plan, const ReadPart& part) {
  return part.gather ? plan.gathers[*part.gather].tensor : plan.weights[part.weight].tensor;
}

ReadSchedule schedule_reads(const Plan& plan) {
  Positions positions;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions[plan.launches[i].id] = i;
  ReadSchedule schedule;
  schedule.ring = ring_bytes(plan);
  for (std::size_t i = 0; i < plan.gathers.size(); ++i) append_gather(plan, i, &schedule);
  for (std::size_t i = 0; i < plan.weights.size(); ++i) {
    append_weight(plan, positions, i, schedule.ring, &schedule);
  }
  // Reading in the order of need keeps the ring free of deadlock: whoever waits for room waits only
  // for copies that are due before its own.
  std::stable_sort(schedule.stream.begin(), schedule.stream.end(),
                   [](const ReadPart& a, const ReadPart& b) { return a.due < b.due; });
  join_claims(plan, &schedule.stream);
  return schedule;
}

}  // namespace fm
