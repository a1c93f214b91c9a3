// Masks that attention writes with Where: masked scores become so low that the softmax makes them
// zero, which adding a constant does too.
#include <algorithm>
#include <map>

#include "planner/host_tensor.hpp"
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

/// Fills at or below this are meant as minus infinity.
constexpr float lowest_score = -1e4f;
/// The most negative number of fp16: added to a score, its exponential is zero.
constexpr float masked = -65504;

/// 0 where the condition holds; nullopt when the condition masks a whole row, whose softmax would
/// be that of the fill values.
std::optional<HostTensor> additive_mask(const HostTensor& condition) {
  const auto columns = static_cast<std::size_t>(condition.shape.back());
  std::vector<float> mask;
  for (std::size_t i = 0; i < condition.integers.size(); i += columns) {
    const auto row = condition.integers.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = row + static_cast<std::ptrdiff_t>(columns);
    if (std::all_of(row, end, [](std::int64_t value) { return value == 0; })) return std::nullopt;
    std::transform(row, end, std::back_inserter(mask),
                   [](std::int64_t value) { return value != 0 ? 0.0f : masked; });
  }
  return real_tensor(condition.shape, std::move(mask));
}

class MaskFusion {
 public:
  explicit MaskFusion(GraphEditor* editor) : editor_(editor) {}

  void fuse(NodeIndex at) {
    const GraphNode node = editor_->node(at);
    const TensorIndex condition = node.inputs[0].value(), scores = node.inputs[1].value();
    const auto fill = editor_->scalar(node.inputs[2]);
    if (!fill || *fill > lowest_score || !feeds_softmax(node.outputs[0])) return;
    if (!editor_->is_constant(condition) || editor_->is_constant(scores)) return;
    const Shape& shape = editor_->shape(condition);
    if (shape.empty() || shape.back() != editor_->shape(scores).back()) return;
    const auto mask = additive_mask(editor_->constants().load(editor_->tensor(condition)));
    if (!mask) return;
    GraphNode sum = node;
    sum.operation = "Add";
    sum.inputs = {scores, constant(condition, *mask)};
    editor_->fuse({}, at, std::move(sum));
  }

 private:
  bool feeds_softmax(TensorIndex value) const {
    const auto reader = editor_->sole_reader(value, "Softmax");
    if (!reader) return false;
    const auto axis = attribute_int(editor_->node(*reader), "axis", 0);
    return axis + 1 == static_cast<std::int64_t>(editor_->shape(value).size());
  }

  /// Layers have equal masks: one constant for all.
  TensorIndex constant(TensorIndex condition, const HostTensor& mask) {
    const auto key = std::make_pair(mask.shape, mask.reals);
    if (const auto found = masks_.find(key); found != masks_.end()) return found->second;
    const TensorIndex made = editor_->add_constant(editor_->tensor(condition).name + ".mask", mask);
    masks_.emplace(key, made);
    return made;
  }

  GraphEditor* editor_;
  std::map<std::pair<Shape, std::vector<float>>, TensorIndex> masks_;
};

}  // namespace

void fuse_masks(GraphEditor* editor) {
  MaskFusion fusion(editor);
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation == "Where") fusion.fuse(i);
  }
  editor->finish();
}

}  // namespace fm
