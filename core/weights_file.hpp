#pragma once
// model.fmw: packed weights. Layout of the file:
//   [0, 4096)          header: magic "FMWEIGHT", version u32, slice count u32, index bytes u64,
//   index offset u64,
//                      index checksum u64, model digest (64 bytes, zero padded)
//   [index offset, ..) the index: one record a slice (tensor name, layout, dtype, shape, offset,
//   bytes, checksum) slices             each at a multiple of 4 KiB, in first-use order
// The plan binds to `index_digest`: the digest over model digest and every slice's place and form,
// checksums apart, so that it is known when the plan is made and a file packed for another plan is
// refused.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

struct WeightsIndexEntry {
  std::string tensor;  ///< PlanTensor::id
  std::string name;    ///< ONNX initializer
  Layout layout = Layout::rows;
  DataType dtype = DataType::f16;
  Shape shape;
  Bytes offset;
  Bytes bytes;
  std::uint64_t checksum = 0;  ///< checksum_of(slice bytes)
};

struct WeightsIndex {
  std::string model_digest;
  std::vector<WeightsIndexEntry> entries;
};

/// The index a plan expects, checksums zero.
WeightsIndex expected_index(const Plan& plan);
/// Digest over everything but checksums.
std::string index_digest(const WeightsIndex& index);

/// Where the first slice lies for this many entries and index bytes is decided by
/// first_slice_offset().
Bytes first_slice_offset(const std::vector<WeightsIndexEntry>& entries);

/// By entry, the first one with its offset: itself, or one of equal contents, stored for both.
std::vector<std::size_t> stored_entries(const std::vector<WeightsIndexEntry>& entries);

/// Writes slices in order as they are handed over, then header and index. The file appears on
/// finish().
class WeightsWriter {
 public:
  WeightsWriter(const std::string& path, WeightsIndex index);
  ~WeightsWriter();
  /// `bytes` of the next entry of the index that is stored itself, exactly entry.bytes long.
  void append(const std::vector<std::uint8_t>& bytes);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads header and index; throws UserError for a wrong magic, version, truncation or damaged
/// index.
WeightsIndex read_weights_index(const std::string& path);
/// read_weights_index + comparison with the plan: throws UserError naming the first difference.
WeightsIndex open_weights_for(const Plan& plan, const std::string& path);

}  // namespace fm
