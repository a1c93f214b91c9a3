// A product of matrices by CLBlast, whose kernels are not ours.
#include <dlfcn.h>

#include "bench/workloads/workload.hpp"

namespace {

using workload::Sizes;

/// CLBlastSgemm of clblast_c.h; Debian keeps the header in a package of its own.
using Sgemm = int (*)(int layout, int a_transposed, int b_transposed, std::size_t m, std::size_t n,
                      std::size_t k, float alpha, cl_mem a, std::size_t a_offset, std::size_t a_row,
                      cl_mem b, std::size_t b_offset, std::size_t b_row, float beta, cl_mem c,
                      std::size_t c_offset, std::size_t c_row, cl_command_queue* queue,
                      cl_event* event);
constexpr int row_major = 101, not_transposed = 111;

using ClearCache = int (*)();

template <class Function>
Function clblast(const char* name) {
  void* const library = dlopen("libclblast.so.1", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) throw std::runtime_error("CLBlast is missing: package libclblast1");
  return reinterpret_cast<Function>(found);
}

void run(const Sizes& sizes) {
  const std::size_t size = sizes["size"];
  workload::Numbers numbers(5);
  std::vector<cl_float> a, b;
  for (std::size_t i = 0; i < size * size; ++i) {
    a.push_back(static_cast<float>(numbers.below(5)) - 2);
    b.push_back(static_cast<float>(numbers.below(5)) - 2);
  }
  workload::Device device("");
  const cl_mem c = device.buffer(std::vector<cl_float>(size * size));
  cl_command_queue queue = device.queue();
  workload::check(
      clblast<Sgemm>("CLBlastSgemm")(row_major, not_transposed, not_transposed, size, size, size, 1,
                                     device.buffer(a), 0, size, device.buffer(b), 0, size, 0, c, 0,
                                     size, &queue, nullptr),
      "CLBlastSgemm");
  workload::check(clFinish(queue), "clFinish");
  // CLBlast keeps programs beyond the context they belong to, which not every driver survives.
  clblast<ClearCache>("CLBlastClearCache")();
  const std::vector<cl_float> product = device.read<cl_float>(c, size * size);
  for (std::size_t row = 0; row < size; ++row) {
    std::vector<cl_float> expected(size);  // sums of small integers: exact
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t x = 0; x < size; ++x) expected[x] += a[row * size + k] * b[k * size + x];
    }
    for (std::size_t x = 0; x < size; ++x) {
      workload::require(product[row * size + x] == expected[x], "the product");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return workload::run_main(argc, argv, "a product of square matrices by CLBlast",
                            {{"size", 512, "rows and columns"}}, run);
}
