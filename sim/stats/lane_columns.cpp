#include "sim/stats/lane_columns.hpp"

#include <algorithm>

namespace fm {
namespace {

using Interval = std::pair<Nanoseconds, Nanoseconds>;

/// The times at which at least one event of the lane runs, disjoint and rising.
std::vector<Interval> busy_intervals(const std::vector<TimelineEvent>& timeline,
                                     const std::string& lane) {
  std::vector<Interval> events, merged;
  for (const TimelineEvent& event : timeline) {
    if (event.lane == lane) events.emplace_back(event.start, event.end);
  }
  std::sort(events.begin(), events.end());
  for (const Interval& event : events) {
    if (!merged.empty() && event.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, event.second);
    } else {
      merged.push_back(event);
    }
  }
  return merged;
}

}  // namespace

TimeColumns::TimeColumns(Nanoseconds whole, std::size_t most)
    : end(whole), width(std::max<std::uint64_t>(1, ceil_div(whole.count(), most))) {
  count = ceil_div(end.count(), width.count());
}

Nanoseconds end_of(const Result& result) {
  Nanoseconds end = result.latency.integrated;
  for (const TimelineEvent& event : result.timeline) end = std::max(end, event.end);
  return end;
}

std::vector<Nanoseconds> busy_times(const std::vector<TimelineEvent>& timeline,
                                    const std::string& lane, const TimeColumns& columns) {
  std::vector<Nanoseconds> busy(columns.count);
  for (const auto& [start, end] : busy_intervals(timeline, lane)) {
    for (std::size_t column = start / columns.width;
         column < columns.count && columns.begin_of(column) < end; ++column) {
      busy[column] +=
          std::min(end, columns.end_of(column)) - std::max(start, columns.begin_of(column));
    }
  }
  return busy;
}

std::vector<Bytes> most_resident(const std::vector<MemorySample>& samples,
                                 const TimeColumns& columns) {
  std::vector<Bytes> most(columns.count);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Bytes resident = samples[i].claims.total() + samples[i].driver;
    const Nanoseconds until = i + 1 < samples.size() ? samples[i + 1].time : columns.end;
    for (std::size_t column = samples[i].time / columns.width;
         column < columns.count && columns.begin_of(column) < until; ++column) {
      most[column] = std::max(most[column], resident);
    }
  }
  return most;
}

std::string busy_row(const std::vector<Nanoseconds>& busy, const TimeColumns& columns) {
  std::string row;
  for (std::size_t column = 0; column < busy.size(); ++column) {
    const Nanoseconds whole = columns.end_of(column) - columns.begin_of(column);
    const Nanoseconds thrice = busy[column] * 3;
    row += thrice.count() == 0 ? ' ' : thrice < whole ? '.' : thrice < whole * 2 ? ':' : '#';
  }
  return row;
}

std::string memory_row(const std::vector<Bytes>& resident, Bytes peak) {
  std::string row;
  for (const Bytes bytes : resident) {
    if (bytes.count() == 0) {
      row += ' ';
    } else if (bytes >= peak) {
      row += '#';
    } else {
      row += static_cast<char>('0' + bytes * 10 / peak);
    }
  }
  return row;
}

}  // namespace fm
