#pragma once
// How a tensor's elements lie in memory: 2.5D texel grids and plain linear buffers.

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace fm {

enum class DataType { f16, f32, i32, u8 };
/// f16 2, f32 and i32 4, u8 1.
Bytes size_of(DataType type);
std::string to_string(DataType type);
DataType data_type_from(const std::string& word);

using Shape = std::vector<std::int64_t>;
/// Product of the dimensions; 1 for a scalar.
std::int64_t element_count(const Shape& shape);
/// Elements: more than any device holds, so few that products of dimensions do not overflow.
constexpr std::int64_t largest_tensor = std::int64_t{1} << 40;
/// None is negative, and those above zero make at most largest_tensor elements.
bool is_possible(const Shape& shape);
/// "[1, 197, 768]"
std::string to_string(const Shape& shape);

/// The order of elements. The two texel layouts group 4 elements of one dimension into an RGBA
/// texel and place the texels on a width x height grid (FlashMem section 2: 2.5D memory;
/// conventions of MNN and MACE):
///   linear        row-major scalars, no padding; always in a buffer.
///   rows          [.., R, K]   : texel = 4 neighbours along K; x = k / 4,           y = row-major
///   index of the rest. channels      [N, C, H, W] : texel = 4 channels;           x = (c / 4) * W
///   + w, y = n * H + h. conv_filter   [O, I, Kh, Kw]: texel = 4 output channels;   x = i, y = ((o
///   / 4) * Kh + kh) * Kw + kw
///                                 (x padded to a multiple of 4 input channels).
///   depthwise_filter [C, 1, Kh, Kw]: texel = 4 channels;       x = kh * Kw + kw,    y = c / 4.
/// Lanes beyond the tensor's extent are zero: writers keep it so, readers rely on it.
enum class Layout { linear, rows, channels, conv_filter, depthwise_filter };
std::string to_string(Layout layout);
Layout layout_from(const std::string& word);

/// Width and height of the texel grid, in texels. For `linear`: width = number of elements, height
/// = 1.
struct GridExtent {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  friend bool operator==(const GridExtent& a, const GridExtent& b) {
    return a.width == b.width && a.height == b.height;
  }
};

/// Throws std::invalid_argument when the shape's rank does not fit the layout.
GridExtent grid_extent(Layout layout, const Shape& shape);
/// Bytes of the dense grid (texel = 4 elements; linear = elements), without row padding.
Bytes storage_bytes(Layout layout, DataType type, const Shape& shape);

struct ElementPosition {
  TexelCoordinate texel;
  int lane = 0;  ///< 0..3; always 0 for linear
};
/// Where the element with this multi-dimensional index lies (linear: texel.x = element index).
ElementPosition position_of(Layout layout, const Shape& shape, const Shape& index);

/// Row-major fp32 values -> the layout's bytes (padding lanes zero), and back. fp16 rounds to
/// nearest even.
std::vector<std::uint8_t> pack(Layout layout, DataType type, const Shape& shape,
                               const float* values);
std::vector<float> unpack(Layout layout, DataType type, const Shape& shape,
                          const std::uint8_t* bytes);

/// IEEE binary16 conversions, round to nearest even, subnormals and infinities kept.
std::uint16_t half_from_float(float value);
float float_from_half(std::uint16_t bits);

}  // namespace fm
