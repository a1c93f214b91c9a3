#include "core/tensor_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/enum_words.hpp"

namespace fm {
namespace {

constexpr std::uint64_t lanes = 4;

std::uint64_t extent(const Shape& shape, std::size_t dimension) {
  return static_cast<std::uint64_t>(shape[dimension]);
}

void require(bool condition, Layout layout, const Shape& shape, const char* needed) {
  if (condition) return;
  throw std::invalid_argument("layout " + to_string(layout) + " needs " + needed + ", not shape " +
                              to_string(shape));
}

void check_shape(Layout layout, const Shape& shape) {
  for (const std::int64_t dimension : shape) {
    require(dimension >= 0, layout, shape, "dimensions of at least 0");
  }
  if (layout == Layout::linear || layout == Layout::rows) return;
  require(shape.size() == 4, layout, shape, "rank 4");
  if (layout == Layout::depthwise_filter) {
    require(shape[1] == 1, layout, shape, "one input channel a group");
  }
}

/// Elements between neighbours along a dimension in row-major order.
std::uint64_t row_major_stride(const Shape& shape, std::size_t dimension) {
  std::uint64_t stride = 1;
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) stride *= extent(shape, d);
  return stride;
}

/// Every layout is separable: an element's place, in lanes from the start, is a sum over dimensions
/// of this.
std::uint64_t dimension_offset(Layout layout, const Shape& shape, std::uint64_t width,
                               std::size_t dimension, std::uint64_t i) {
  const std::uint64_t pitch = width * lanes;
  switch (layout) {
    case Layout::linear:
      return i * row_major_stride(shape, dimension);
    case Layout::rows: {
      if (dimension + 1 == shape.size()) return i;
      return i * row_major_stride(shape, dimension) / extent(shape, shape.size() - 1) * pitch;
    }
    case Layout::channels: {
      const std::uint64_t height = extent(shape, 2), columns = extent(shape, 3);
      if (dimension == 0) return i * height * pitch;
      if (dimension == 1) return i / lanes * columns * lanes + i % lanes;
      return dimension == 2 ? i * pitch : i * lanes;
    }
    case Layout::conv_filter: {
      const std::uint64_t kernel_height = extent(shape, 2), kernel_width = extent(shape, 3);
      if (dimension == 0) return i / lanes * kernel_height * kernel_width * pitch + i % lanes;
      if (dimension == 1) return i * lanes;
      return (dimension == 2 ? i * kernel_width : i) * pitch;
    }
    case Layout::depthwise_filter: {
      if (dimension == 0) return i / lanes * pitch + i % lanes;
      if (dimension == 1) return 0;
      return (dimension == 2 ? i * extent(shape, 3) : i) * lanes;
    }
  }
  throw std::logic_error("unknown layout");
}

using OffsetTables = std::vector<std::vector<std::uint64_t>>;

OffsetTables offset_tables(Layout layout, const Shape& shape) {
  const std::uint64_t width = grid_extent(layout, shape).width;
  OffsetTables tables(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    tables[d].resize(extent(shape, d));
    for (std::uint64_t i = 0; i < tables[d].size(); ++i) {
      tables[d][i] = dimension_offset(layout, shape, width, d, i);
    }
  }
  return tables;
}

/// Calls visit(row-major index, place in lanes) for every element, in row-major order.
template <class Visit>
void for_each_element(Layout layout, const Shape& shape, const Visit& visit) {
  if (element_count(shape) == 0) return;
  if (shape.empty()) return visit(std::size_t{0}, std::size_t{0});
  const OffsetTables tables = offset_tables(layout, shape);
  const std::vector<std::uint64_t>& innermost = tables.back();
  std::vector<std::size_t> outer(shape.size() - 1, 0);
  std::size_t linear = 0;
  for (bool more = true; more;) {
    std::uint64_t base = 0;
    for (std::size_t d = 0; d < outer.size(); ++d) base += tables[d][outer[d]];
    for (const std::uint64_t offset : innermost) visit(linear++, base + offset);
    more = false;
    for (std::size_t d = outer.size(); d-- > 0 && !more;) {
      more = ++outer[d] < tables[d].size();
      if (!more) outer[d] = 0;
    }
  }
}

template <class Integer>
Integer saturated(float value) {
  if (std::isnan(value)) return 0;
  constexpr double low = std::numeric_limits<Integer>::min();
  constexpr double high = std::numeric_limits<Integer>::max();
  return static_cast<Integer>(std::clamp(std::nearbyint(static_cast<double>(value)), low, high));
}

template <class Element, class Convert>
void pack_as(Layout layout, const Shape& shape, const float* values, std::uint8_t* bytes,
             const Convert& convert) {
  for_each_element(layout, shape, [&](std::size_t linear, std::size_t place) {
    const Element element = convert(values[linear]);
    std::memcpy(bytes + place * sizeof(Element), &element, sizeof element);
  });
}

template <class Element, class Convert>
void unpack_as(Layout layout, const Shape& shape, const std::uint8_t* bytes, float* values,
               const Convert& convert) {
  for_each_element(layout, shape, [&](std::size_t linear, std::size_t place) {
    Element element;
    std::memcpy(&element, bytes + place * sizeof(Element), sizeof element);
    values[linear] = convert(element);
  });
}

}  // namespace

Bytes size_of(DataType type) {
  switch (type) {
    case DataType::f16:
      return Bytes(2);
    case DataType::f32:
    case DataType::i32:
      return Bytes(4);
    case DataType::u8:
      return Bytes(1);
  }
  throw std::logic_error("unknown data type");
}

std::string to_string(DataType type) {
  switch (type) {
    case DataType::f16:
      return "f16";
    case DataType::f32:
      return "f32";
    case DataType::i32:
      return "i32";
    case DataType::u8:
      return "u8";
  }
  return "unknown";
}

DataType data_type_from(const std::string& word) {
  constexpr std::array values{DataType::f16, DataType::f32, DataType::i32, DataType::u8};
  return enum_from_word(word, values, "data type");
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) count *= dimension;
  return count;
}

bool is_possible(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0 || dimension > largest_tensor) return false;
    const std::int64_t extent = std::max<std::int64_t>(dimension, 1);
    if (count > largest_tensor / extent) return false;
    count *= extent;
  }
  return true;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(shape[d]);
  }
  return text + "]";
}

std::string to_string(Layout layout) {
  switch (layout) {
    case Layout::linear:
      return "linear";
    case Layout::rows:
      return "rows";
    case Layout::channels:
      return "channels";
    case Layout::conv_filter:
      return "conv_filter";
    case Layout::depthwise_filter:
      return "depthwise_filter";
  }
  return "unknown";
}

Layout layout_from(const std::string& word) {
  constexpr std::array values{Layout::linear, Layout::rows, Layout::channels, Layout::conv_filter,
                              Layout::depthwise_filter};
  return enum_from_word(word, values, "layout");
}

GridExtent grid_extent(Layout layout, const Shape& shape) {
  check_shape(layout, shape);
  const auto elements = static_cast<std::uint64_t>(element_count(shape));
  switch (layout) {
    case Layout::linear:
      return {elements, 1};
    case Layout::rows: {
      if (shape.empty()) return {1, 1};
      std::uint64_t rows = 1;
      for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= extent(shape, d);
      return {ceil_div(extent(shape, shape.size() - 1), lanes), rows};
    }
    case Layout::channels:
      return {ceil_div(extent(shape, 1), lanes) * extent(shape, 3),
              extent(shape, 0) * extent(shape, 2)};
    case Layout::conv_filter:
      return {round_up(extent(shape, 1), lanes),
              ceil_div(extent(shape, 0), lanes) * extent(shape, 2) * extent(shape, 3)};
    case Layout::depthwise_filter:
      return {extent(shape, 2) * extent(shape, 3), ceil_div(extent(shape, 0), lanes)};
  }
  throw std::logic_error("unknown layout");
}

Bytes storage_bytes(Layout layout, DataType type, const Shape& shape) {
  const GridExtent grid = grid_extent(layout, shape);
  const std::uint64_t per_position = layout == Layout::linear ? 1 : lanes;
  return size_of(type) * (grid.width * grid.height * per_position);
}

ElementPosition position_of(Layout layout, const Shape& shape, const Shape& index) {
  const std::uint64_t width = grid_extent(layout, shape).width;
  bool inside_shape = index.size() == shape.size();
  for (std::size_t d = 0; inside_shape && d < shape.size(); ++d) {
    inside_shape = index[d] >= 0 && index[d] < shape[d];
  }
  if (!inside_shape) {
    throw std::invalid_argument("index " + to_string(index) + " into shape " + to_string(shape));
  }
  std::uint64_t place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    place += dimension_offset(layout, shape, width, d, static_cast<std::uint64_t>(index[d]));
  }
  if (layout == Layout::linear) return {{static_cast<std::int64_t>(place), 0}, 0};
  const std::uint64_t texel = place / lanes;
  return {{static_cast<std::int64_t>(texel % width), static_cast<std::int64_t>(texel / width)},
          static_cast<int>(place % lanes)};
}

std::vector<std::uint8_t> pack(Layout layout, DataType type, const Shape& shape,
                               const float* values) {
  std::vector<std::uint8_t> bytes(storage_bytes(layout, type, shape).count(), 0);
  switch (type) {
    case DataType::f16:
      pack_as<std::uint16_t>(layout, shape, values, bytes.data(), half_from_float);
      break;
    case DataType::f32:
      pack_as<float>(layout, shape, values, bytes.data(), [](float value) { return value; });
      break;
    case DataType::i32:
      pack_as<std::int32_t>(layout, shape, values, bytes.data(), saturated<std::int32_t>);
      break;
    case DataType::u8:
      pack_as<std::uint8_t>(layout, shape, values, bytes.data(), saturated<std::uint8_t>);
      break;
  }
  return bytes;
}

std::vector<float> unpack(Layout layout, DataType type, const Shape& shape,
                          const std::uint8_t* bytes) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  switch (type) {
    case DataType::f16:
      unpack_as<std::uint16_t>(layout, shape, bytes, values.data(), float_from_half);
      break;
    case DataType::f32:
      unpack_as<float>(layout, shape, bytes, values.data(), [](float value) { return value; });
      break;
    case DataType::i32:
      unpack_as<std::int32_t>(layout, shape, bytes, values.data(),
                              [](std::int32_t value) { return static_cast<float>(value); });
      break;
    case DataType::u8:
      unpack_as<std::uint8_t>(layout, shape, bytes, values.data(),
                              [](std::uint8_t value) { return static_cast<float>(value); });
      break;
  }
  return values;
}

}  // namespace fm
