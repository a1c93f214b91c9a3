// Kernels that measure a device: kernels/microbench/*.cl.
#include "kernels/catalogue_entries.hpp"

namespace fm {
namespace {

using Ranges = std::vector<ParameterRange>;

KernelEntry probe(const std::string& name, const std::string& description, Ranges parameters,
                  std::function<std::vector<KernelArgument>(const KernelParameters&)> arguments,
                  std::uint32_t values) {
  KernelEntry entry;
  entry.name = name;
  entry.description = description;
  entry.operations = {"Microbenchmark"};
  entry.parameters = std::move(parameters);
  entry.arguments = std::move(arguments);
  entry.registers = [values](const KernelParameters&) { return values + base_registers; };
  return entry;
}

Arguments reads(const std::string& read, const std::string& written, ArgumentKind kind) {
  return Arguments().tensor(read, false, kind).tensor(written, true, ArgumentKind::linear);
}
Arguments writes(const std::string& written) {
  return Arguments().tensor(written, true, ArgumentKind::linear);
}
ArgumentKind unit_kind(const KernelParameters& p) {
  return parameter_word(p, "UNIT", "") == "SCALAR" ? ArgumentKind::linear : ArgumentKind::texels;
}

KernelEntry occupancy_entry() {
  KernelEntry entry = probe(
      "occupancy_step", "latency hidden by as many waves as registers and local memory leave",
      {{"REGISTERS", {}, "values kept alive"}, {"LOCAL_FLOATS", {}, "local memory, 4 B each"}},
      [](const KernelParameters&) {
        return reads("data", "sums", ArgumentKind::texels).integers({"range_log", "rounds"});
      },
      0);
  entry.registers = [](const KernelParameters& p) {
    return parameter_number(p, "REGISTERS") + 4 + base_registers;
  };
  return entry;
}

}  // namespace

std::vector<KernelEntry> microbench_entries() {
  const std::vector<std::string> units{"SCALAR", "TEXEL", "PAIR"};
  return {
      probe(
          "pointer_chase", "latency by footprint and stride",
          {{"ROWS", {"ONE", "MANY"}, "of the ring"}},
          [](const KernelParameters&) {
            return reads("ring", "end", ArgumentKind::texels)
                .integers({"elements", "width", "stride", "hops"});
          },
          5),
      probe(
          "block_walk", "latency by the shape of the path over an image", {},
          [](const KernelParameters&) {
            return reads("ring", "end", ArgumentKind::texels)
                .integers({"size", "size_log", "x_log", "y_log", "hops"});
          },
          8),
      probe(
          "range_read", "bandwidth by footprint and access width",
          {{"UNIT", units, "read at once"}},
          [](const KernelParameters& p) {
            return reads("data", "sums", unit_kind(p)).integers({"range_log", "items", "rounds"});
          },
          16),
      probe(
          "range_write", "write bandwidth by footprint", {},
          [](const KernelParameters&) {
            return Arguments().tensor("data", true).integers({"range_log", "items", "rounds"});
          },
          8),
      probe(
          "line_probe", "cache lines and texels a clock by work-items side by side",
          {{"AXIS", {"ACROSS", "DOWN"}, "along which they lie"}},
          [](const KernelParameters&) {
            return reads("data", "sums", ArgumentKind::texels).integers({"pitch", "rounds"});
          },
          6),
      probe(
          "local_stride", "local memory by stride", {{"UNIT", {"SCALAR", "TEXEL"}, "read at once"}},
          [](const KernelParameters&) {
            return writes("sums").integers({"stride", "rounds"});
          },
          16),
      probe(
          "multiply_add", "arithmetic rate by work-items a work-group", {},
          [](const KernelParameters&) { return writes("sums").integers({"rounds"}); }, 16),
      probe(
          "arithmetic_rate", "arithmetic rate by type",
          {{"TYPE", {"HALF", "INTEGER", "SPECIAL", "EXPONENTIAL", "INDEX"}, "of the operations"}},
          [](const KernelParameters&) { return writes("sums").integers({"rounds"}); }, 16),
      probe(
          "vector_multiply_add", "arithmetic rate of work-items that compute vectors", {},
          [](const KernelParameters&) { return writes("sums").integers({"rounds"}); }, 160),
      occupancy_entry(),
      probe(
          "empty", "cost of a launch", {},
          [](const KernelParameters&) { return Arguments().integers({"nothing"}); }, 0)};
}

}  // namespace fm
