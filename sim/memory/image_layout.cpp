#include "sim/memory/image_layout.hpp"

#include <algorithm>

namespace fm {
namespace {

// Bits of x in even places, of y in odd ones.
std::uint32_t interleave_bits(std::uint32_t x, std::uint32_t y) {
  std::uint32_t code = 0;
  for (std::uint32_t bit = 0; bit < 16; ++bit) {
    code |= ((x >> bit) & 1) << (2 * bit) | ((y >> bit) & 1) << (2 * bit + 1);
  }
  return code;
}

// The most square power-of-two rectangle of `count` texels, wider than high.
void rectangle(std::uint32_t count, std::uint32_t* width, std::uint32_t* height) {
  *width = 1;
  while (*width * *width < count) *width *= 2;
  *height = std::max(1u, count / *width);
}

}  // namespace

TexelLayout TexelLayout::from(const DeviceConfig& config) {
  TexelLayout layout;
  const std::string& order = config.word("texture.layout");
  layout.order = order == "linear"         ? TexelOrder::linear
                 : order == "adreno_tiled" ? TexelOrder::adreno_tiled
                                           : TexelOrder::mali_u_interleaved;
  layout.line_bytes = static_cast<std::uint32_t>(config.bytes("texture.line").count());
  layout.block_bytes = static_cast<std::uint32_t>(config.bytes("texture.block_bytes").count());
  layout.pitch_alignment = static_cast<std::uint32_t>(config.count("texture.pitch_alignment"));
  layout.row_alignment = static_cast<std::uint32_t>(config.count("texture.row_alignment"));
  return layout;
}

ImageLayout::ImageLayout(const TexelLayout& texels, std::uint32_t width, std::uint32_t height,
                         std::uint32_t texel_bytes)
    : order_(height == 1 ? TexelOrder::linear : texels.order),
      width_(width),
      height_(height),
      texel_bytes_(texel_bytes) {
  const std::uint64_t padded_width = round_up(width, texels.pitch_alignment);
  const std::uint64_t padded_height = height == 1 ? 1 : round_up(height, texels.row_alignment);
  if (order_ == TexelOrder::linear) {
    tile_width_ = std::max(1u, texels.line_bytes / texel_bytes);
    band_bytes_ = round_up(padded_width * texel_bytes, texels.line_bytes);
    bands_ = padded_height;
    return;
  }
  std::uint32_t block_width = 1, block_height = 1;
  rectangle(std::max(1u, texels.line_bytes / texel_bytes), &block_width, &block_height);
  if (order_ == TexelOrder::mali_u_interleaved) {
    tile_width_ = tile_height_ = 16;
  } else {
    rectangle(std::max(1u, texels.block_bytes / texel_bytes), &tile_width_, &tile_height_);
  }
  tile_width_ = std::max(tile_width_, block_width);
  tile_height_ = std::max(tile_height_, block_height);
  tile_bytes_ = std::uint64_t{tile_width_} * tile_height_ * texel_bytes;
  band_bytes_ = ceil_div(padded_width, tile_width_) * tile_bytes_;
  bands_ = ceil_div(padded_height, tile_height_);
  // Blocks in Morton order; where the tile is not square in blocks, the order is compacted to stay
  // dense.
  struct Block {
    std::uint32_t code, x, y;
  };
  std::vector<Block> blocks;
  for (std::uint32_t y = 0; y < tile_height_ / block_height; ++y) {
    for (std::uint32_t x = 0; x < tile_width_ / block_width; ++x) {
      // Adreno: neighbours below one another lie in different sets too (a column of 32 texels fits
      // ArchProbe's 1 KB L1 of two sets).
      const std::uint32_t swap = order_ == TexelOrder::adreno_tiled ? y & 1 : 0;
      blocks.push_back({interleave_bits(x, y) ^ swap, x, y});
    }
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.code < b.code; });
  offset_in_tile_.resize(std::size_t{tile_width_} * tile_height_);
  std::uint32_t offset = 0;
  for (const Block& block : blocks) {
    for (std::uint32_t y = 0; y < block_height; ++y) {
      for (std::uint32_t x = 0; x < block_width; ++x) {
        const std::uint32_t column = block.x * block_width + x, row = block.y * block_height + y;
        offset_in_tile_[std::size_t{row} * tile_width_ + column] = offset;
        offset += texel_bytes;
      }
    }
  }
}

void ImageLayout::row_range(std::uint32_t first, std::uint32_t rows, Bytes* offset,
                            Bytes* bytes) const {
  const std::uint64_t first_band = first / tile_height_;
  const std::uint64_t end_band = ceil_div(std::uint64_t{first} + rows, tile_height_);
  *offset = Bytes(first_band * band_bytes_);
  *bytes = Bytes((end_band - first_band) * band_bytes_);
}

}  // namespace fm
