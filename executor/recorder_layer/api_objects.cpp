#include "executor/recorder_layer/api_objects.hpp"

namespace fm {

Region region_of(const MemoryView& view, const std::size_t* origin, const std::size_t* region) {
  Region found;
  const std::uint64_t rows = view.height * origin[2] + origin[1];
  found.offset = (rows * view.width + origin[0]) * view.element;
  found.bytes = view.element * region[0] * region[1] * region[2];
  found.first_row = static_cast<std::uint32_t>(rows);
  found.rows = static_cast<std::uint32_t>(region[1] * region[2]);
  return found;
}

Region rectangle(const std::size_t* origin, const std::size_t* region, std::size_t row_pitch,
                 std::size_t slice_pitch) {
  const std::size_t row = row_pitch != 0 ? row_pitch : region[0];
  const std::size_t slice = slice_pitch != 0 ? slice_pitch : row * region[1];
  Region found;
  found.offset = origin[0] + origin[1] * row + origin[2] * slice;
  found.bytes = std::uint64_t{region[0]} * region[1] * region[2];
  return found;
}

}  // namespace fm
