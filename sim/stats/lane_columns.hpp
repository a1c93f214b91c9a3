#pragma once
// A run as a row of characters, each for the same part of its time.

#include <algorithm>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace fm {

/// The time from 0 to `whole` in columns of whole nanoseconds, as few of them as fit `most`.
struct TimeColumns {
  TimeColumns(Nanoseconds whole, std::size_t most);
  Nanoseconds begin_of(std::size_t column) const { return width * column; }
  Nanoseconds end_of(std::size_t column) const { return std::min(end, width * (column + 1)); }
  Nanoseconds end, width;
  std::size_t count = 0;
};

/// The last moment anything of the result names, at least its integrated latency.
Nanoseconds end_of(const Result& result);

/// How long `lane` was busy in each column: overlapping events count once.
std::vector<Nanoseconds> busy_times(const std::vector<TimelineEvent>& timeline,
                                    const std::string& lane, const TimeColumns& columns);
/// The most memory that was resident in each column. `samples` rise in time and hold until the
/// next.
std::vector<Bytes> most_resident(const std::vector<MemorySample>& samples,
                                 const TimeColumns& columns);

/// A character a column: ' ' never busy, '.' less than a third, ':' less than two thirds, '#' more.
std::string busy_row(const std::vector<Nanoseconds>& busy, const TimeColumns& columns);
/// A character a column: ' ' nothing resident, '0' to '9' tenths of `peak` rounded down, '#' the
/// peak.
std::string memory_row(const std::vector<Bytes>& resident, Bytes peak);

}  // namespace fm
