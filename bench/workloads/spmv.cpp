// A sparse matrix (compressed rows) times a vector, a work-item a row.
#include "bench/workloads/workload.hpp"

namespace {

using workload::Sizes;

const char* const source = R"(
kernel void multiply(global const uint* first, global const uint* column, global const float* value,
                     global const float* x, global float* y, uint rows) {
  const uint row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (uint i = first[row]; i < first[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}
)";

/// Rows of different lengths; all values small integers, so that sums are exact.
struct Matrix {
  std::vector<cl_uint> first{0}, column;
  std::vector<cl_float> value;
};

Matrix random_matrix(std::uint32_t rows, std::uint32_t columns, std::uint32_t longest) {
  workload::Numbers numbers(1);
  Matrix matrix;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t left = numbers.below(longest + 1); left > 0; --left) {
      matrix.column.push_back(numbers.below(columns));
      matrix.value.push_back(static_cast<float>(numbers.below(9)) - 4);
    }
    matrix.first.push_back(static_cast<cl_uint>(matrix.column.size()));
  }
  // Buffers are not empty.
  matrix.column.push_back(0);
  matrix.value.push_back(0);
  return matrix;
}

void run(const Sizes& sizes) {
  const std::uint32_t rows = sizes["rows"], columns = sizes["columns"];
  const Matrix matrix = random_matrix(rows, columns, sizes["longest-row"]);
  std::vector<cl_float> x, expected(rows);
  for (std::uint32_t i = 0; i < columns; ++i) x.push_back(static_cast<float>(i % 7));
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (cl_uint i = matrix.first[row]; i < matrix.first[row + 1]; ++i) {
      expected[row] += matrix.value[i] * x[matrix.column[i]];
    }
  }
  workload::Device device(source);
  const cl_mem y = device.buffer(std::vector<cl_float>(rows));
  device.launch("multiply", rows, device.buffer(matrix.first), device.buffer(matrix.column),
                device.buffer(matrix.value), device.buffer(x), y);
  workload::require(device.read<cl_float>(y, rows) == expected, "the product");
}

}  // namespace

int main(int argc, char** argv) {
  return workload::run_main(argc, argv, "a sparse matrix times a vector",
                            {{"rows", 4096, "rows"},
                             {"columns", 4096, "columns"},
                             {"longest-row", 32, "most elements of a row"}},
                            run);
}
