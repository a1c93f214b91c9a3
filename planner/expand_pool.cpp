// Pools of one and three dimensions as two-dimensional ones, and positions of largest elements.
#include <limits>
#include <numeric>

#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"
#include "planner/tensor_view.hpp"
#include "planner/window_dimensions.hpp"

namespace fm {
namespace {

using Ints = Expansion::Ints;

/// Where the elements of each output's window stand among those of a channel; one past the last
/// where the window hangs over the edge.
struct WindowPositions {
  Shape outputs;
  std::int64_t taps = 1;
  Ints read;   ///< row-major, of outputs x taps
  Ints named;  ///< the same places as the second output of MaxPool counts them
};

Ints column_major_strides(const Shape& extents) {
  const Ints reversed = dense_strides({extents.rbegin(), extents.rend()});
  return {reversed.rbegin(), reversed.rend()};
}

/// The mixed-radix digits of `index`.
Ints digits(std::int64_t index, const Shape& extents) {
  Ints at(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; index /= extents[d]) at[d] = index % extents[d];
  return at;
}

WindowPositions window_positions(Expansion& e, const Shape& extents, bool row_major) {
  const std::size_t rank = extents.size();
  const Ints ones(rank, 1);
  const Ints kernel = attribute_ints(e.node, "kernel_shape");
  const Ints steps = attribute_ints(e.node, "strides", ones);
  const Ints apart = attribute_ints(e.node, "dilations", ones);
  const Ints pads = attribute_ints(e.node, "pads", Ints(2 * rank, 0));
  if (kernel.size() != rank || attribute_word(e.node, "auto_pad", "NOTSET") != "NOTSET" ||
      attribute_int(e.node, "ceil_mode", 0) != 0) {
    e.context().refuse("gives positions only with explicit pads and without ceil_mode");
  }
  WindowPositions result;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t reach = (kernel[d] - 1) * apart.at(d) + 1;
    const std::int64_t room = extents[d] + pads.at(d) + pads.at(rank + d) - reach;
    if (room < 0 || steps.at(d) < 1) e.context().refuse("its window does not fit the padded input");
    result.outputs.push_back(room / steps[d] + 1);
  }
  Shape places = result.outputs;
  places.insert(places.end(), kernel.begin(), kernel.end());
  e.check_constant(places);
  result.taps = element_count(kernel);
  const Ints rows = dense_strides(extents);
  const Ints order = row_major ? rows : column_major_strides(extents);
  const std::int64_t outside = element_count(extents);
  for (std::int64_t o = 0; o < element_count(result.outputs); ++o) {
    const Ints output = digits(o, result.outputs);
    for (std::int64_t t = 0; t < result.taps; ++t) {
      const Ints tap = digits(t, kernel);
      std::int64_t read = 0, named = 0;
      bool inside = true;
      for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t at = output[d] * steps[d] - pads[d] + tap[d] * apart[d];
        inside = inside && at >= 0 && at < extents[d];
        read += at * rows[d];
        named += at * order[d];
      }
      result.read.push_back(inside ? read : outside);
      result.named.push_back(inside ? named : outside);
    }
  }
  return result;
}

/// MaxPool's second output: where in the tensor each largest element stands. Windows are laid out
/// one after the other, and of the places that hold the largest element the first is taken.
bool expand_pool_with_positions(Expansion& e) {
  const TensorIndex x = e.input(0);
  const Shape shape = e.shape(x);
  const Shape extents(shape.begin() + 2, shape.end());
  const bool row_major = attribute_int(e.node, "storage_order", 0) == 0;
  const WindowPositions windows = window_positions(e, extents, row_major);
  const std::int64_t channels = shape[0] * shape[1], elements = element_count(extents);
  const std::int64_t outputs = element_count(windows.outputs), taps = windows.taps;
  const TensorIndex lines =
      e.add("Pad", {e.reshape(x, {channels, elements})},
            {{"pads", Ints{0, 0, 0, 1}}, {"value", std::numeric_limits<float>::lowest()}});
  const TensorIndex taken =
      e.reshape(e.add("Gather", {lines, e.integers({outputs * taps}, windows.read)},
                      {{"axis", std::int64_t{1}}}),
                {channels, outputs, taps});
  const auto reduced = [&](const std::string& operation, TensorIndex value) {
    return e.add(operation, {value}, {{"axes", Ints{2}}, {"keepdims", std::int64_t{1}}});
  };
  const TensorIndex largest = reduced("ReduceMax", taken);
  const TensorIndex places = e.integers({1, outputs, taps}, windows.named);
  const TensorIndex place = reduced(
      "ReduceMin", e.add("Where", {e.add("Equal", {taken, largest}), places,
                                   e.number(static_cast<double>(elements), ElementType::int64)}));
  const TensorIndex starts =
      e.add("Mul", {e.counting(channels, 0, 3, ElementType::int64),
                    e.number(static_cast<double>(elements), ElementType::int64)});
  Shape result{shape[0], shape[1]};
  result.insert(result.end(), windows.outputs.begin(), windows.outputs.end());
  e.give(0, e.reshape(largest, result));
  e.give(1, e.reshape(e.add("Add", {place, starts}), result));
  return true;
}

/// One dimension: a height of one. Three: height and width, then the depth; both maximum and
/// average of what is inside go dimension by dimension.
bool expand_pool(Expansion& e) {
  const TensorIndex x = e.input(0);
  const Shape shape = e.shape(x);
  const std::string operation = e.node.operation;
  if (e.wants(1)) return expand_pool_with_positions(e);
  if (shape.size() != 3 && shape.size() != 5) return false;
  if (attribute_ints(e.node, "kernel_shape").size() != shape.size() - 2) {
    e.context().refuse("kernel_shape does not fit the input " + to_string(shape));
  }
  if (shape.size() == 3) {
    const TensorIndex y =
        e.add(operation, {e.reshape(x, with_height(shape))}, window_of(e.node, 1, {-1, 0}));
    const Shape wide = e.shape(y);
    e.give(0, e.reshape(y, {wide[0], wide[1], wide[3]}));
    return true;
  }
  const TensorIndex maps =
      e.add(operation, {e.reshape(x, {shape[0], shape[1] * shape[2], shape[3], shape[4]})},
            window_of(e.node, 3, {1, 2}));
  const std::int64_t height = e.shape(maps)[2], width = e.shape(maps)[3];
  const TensorIndex y =
      e.add(operation, {e.reshape(maps, {shape[0], shape[1], shape[2], height * width})},
            window_of(e.node, 3, {0, -1}));
  e.give(0, e.reshape(y, {shape[0], shape[1], e.shape(y)[2], height, width}));
  return true;
}

bool expand_global_pool(Expansion& e) {
  const std::size_t rank = e.shape(e.input(0)).size();
  if (rank == 4 || rank < 3) return false;
  Ints axes(rank - 2);
  std::iota(axes.begin(), axes.end(), std::int64_t{2});
  e.give(0, e.node.operation == "GlobalMaxPool" ? "ReduceMax" : "ReduceMean", {e.input(0)},
         {{"axes", axes}, {"keepdims", std::int64_t{1}}});
  return true;
}

}  // namespace

void add_pool_expanders(ExpanderTable* table) {
  (*table)["MaxPool"] = expand_pool;
  (*table)["AveragePool"] = expand_pool;
  (*table)["GlobalMaxPool"] = expand_global_pool;
  (*table)["GlobalAveragePool"] = expand_global_pool;
}

}  // namespace fm
