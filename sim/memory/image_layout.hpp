#pragma once
// Where a texel of an image2d lies in memory.

#include <cstdint>

#include "core/device_config.hpp"
#include "core/units.hpp"

namespace fm {

/// Tiled images: a texture line holds a block of neighbouring texels (as square as its size allows, wider than high);
/// blocks form square-ish tiles in Morton order; tiles follow row by row. Linear images: rows, padded to a pitch.
/// Arm's block-linear/AFBC tiles and Adreno's macrotiles differ in detail (Mesa fdl/fd6_layout.c; panfrost
/// U-interleaved 16 x 16); both are two-level square blocks to a cache.
class ImageLayout {
 public:
  ImageLayout() = default;
  /// Reads texture.layout, texture.line and the tile size. `texel_bytes`: a power of two up to 16.
  ImageLayout(const DeviceConfig& config, std::uint32_t width, std::uint32_t height,
              std::uint32_t texel_bytes);

  /// Bytes of the object, padding of tiles or rows included.
  Bytes allocated_bytes() const;
  /// Byte range that holds texel rows [first, first + rows): whole tile rows of it.
  void row_range(std::uint32_t first, std::uint32_t rows, Bytes* offset, Bytes* bytes) const;
  /// Byte offset of a texel inside the image.
  std::uint64_t offset_of(std::uint32_t x, std::uint32_t y) const;

  std::uint32_t width() const { return width_; }
  std::uint32_t height() const { return height_; }
  std::uint32_t texel_bytes() const { return texel_bytes_; }

 private:
  std::uint32_t width_ = 0, height_ = 0, texel_bytes_ = 0;
};

}  // namespace fm
