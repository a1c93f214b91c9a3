#pragma once
// Where a texel of an image2d lies in memory.

#include <cstdint>
#include <vector>

#include "core/device_config.hpp"
#include "core/units.hpp"

namespace fm {

enum class TexelOrder { mali_u_interleaved, adreno_tiled, linear };

/// What a device does with image2d memory: the texture.* keys of its config.
struct TexelLayout {
  TexelOrder order = TexelOrder::linear;
  std::uint32_t line_bytes = 64;       ///< texture.line
  std::uint32_t block_bytes = 64;      ///< texture.block_bytes
  std::uint32_t pitch_alignment = 16;  ///< texels
  std::uint32_t row_alignment = 1;
  static TexelLayout from(const DeviceConfig& config);
};

/// Tiled images: a line holds a rectangle of neighbouring texels (as square as its size allows,
/// wider than high). Rectangles lie in Morton order inside a tile, tiles row by row. A tile is 16 x
/// 16 texels (Arm's U-interleaved order, Mesa src/panfrost/lib/pan_tiling.c) or `block_bytes`
/// (Adreno's macrotile of 256 B: 16x4, 8x4 and 4x4 texels of 4, 8 and 16 B, Mesa
/// src/freedreno/fdl/fd6_layout.c). Linear images: rows, padded.
/// An image of one row is linear on every device: tiles gain nothing there (Mesa's
/// panfrost_should_tile says so; ArchProbe's one-row images fill every set of the Adreno's L2).
class ImageLayout {
 public:
  ImageLayout() = default;
  /// `texel_bytes`: a power of two up to 16.
  ImageLayout(const TexelLayout& texels, std::uint32_t width, std::uint32_t height,
              std::uint32_t texel_bytes);

  /// Bytes of the object, padding of tiles or rows included.
  Bytes allocated_bytes() const { return Bytes(std::uint64_t{band_bytes_} * bands_); }
  /// Byte range of the object that holds texel rows [first, first + rows): whole bands of tiles.
  void row_range(std::uint32_t first, std::uint32_t rows, Bytes* offset, Bytes* bytes) const;
  /// Byte offset of a texel inside the image.
  std::uint64_t offset_of(std::uint32_t x, std::uint32_t y) const {
    if (order_ == TexelOrder::linear) return std::uint64_t{y} * band_bytes_ + x * texel_bytes_;
    return y / tile_height_ * band_bytes_ + x / tile_width_ * tile_bytes_ +
           offset_in_tile_[y % tile_height_ * tile_width_ + x % tile_width_];
  }

  TexelOrder order() const { return order_; }
  std::uint32_t width() const { return width_; }
  std::uint32_t height() const { return height_; }
  std::uint32_t texel_bytes() const { return texel_bytes_; }
  /// Tiled: texels of a tile; positions equal modulo these have equal line patterns around them.
  std::uint32_t tile_width() const { return tile_width_; }
  std::uint32_t tile_height() const { return tile_height_; }
  std::uint64_t tile_bytes() const { return tile_bytes_; }
  /// A row of tiles, or a row of a linear image (a multiple of the line).
  std::uint64_t band_bytes() const { return band_bytes_; }

 private:
  TexelOrder order_ = TexelOrder::linear;
  std::uint32_t width_ = 0, height_ = 0, texel_bytes_ = 1;
  std::uint32_t tile_width_ = 1, tile_height_ = 1;
  std::uint64_t tile_bytes_ = 0;
  std::uint64_t band_bytes_ = 0;  ///< a row of tiles, or a row of a linear image
  std::uint64_t bands_ = 0;
  std::vector<std::uint32_t> offset_in_tile_;
};

}  // namespace fm
