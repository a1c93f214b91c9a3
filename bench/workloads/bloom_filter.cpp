// A Bloom filter: keys set bits, then others are asked for.
#include <algorithm>
#include <set>

#include "bench/workloads/workload.hpp"

namespace {

using workload::Sizes;

const char* const source = R"(
uint mixed(uint key, uint round) {
  uint h = key ^ round * 0x9e3779b9u;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}
kernel void insert(global const uint* keys, global uint* bits, uint bit_count, uint hashes,
                   uint count) {
  const uint id = get_global_id(0);
  if (id >= count) return;
  for (uint round = 0; round < hashes; ++round) {
    const uint bit = mixed(keys[id], round) % bit_count;
    atomic_or(&bits[bit / 32], 1u << bit % 32);
  }
}
kernel void query(global const uint* keys, global const uint* bits, global uint* found,
                  uint bit_count, uint hashes, uint count) {
  const uint id = get_global_id(0);
  if (id >= count) return;
  uint all = 1;
  for (uint round = 0; round < hashes; ++round) {
    const uint bit = mixed(keys[id], round) % bit_count;
    if ((bits[bit / 32] >> bit % 32 & 1) == 0) {
      all = 0;
      break;
    }
  }
  found[id] = all;
}
)";

std::uint32_t mixed(std::uint32_t key, std::uint32_t round) {
  std::uint32_t h = key ^ round * 0x9e3779b9U;
  h = (h ^ h >> 16) * 0x85ebca6bU;
  h = (h ^ h >> 13) * 0xc2b2ae35U;
  return h ^ h >> 16;
}

void run(const Sizes& sizes) {
  const std::uint32_t count = sizes["keys"], hashes = sizes["hashes"];
  const std::uint32_t bit_count = sizes["bits-a-key"] * count;
  workload::Numbers numbers(2);
  std::vector<cl_uint> keys, asked, bits(bit_count / 32 + 1), expected_bits = bits, expected;
  for (std::uint32_t i = 0; i < count; ++i) keys.push_back(numbers.next());
  // Half of them are there.
  for (std::uint32_t i = 0; i < count; ++i) asked.push_back(i % 2 == 0 ? keys[i] : numbers.next());
  const auto bit_of = [&](cl_uint key, std::uint32_t round) {
    return mixed(key, round) % bit_count;
  };
  for (const cl_uint key : keys) {
    for (std::uint32_t round = 0; round < hashes; ++round) {
      expected_bits[bit_of(key, round) / 32] |= 1U << bit_of(key, round) % 32;
    }
  }
  for (const cl_uint key : asked) {
    bool all = true;
    for (std::uint32_t round = 0; round < hashes; ++round) {
      all = all && (expected_bits[bit_of(key, round) / 32] >> bit_of(key, round) % 32 & 1) != 0;
    }
    expected.push_back(all);
  }
  workload::Device device(source);
  const cl_mem filter = device.buffer(bits), found = device.buffer(std::vector<cl_uint>(count));
  device.launch("insert", count, device.buffer(keys), filter, bit_count, hashes);
  device.launch("query", count, device.buffer(asked), filter, found, bit_count, hashes);
  workload::require(device.read<cl_uint>(filter, bits.size()) == expected_bits, "the filter");
  workload::require(device.read<cl_uint>(found, count) == expected, "the answers");
}

}  // namespace

int main(int argc, char** argv) {
  return workload::run_main(argc, argv, "a Bloom filter",
                            {{"keys", 4096, "keys inserted, and as many asked for"},
                             {"hashes", 4, "bits a key sets"},
                             {"bits-a-key", 8, "size of the filter"}},
                            run);
}
