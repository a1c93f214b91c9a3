#include "executor/streamer/read_schedule.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/diagnostics.hpp"
#include "core/staged_piece.hpp"

namespace fm {
namespace {

/// Ring for image weights that are only preloaded; it is released before the first launch.
constexpr Bytes preload_ring{4 << 20};

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

Bytes ring_bytes(const Plan& plan) {
  Bytes wanted = plan.staging_ring_bytes;
  Bytes widest_row;
  for (const WeightSlice& slice : plan.weights) {
    const PlanTensor& tensor = plan.tensor(slice.tensor);
    if (tensor.placement != Placement::image2d) continue;
    widest_row = std::max(widest_row, row_bytes(tensor));
    if (plan.staging_ring_bytes == Bytes(0)) wanted = preload_ring;
  }
  if (widest_row == Bytes(0)) return Bytes(0);
  return round_up(std::max(wanted, widest_row), slice_alignment) + staging_slack;
}

/// Splits rows [first, last) so that several parts fit into the ring: they are read while others
/// are copied.
void append_rows(const ReadPart& pattern, Bytes row, std::uint64_t first, std::uint64_t last,
                 Bytes ring, std::vector<ReadPart>* parts) {
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
    parts->push_back(part);
  }
}

void append_streamed_image(const Plan& plan, const Positions& positions, const ReadPart& pattern,
                           Bytes ring, std::vector<ReadPart>* parts) {
  const WeightSlice& slice = plan.weights[pattern.weight];
  const PlanTensor& tensor = plan.tensor(slice.tensor);
  const Bytes row = row_bytes(tensor);
  std::vector<WeightTransform> transforms = slice.transforms;
  std::stable_sort(transforms.begin(), transforms.end(), [&](const auto& a, const auto& b) {
    return positions.at(a.launch) < positions.at(b.launch);
  });
  std::uint64_t next_chunk = 0;
  for (const WeightTransform& transform : transforms) {
    const std::size_t at = positions.at(transform.launch);
    if (plan.launches[at].kind != LaunchKind::copy) {
      throw UserError("weight '" + slice.tensor + "' is transformed inside launch '" +
                      transform.launch + "', but kernel " + plan.launches[at].kernel +
                      " takes no weight chunks; give it a copy launch");
    }
    if (transform.first_chunk != next_chunk) {
      throw UserError("weight '" + slice.tensor +
                      "': chunks must be transformed in order, but launch '" + transform.launch +
                      "' takes chunk " + std::to_string(transform.first_chunk) + " when chunk " +
                      std::to_string(next_chunk) + " is next");
    }
    next_chunk += transform.chunk_count;
    // A row belongs to the chunk that holds its last byte.
    const auto rows_before = [&](std::uint64_t chunk) {
      return std::min(plan.chunk_bytes * chunk, slice.bytes) / row;
    };
    ReadPart part = pattern;
    part.due = at;
    append_rows(part, row, rows_before(transform.first_chunk), rows_before(next_chunk), ring,
                parts);
  }
}

void append_weight(const Plan& plan, const Positions& positions, std::size_t index, Bytes ring,
                   ReadSchedule* schedule) {
  const WeightSlice& slice = plan.weights[index];
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
    append_rows(part, row, 0, slice.bytes / row, ring, parts);
  }
}

}  // namespace

ReadSchedule schedule_reads(const Plan& plan) {
  Positions positions;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions[plan.launches[i].id] = i;
  ReadSchedule schedule;
  schedule.ring = ring_bytes(plan);
  for (std::size_t i = 0; i < plan.weights.size(); ++i) {
    append_weight(plan, positions, i, schedule.ring, &schedule);
  }
  // Reading in the order of need keeps the ring free of deadlock: whoever waits for room waits only
  // for copies that are due before its own.
  std::stable_sort(schedule.stream.begin(), schedule.stream.end(),
                   [](const ReadPart& a, const ReadPart& b) { return a.due < b.due; });
  return schedule;
}

}  // namespace fm
