#pragma once
// Weights drawn from a seed: the same values as models/fill.py, bit for bit (models/README.md has
// the definition).

#include <cstdint>
#include <string>
#include <vector>

namespace fm {

/// The key of a tensor's stream of values: FNV-1a(name) xor SplitMix64 mix of the seed.
std::uint64_t seeded_stream_key(std::uint64_t seed, const std::string& name);
/// Element `index` (row-major) of the stream, in [mean - half_range, mean + half_range).
float seeded_value(std::uint64_t key, std::uint64_t index, float mean, float half_range);

/// Gives every seeded tensor of a skeleton its values and writes the filled model to `output` ("-":
/// standard output). Throws UserError when the skeleton is no ONNX model or its facts are wrong.
/// Returns the number of tensors filled.
std::size_t fill_skeleton(const std::string& skeleton, std::uint64_t seed,
                          const std::string& output);

}  // namespace fm
