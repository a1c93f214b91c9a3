#pragma once
// Which bytes of the weights file are read, in which order, and what each read is for.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// One read: a whole weight into its buffer, some rows of an image weight into the staging ring, or
/// the rows of a gather.
struct ReadPart {
  std::size_t weight = 0;                 ///< index into Plan::weights
  std::optional<std::size_t> gather;      ///< index into Plan::gathers; then `weight` means nothing
  Bytes begin, end;                       ///< range in the slice
  bool staged = false;                    ///< through the ring, then to the image
  std::uint64_t first_row = 0, rows = 0;  ///< staged: image rows
  Bytes claim;         ///< staged: contiguous room in the ring that is claimed with it; 0 when an
                       ///< earlier part claimed its room too
  Bytes claim_offset;  ///< staged: where its room begins in what was claimed
  std::optional<std::size_t>
      earliest;         ///< position of the launch whose start allows it; none: at once
  std::size_t due = 0;  ///< position of the launch that needs it (its copy when staged)
};

struct ReadSchedule {
  std::vector<ReadPart> preload;  ///< in file order, all done before the first launch
  std::vector<ReadPart> stream;   ///< by `due`: the order in which they are read in every run
  Bytes ring;                     ///< bytes of the staging ring; 0: no image weights
};

/// The tensor that a part fills, or some rows of.
const std::string& tensor_of(const Plan& plan, const ReadPart& part);

/// Direct reads start and end at multiples of slice_alignment, so a staged part may read up to this
/// much beside it.
constexpr Bytes staging_slack = slice_alignment * 2;

/// Room in the ring for rows [begin, end) of a slice: whole blocks of the file.
Bytes staged_room(const WeightSlice& slice, Bytes begin, Bytes end);

/// Streamed weights that no launch touches are never read. What one kernel launch streams is
/// claimed at once, since it leaves the ring at once. Throws UserError when the transforms of a
/// weight are not in chunk order (its checksum could not be followed).
ReadSchedule schedule_reads(const Plan& plan);

}  // namespace fm
