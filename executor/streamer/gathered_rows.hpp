#pragma once
// Which rows of an embedding's table are read from the weights file.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// A row of the table and the rows of the gathered tensor that are equal to it.
struct RowRead {
  Bytes file_offset;
  std::vector<std::size_t> rows;  ///< at least one, ascending
};

/// Rows of the table as a whole.
std::int64_t table_rows(const Plan& plan, const WeightGather& gather);
Bytes gathered_row_bytes(const Plan& plan, const WeightGather& gather);

/// The distinct rows that `indices` name, by place in the file. Throws UserError for an index
/// outside the table.
std::vector<RowRead> row_reads(const Plan& plan, const WeightGather& gather,
                               const std::vector<std::int32_t>& indices);

/// Rows of the tables whose indices `tensor` holds; 0 when none. A random index lies below it.
std::int64_t rows_indexed_by(const Plan& plan, const PlanTensor& tensor);

}  // namespace fm
