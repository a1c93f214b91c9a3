#include "planner/layout/storage_choice.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "planner/layout/movement.hpp"
#include "planner/layout/operator_class.hpp"
#include "planner/layout/texel_index.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

/// A launch costs about as much as so many texel accesses: 10 us at 0.4 texels a nanosecond.
constexpr double launch_cost = 4096;
/// A quotient or remainder, beside an access that takes its time anyway.
constexpr double division_cost = 0.02;
/// Index functions without division still add to addresses.
constexpr double offset_cost = 0.001;

PlanTensor stored_as(const StorageForm& form) {
  PlanTensor stored;
  stored.layout = form.layout;
  stored.shape = form.shape;
  return stored;
}

double texels(Layout layout, const Shape& shape) {
  const GridExtent grid = grid_extent(layout, shape.empty() ? Shape{1} : shape);
  return static_cast<double>(grid.width) * static_cast<double>(grid.height);
}

/// nullopt: the kernel's texels are not texels of the stored tensor.
std::optional<double> writing_cost(const StorageForm& form, Layout layout) {
  const TexelIndex index = texel_index(form.map, layout, stored_as(form));
  if (!index.whole) return std::nullopt;
  return texels(layout, form.map.shape()) * division_cost * index.divisions();
}

/// Dimensions of a view that count, the fastest first, each widened to what the tensor has there.
struct Dimension {
  std::size_t position = 0;
  std::int64_t extent = 1, stride = 1;
};

std::vector<Dimension> by_rising_stride(const TensorView& view) {
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] != 1) dimensions.push_back({d, view.shape[d], view.strides[d]});
  }
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  return dimensions;
}

/// Fills the gaps between the view's dimensions, which the tensor's other parts take: `missing`,
/// the fastest first. False where no whole dimensions fill them.
bool complete(std::vector<Dimension>* dimensions, std::int64_t total,
              std::vector<Dimension>* missing) {
  std::int64_t reached = 1;
  for (std::size_t i = 0; i <= dimensions->size(); ++i) {
    const std::int64_t next = i < dimensions->size() ? (*dimensions)[i].stride : total;
    if (next <= 0 || next < reached || next % reached != 0) {
      // The dimension before is cut short: it has its own extent in the tensor.
      if (i == 0 || next <= 0 || next % (*dimensions)[i - 1].stride != 0) return false;
      Dimension& before = (*dimensions)[i - 1];
      if (next / before.stride < before.extent) return false;
      before.extent = next / before.stride;
    } else if (next != reached) {
      missing->push_back({0, next / reached, reached});
    }
    if (i < dimensions->size()) reached = next * (*dimensions)[i].extent;
  }
  return true;
}

/// The map of a tensor of `shape` over one that has these dimensions in this order.
StorageForm form_in_order(const std::vector<Dimension>& order, const Shape& shape) {
  StorageForm form;
  std::vector<std::int64_t> permutation(order.size());
  std::iota(permutation.begin(), permutation.end(), std::int64_t{0});
  std::stable_sort(permutation.begin(), permutation.end(), [&](std::int64_t a, std::int64_t b) {
    return order[static_cast<std::size_t>(a)].stride > order[static_cast<std::size_t>(b)].stride;
  });
  for (const Dimension& dimension : order) form.shape.push_back(dimension.extent);
  form.map = reshaped(transposed(IndexMap(form.shape), permutation), shape);
  return form;
}

bool is_computed(const GraphNode& node) {
  return !is_movement(node.operation) && node.operation != "Concat" && node.operation != "Gather" &&
         node.operation != "GatherRows" && node.operation != "Pad" &&
         node.operation != "GatherElements" && node.operation != "ScatterElements" &&
         node.operation != "CumSum" && node.outputs.size() == 1;
}

class Chooser {
 public:
  Chooser(const Graph& graph, const std::vector<Layout>& layouts)
      : graph_(graph), layouts_(layouts), producers_(graph.tensors.size(), nullptr) {
    for (const GraphNode& node : graph.nodes) {
      for (TensorIndex output : node.outputs) producers_[output] = &node;
    }
  }

  StoragePlan run() {
    choose_joined_layouts();
    // Results at the end first: what is joined or returned decides for what it is made of.
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (!is_computed(*node) || element_count(shape(node->outputs[0])) == 0) continue;
      const TensorIndex tensor = node->outputs[0];
      const Readings found = with_followers(readings_of(graph_, layouts_, tensor));
      if (found.readings.empty() && found.destinations.size() == 1) {
        note_destination(tensor, found.destinations.front());
      }
      if (!found.readings.empty()) choose_form(*node, found);
    }
    return std::move(plan_);
  }

 private:
  const Shape& shape(TensorIndex tensor) const { return graph_.tensors[tensor].shape; }

  StorageForm natural(TensorIndex tensor) const {
    return {layouts_[tensor], shape(tensor).empty() ? Shape{1} : shape(tensor),
            IndexMap(shape(tensor))};
  }

  /// An elementwise operator without a preference of its own works in the order that its readers
  /// chose for its result, and reads its operands so (section 3.3: co-read tensors follow).
  Readings with_followers(Readings found) const {
    for (Reading& reading : found.readings) {
      if (reading.reader == nullptr || !works_in_any_order(graph_, *reading.reader)) continue;
      const TensorIndex result = reading.reader->outputs[0];
      const auto choice = plan_.results.find(result);
      if (choice == plan_.results.end() || !choice->second.own) continue;
      const StorageForm& form = *choice->second.own;
      const auto order = inverse(form.map, form.shape);
      if (!order || reading.map.shape() != shape(result)) continue;
      reading.layout = form.layout;
      reading.map = reading.map.then(*order);
    }
    return found;
  }

  void note_destination(TensorIndex tensor, const Readings::Destination& destination) {
    const auto back = inverse(destination.map, shape(tensor));
    if (!back) return;
    StorageChoice choice;
    if (destination.concat == nullptr) {
      choice.output = destination.output;
      choice.map = *back;
    } else {
      choice.concat = destination.output;
      choice.map = part_of(graph_, *destination.concat, destination.part).then(*back);
      const Layout layout = plan_.joined.at(destination.output);
      const StorageForm form{layout, natural(destination.output).shape, choice.map};
      if (layout != Layout::linear && !writing_cost(form, layouts_[tensor])) return;
    }
    plan_.results[tensor] = std::move(choice);
  }

  void choose_form(const GraphNode& node, const Readings& found) {
    const TensorIndex tensor = node.outputs[0];
    StorageForm best = natural(tensor);
    double lowest = cost_of(best, node, found).value();
    bool other = false;
    for (const Reading& reading : found.readings) {
      const auto form = form_of(reading, shape(tensor));
      if (!form) continue;
      const auto cost = cost_of(*form, node, found);
      if (!cost || *cost >= lowest) continue;
      lowest = *cost;
      best = *form;
      other = true;
    }
    if (other) plan_.results[tensor].own = best;
  }

  std::optional<double> cost_of(const StorageForm& form, const GraphNode& node,
                                const Readings& found) const {
    auto cost = works_in_any_order(graph_, node) ? operand_cost(form, node)
                                                 : writing_cost(form, layouts_[node.outputs[0]]);
    if (!cost) return cost;
    for (const Reading& reading : found.readings) *cost += reading_cost(form, reading);
    for (const auto& destination : found.destinations) {
      *cost += reading_cost(form, {Layout::rows, destination.map, Reads::once});
    }
    return cost;
  }

  /// What an elementwise operator's operands cost that are read in this order of its result.
  std::optional<double> operand_cost(const StorageForm& form, const GraphNode& node) const {
    const auto order = inverse(form.map, form.shape);
    if (!order) return std::nullopt;
    double cost = 0;
    for (const auto& input : node.inputs) {
      if (!input || graph_.tensors[*input].constant) continue;
      const auto [source, map] = source_of(*input);
      cost += reading_cost(natural(source), {form.layout, map.then(*order), Reads::once});
    }
    return cost;
  }

  /// The computed or given tensor of whose elements `tensor` is a map.
  std::pair<TensorIndex, IndexMap> source_of(TensorIndex tensor) const {
    const GraphNode* producer = producers_[tensor];
    if (producer != nullptr) {
      const TensorIndex input =
          producer->inputs.empty() ? tensor : producer->inputs[0].value_or(tensor);
      if (input != tensor && movement_map(graph_, *producer, IndexMap(shape(input)))) {
        auto [source, map] = source_of(input);
        return {source, *movement_map(graph_, *producer, map)};
      }
    }
    return {tensor, IndexMap(shape(tensor))};
  }

  void choose_joined_layouts() {
    for (const GraphNode& node : graph_.nodes) {
      if (node.operation != "Concat") continue;
      const TensorIndex output = node.outputs[0];
      const Readings found = readings_of(graph_, layouts_, output);
      if (found.readers() == 1 && found.destinations.size() == 1 &&
          found.destinations[0].concat == nullptr && found.destinations[0].output == output) {
        plan_.joined[output] = Layout::linear;
        plan_.joined_outputs.insert(output);
        continue;
      }
      const StorageForm own = natural(output);
      bool whole = true;
      for (std::size_t part = 0; part < node.inputs.size(); ++part) {
        const StorageForm form{own.layout, own.shape, part_of(graph_, node, part)};
        whole = whole && writing_cost(form, own.layout).has_value();
      }
      plan_.joined[output] = whole ? own.layout : Layout::linear;
    }
  }

  const Graph& graph_;
  const std::vector<Layout>& layouts_;
  std::vector<const GraphNode*> producers_;
  StoragePlan plan_;
};

}  // namespace

StoragePlan choose_storage(const Graph& graph, const std::vector<Layout>& layouts) {
  return Chooser(graph, layouts).run();
}

IndexMap part_of(const Graph& graph, const GraphNode& concat, std::size_t part) {
  const auto shape = [&](TensorIndex tensor) { return graph.tensors[tensor].shape; };
  const auto axis = static_cast<std::size_t>(attribute_int(concat, "axis", 0));
  const Shape whole = shape(concat.outputs[0]);
  std::vector<std::int64_t> starts(whole.size(), 0);
  for (std::size_t i = 0; i < part; ++i) starts[axis] += shape(concat.inputs[i].value())[axis];
  return sliced(IndexMap(whole), starts, std::vector<std::int64_t>(whole.size(), 1),
                shape(concat.inputs[part].value()));
}

std::optional<StorageForm> form_of(const Reading& reading, const Shape& shape) {
  const Shape& read = reading.map.shape();
  if (element_count(read) == 0) return std::nullopt;
  // All elements once: stored as they are read.
  if (const auto back = inverse(reading.map, shape)) {
    return StorageForm{reading.layout, read.empty() ? Shape{1} : read, *back};
  }
  const auto view = reading.map.strided();
  if (!view || reading.layout != Layout::rows) return std::nullopt;
  std::vector<Dimension> dimensions = by_rising_stride(*view), missing;
  if (!complete(&dimensions, element_count(shape), &missing)) return std::nullopt;
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.position < b.position; });
  std::vector<Dimension> order(missing.rbegin(), missing.rend());
  order.insert(order.end(), dimensions.begin(), dimensions.end());
  // A packed dimension of one element is one in the storage too.
  if (order.empty() || view->shape.back() == 1) order.push_back({0, 1, 1});
  return form_in_order(order, shape);
}

double reading_cost(const StorageForm& form, const Reading& reading) {
  const TexelIndex index = texel_index(form.map.then(reading.map), reading.layout, stored_as(form));
  const double count = texels(reading.layout, reading.map.shape());
  if (index.plain) return 0;
  if (index.whole) {
    return count *
           (offset_cost + division_cost * index.divisions() * static_cast<int>(reading.times));
  }
  const double copy = 5 * count + launch_cost;  // four elements and a store
  return reading.times <= Reads::thrice
             ? std::min(3 * count * static_cast<int>(reading.times), copy)
             : copy;
}

}  // namespace fm
