#include "executor/streamer/gathered_rows.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

const WeightSlice& slice_of(const Plan& plan, const std::string& tensor) {
  for (const WeightSlice& slice : plan.weights) {
    if (slice.tensor == tensor) return slice;
  }
  throw std::logic_error("weight " + tensor + " has no slice");
}

}  // namespace

std::int64_t table_rows(const Plan& plan, const WeightGather& gather) {
  std::int64_t rows = 0;
  for (const std::string& part : gather.table) rows += plan.tensor(part).shape[0];
  return rows;
}

Bytes gathered_row_bytes(const Plan& plan, const WeightGather& gather) {
  const PlanTensor& tensor = plan.tensor(gather.tensor);
  return size_of(tensor.dtype) * 4 * grid_extent(tensor.layout, tensor.shape).width;
}

std::vector<RowRead> row_reads(const Plan& plan, const WeightGather& gather,
                               const std::vector<std::int32_t>& indices) {
  const std::int64_t total = table_rows(plan, gather);
  const Bytes row_bytes = gathered_row_bytes(plan, gather);
  std::map<std::int64_t, std::vector<std::size_t>> readers;  // row of the table -> gathered rows
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t row = indices[i] < 0 ? indices[i] + total : indices[i];
    if (row < 0 || row >= total) {
      throw UserError("input " + plan.tensor(gather.indices).name + ": value " +
                      std::to_string(indices[i]) + " at position " + std::to_string(i) +
                      " is outside the " + std::to_string(total) + " rows it chooses from");
    }
    readers[row].push_back(i);
  }
  std::vector<RowRead> reads;
  std::int64_t part_begin = 0;
  auto next = readers.begin();
  for (const std::string& part : gather.table) {
    const Bytes begin = slice_of(plan, part).file_offset;
    const std::int64_t part_end = part_begin + plan.tensor(part).shape[0];
    for (; next != readers.end() && next->first < part_end; ++next) {
      const auto row = static_cast<std::uint64_t>(next->first - part_begin);
      reads.push_back({begin + row_bytes * row, std::move(next->second)});
    }
    part_begin = part_end;
  }
  return reads;
}

std::int64_t rows_indexed_by(const Plan& plan, const PlanTensor& tensor) {
  std::int64_t rows = 0;
  for (const WeightGather& gather : plan.gathers) {
    if (gather.indices != tensor.id) continue;
    const std::int64_t here = table_rows(plan, gather);
    rows = rows == 0 ? here : std::min(rows, here);
  }
  return rows;
}

}  // namespace fm
