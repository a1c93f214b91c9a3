// A cuckoo filter (B. Fan and others, CoNEXT 2014): fingerprints in one of two buckets of four,
// inserted all at once by work-items that evict each other's.
#include "bench/workloads/workload.hpp"

namespace {

using workload::Sizes;

const char* const source = R"(
uint mixed(uint h) {
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}
// A fingerprint is never 0: that is an empty place. Buckets are a power of two.
uint fingerprint(uint key) { return mixed(key) >> 16 | 1; }
uint other(uint bucket, uint print, uint buckets) {
  return (bucket ^ mixed(print)) & (buckets - 1);
}

kernel void insert(global const uint* keys, global uint* table, global uint* lost, uint buckets,
                   uint most_evictions, uint count) {
  const uint id = get_global_id(0);
  if (id >= count) return;
  uint print = fingerprint(keys[id]), bucket = mixed(keys[id] + 1) & (buckets - 1);
  for (uint evictions = 0; evictions < most_evictions; ++evictions) {
    for (uint at = 0; at < 4; ++at) {
      if (atomic_cmpxchg(&table[4 * bucket + at], 0, print) == 0) return;
    }
    print = atomic_xchg(&table[4 * bucket + (evictions + id) % 4], print);
    bucket = other(bucket, print, buckets);
  }
  atomic_inc(lost);
}
kernel void query(global const uint* keys, global const uint* table, global uint* found,
                  uint buckets, uint count) {
  const uint id = get_global_id(0);
  if (id >= count) return;
  const uint print = fingerprint(keys[id]), one = mixed(keys[id] + 1) & (buckets - 1);
  const uint two = other(one, print, buckets);
  uint there = 0;
  for (uint at = 0; at < 4; ++at) {
    there |= table[4 * one + at] == print || table[4 * two + at] == print;
  }
  found[id] = there;
}
)";

std::uint32_t mixed(std::uint32_t h) {
  h = (h ^ h >> 16) * 0x85ebca6bU;
  h = (h ^ h >> 13) * 0xc2b2ae35U;
  return h ^ h >> 16;
}

void run(const Sizes& sizes) {
  const std::uint32_t count = sizes["keys"];
  std::uint32_t buckets = 1;
  while (4 * buckets < 5 * count / 4) buckets *= 2;
  workload::Numbers numbers(3);
  std::vector<cl_uint> keys, absent;
  for (std::uint32_t i = 0; i < count; ++i) keys.push_back(numbers.next());
  for (std::uint32_t i = 0; i < count; ++i) absent.push_back(numbers.next());

  workload::Device device(source);
  const cl_mem table = device.buffer(std::vector<cl_uint>(4 * buckets));
  const cl_mem lost = device.buffer(std::vector<cl_uint>(1));
  const cl_mem found = device.buffer(std::vector<cl_uint>(count));
  device.launch("insert", count, device.buffer(keys), table, lost, buckets,
                sizes["most-evictions"]);
  workload::require(device.read<cl_uint>(lost, 1).front() == 0, "a key found no place");
  device.launch("query", count, device.buffer(keys), table, found, buckets);
  workload::require(device.read<cl_uint>(found, count) == std::vector<cl_uint>(count, 1),
                    "a key that was inserted is not found");
  // Where the fingerprints lie depends on who came first; what the table answers does not depend
  // on the device.
  device.launch("query", count, device.buffer(absent), table, found, buckets);
  const std::vector<cl_uint> prints = device.read<cl_uint>(table, 4 * buckets);
  std::vector<cl_uint> expected;
  for (const cl_uint key : absent) {
    const cl_uint print = mixed(key) >> 16 | 1, one = mixed(key + 1) & (buckets - 1);
    const cl_uint two = (one ^ mixed(print)) & (buckets - 1);
    cl_uint there = 0;
    for (cl_uint at = 0; at < 4; ++at) {
      there |= prints[4 * one + at] == print || prints[4 * two + at] == print;
    }
    expected.push_back(there);
  }
  workload::require(device.read<cl_uint>(found, count) == expected, "answers for absent keys");
}

}  // namespace

int main(int argc, char** argv) {
  return workload::run_main(argc, argv, "a cuckoo filter",
                            {{"keys", 4096, "keys inserted, found again, and as many others"},
                             {"most-evictions", 64, "before a key is given up"}},
                            run);
}
