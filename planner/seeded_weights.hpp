#pragma once
// Weights drawn from a seed: the same values as models/fill.py, bit for bit (models/README.md has
// the definition).

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace fm {

/// The key of a tensor's stream of values: FNV-1a(name) xor SplitMix64 mix of the seed.
std::uint64_t seeded_stream_key(std::uint64_t seed, const std::string& name);
/// Element `index` (row-major) of the stream, in [mean - half_range, mean + half_range).
float seeded_value(std::uint64_t key, std::uint64_t index, float mean, float half_range);

/// Protobuf messages end here.
constexpr Bytes largest_onnx_file{(std::uint64_t{1} << 31) - 1};

/// Gives every seeded tensor of a skeleton its values and writes the filled model to `output` ("-":
/// standard output). What would be larger than `largest_model` has its weights in a second file,
/// `output`.data (ONNX external data), and is never whole in memory. Throws UserError when the
/// skeleton is no ONNX model or its facts are wrong. Returns the number of tensors filled.
std::size_t fill_skeleton(const std::string& skeleton, std::uint64_t seed,
                          const std::string& output, Bytes largest_model = largest_onnx_file);

}  // namespace fm
