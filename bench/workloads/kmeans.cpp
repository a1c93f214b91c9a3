// k-means: points to their nearest centre, centres to the mean of their points.
#include "bench/workloads/workload.hpp"

namespace {

using workload::Sizes;

const char* const source = R"(
kernel void assign(global const int* points, global const int* centres, global uint* nearest,
                   uint dimensions, uint clusters, uint count) {
  const uint id = get_global_id(0);
  if (id >= count) return;
  uint best = 0;
  int least = INT_MAX;
  for (uint c = 0; c < clusters; ++c) {
    int distance = 0;
    for (uint d = 0; d < dimensions; ++d) {
      const int difference = points[id * dimensions + d] - centres[c * dimensions + d];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  nearest[id] = best;
}
kernel void add(global const int* points, global const uint* nearest, global int* sums,
                global int* sizes, uint dimensions, uint count) {
  const uint id = get_global_id(0);
  if (id >= count) return;
  const uint c = nearest[id];
  for (uint d = 0; d < dimensions; ++d) {
    atomic_add(&sums[c * dimensions + d], points[id * dimensions + d]);
  }
  atomic_inc(&sizes[c]);
}
kernel void move(global int* centres, global int* sums, global int* sizes, uint dimensions,
                 uint clusters) {
  const uint c = get_global_id(0);
  if (c >= clusters) return;
  for (uint d = 0; d < dimensions; ++d) {
    if (sizes[c] > 0) centres[c * dimensions + d] = sums[c * dimensions + d] / sizes[c];
    sums[c * dimensions + d] = 0;
  }
  sizes[c] = 0;
}
)";

/// One round on the host; centres in, centres out.
std::vector<cl_uint> round_on_host(const std::vector<cl_int>& points, std::uint32_t dimensions,
                                   std::vector<cl_int>* centres) {
  const std::size_t count = points.size() / dimensions, clusters = centres->size() / dimensions;
  std::vector<cl_uint> nearest(count);
  std::vector<cl_int> sums(centres->size()), members(clusters);
  for (std::size_t p = 0; p < count; ++p) {
    cl_int least = CL_INT_MAX;
    for (std::size_t c = 0; c < clusters; ++c) {
      cl_int distance = 0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const cl_int difference = points[p * dimensions + d] - (*centres)[c * dimensions + d];
        distance += difference * difference;
      }
      if (distance >= least) continue;
      least = distance;
      nearest[p] = static_cast<cl_uint>(c);
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
      sums[nearest[p] * dimensions + d] += points[p * dimensions + d];
    }
    ++members[nearest[p]];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (members[i / dimensions] > 0) (*centres)[i] = sums[i] / members[i / dimensions];
  }
  return nearest;
}

void run(const Sizes& sizes) {
  const std::uint32_t count = sizes["points"], dimensions = sizes["dimensions"];
  const std::uint32_t clusters = sizes["clusters"];
  if (clusters > count) throw std::runtime_error("more clusters than points");
  workload::Numbers numbers(4);
  std::vector<cl_int> points;
  for (std::uint32_t i = 0; i < count * dimensions; ++i) {
    points.push_back(static_cast<cl_int>(numbers.below(1000)));
  }
  std::vector<cl_int> centres(points.begin(), points.begin() + clusters * dimensions);
  workload::Device device(source);
  const cl_mem on_device = device.buffer(points), means = device.buffer(centres);
  const cl_mem nearest = device.buffer(std::vector<cl_uint>(count));
  const cl_mem sums = device.buffer(std::vector<cl_int>(clusters * dimensions));
  const cl_mem members = device.buffer(std::vector<cl_int>(clusters));
  std::vector<cl_uint> expected;
  for (std::uint32_t round = 0; round < sizes["rounds"]; ++round) {
    device.launch("assign", count, on_device, means, nearest, dimensions, clusters);
    device.launch("add", count, on_device, nearest, sums, members, dimensions);
    device.launch("move", clusters, means, sums, members, dimensions);
    expected = round_on_host(points, dimensions, &centres);
  }
  workload::require(device.read<cl_uint>(nearest, count) == expected, "the assignment");
  workload::require(device.read<cl_int>(means, centres.size()) == centres, "the centres");
}

}  // namespace

int main(int argc, char** argv) {
  return workload::run_main(argc, argv, "k-means",
                            {{"points", 4096, "points"},
                             {"dimensions", 4, "of a point"},
                             {"clusters", 8, "clusters"},
                             {"rounds", 3, "rounds"}},
                            run);
}
