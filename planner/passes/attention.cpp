// softmax(scale * Q K^T + mask) V as one operator, whose scores are never stored.
#include <algorithm>
#include <iterator>
#include <map>

#include "kernels/launch_builders.hpp"
#include "planner/host_tensor.hpp"
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

/// Added to a score, its exponential is zero: the most negative number of fp16, and all below.
constexpr float masked_score = -65504;
/// Rows of a work-item of the kernel: with fewer, keys and values are read for less.
constexpr std::int64_t many_queries = 4;
/// A work-group holds its queries in local memory.
constexpr std::int64_t widest_head = 256;

Shape leading(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

/// Which keys a constant mask [.., Q, K] leaves to each query; nullopt when it leaves out none at
/// either end, or all of some query, or has no elements.
std::optional<KeyBand> band_of(const HostTensor& mask) {
  const std::int64_t keys = mask.shape.back(), queries = mask.shape[mask.shape.size() - 2];
  if (mask.reals.empty()) return std::nullopt;
  KeyBand band{-keys, -queries};
  for (std::size_t row = 0; row * static_cast<std::size_t>(keys) < mask.reals.size(); ++row) {
    const auto begin = mask.reals.begin() + static_cast<std::ptrdiff_t>(row) * keys;
    const auto seen = [](float value) { return value > masked_score; };
    const auto first = std::find_if(begin, begin + keys, seen);
    if (first == begin + keys) return std::nullopt;
    const auto last = std::find_if(std::make_reverse_iterator(begin + keys),
                                   std::make_reverse_iterator(begin), seen);
    const std::int64_t query = static_cast<std::int64_t>(row) % queries;
    band.behind = std::max(band.behind, query - (first - begin));
    band.ahead = std::max(band.ahead, last.base() - 1 - begin - query);
  }
  if (band.behind >= queries - 1 && band.ahead >= keys - 1) return std::nullopt;
  return band;
}

class AttentionFuser {
 public:
  AttentionFuser(GraphEditor* editor, std::int64_t fewest_queries)
      : editor_(editor), fewest_queries_(fewest_queries) {}

  /// `at`: the product with the values.
  void fuse(NodeIndex at) {
    const auto softmax = sole_producer(at, 0, "Softmax");
    if (!softmax || !over_last_axis(*softmax) || !is_plain_product(at)) return;
    std::vector<NodeIndex> absorbed;
    std::optional<TensorIndex> mask;
    if (editor_->node(*softmax).inputs.size() > 1) mask = editor_->node(*softmax).inputs[1];
    auto scores = sole_producer(*softmax, 0, "MatMul");
    if (const auto sum = scores || mask ? std::nullopt : sole_producer(*softmax, 0, "Add")) {
      if (attribute_float(editor_->node(*softmax), "scale", 1) != 1) return;
      const auto side = scores_side(*sum);
      if (!side) return;
      scores = sole_producer(*sum, *side, "MatMul");
      mask = editor_->node(*sum).inputs[1 - *side];
      absorbed.push_back(*sum);
    }
    if (!scores || !is_plain_product(*scores) || !fits(*scores, at)) return;
    GraphNode node = editor_->node(at);
    node.operation = "Attention";
    node.inputs = {editor_->node(*scores).inputs[0], editor_->node(*scores).inputs[1],
                   editor_->node(at).inputs[1]};
    if (mask) node.inputs.push_back(mask);
    node.attributes = {{"scale", attribute_float(editor_->node(*scores), "scale", 1) *
                                     attribute_float(editor_->node(*softmax), "scale", 1)}};
    if (const auto band = mask ? band_of_mask(*mask, node) : std::nullopt) {
      node.attributes["keys_behind"] = band->behind;
      node.attributes["keys_ahead"] = band->ahead;
    }
    absorbed.insert(absorbed.begin(), *scores);
    absorbed.push_back(*softmax);
    editor_->fuse(absorbed, at, std::move(node));
  }

 private:
  std::optional<KeyBand> band_of_mask(TensorIndex mask, const GraphNode& attention) {
    const Shape& shape = editor_->shape(mask);
    const Shape& query = editor_->shape(*attention.inputs[0]);
    if (!editor_->is_constant(mask) || shape.size() < 2) return std::nullopt;
    if (shape.end()[-2] != query.end()[-2]) return std::nullopt;
    const auto known = bands_.find(mask);
    if (known != bands_.end()) return known->second;
    return bands_[mask] = band_of(editor_->constants().load(editor_->tensor(mask)));
  }

  /// The node of that operation that computes this input, when nothing else reads it.
  std::optional<NodeIndex> sole_producer(NodeIndex node, std::size_t slot,
                                         const std::string& operation) const {
    const auto value = editor_->node(node).inputs[slot];
    if (!value || !editor_->sole_reader(*value)) return std::nullopt;
    return editor_->producer(value, operation);
  }

  bool over_last_axis(NodeIndex softmax) const {
    const GraphNode& node = editor_->node(softmax);
    const auto rank = static_cast<std::int64_t>(editor_->shape(node.outputs[0]).size());
    return attribute_int(node, "axis", 0) + 1 == rank;
  }

  /// Of two computed tensors, without bias or activation.
  bool is_plain_product(NodeIndex product) const {
    const GraphNode& node = editor_->node(product);
    return node.inputs.size() == 2 && node.attributes.count("activation") == 0 &&
           !editor_->is_constant(node.inputs[0]) && !editor_->is_constant(node.inputs[1]);
  }

  /// Which input of the sum is the product; the other one broadcasts over leading dimensions.
  std::optional<std::size_t> scores_side(NodeIndex sum) const {
    const GraphNode& node = editor_->node(sum);
    const Shape& shape = editor_->shape(node.outputs[0]);
    for (const std::size_t side : {0u, 1u}) {
      const Shape& scores = editor_->shape(*node.inputs[side]);
      const Shape& mask = editor_->shape(*node.inputs[1 - side]);
      if (scores == shape && !mask.empty() && mask.back() == shape.back() &&
          sole_producer(sum, side, "MatMul")) {
        return side;
      }
    }
    return std::nullopt;
  }

  bool fits(NodeIndex scores, NodeIndex at) const {
    const Shape& query = editor_->shape(*editor_->node(scores).inputs[0]);
    const Shape& key = editor_->shape(*editor_->node(scores).inputs[1]);
    const Shape& value = editor_->shape(*editor_->node(at).inputs[1]);
    if (query.size() < 2 || key.size() != query.size() || value.size() != query.size())
      return false;
    if (leading(key) != leading(query) || leading(value) != leading(query)) return false;
    if (attribute_float(editor_->node(at), "scale", 1) != 1) return false;
    return query.back() <= widest_head && query[query.size() - 2] >= fewest_queries_;
  }

  GraphEditor* editor_;
  std::int64_t fewest_queries_;
  std::map<TensorIndex, std::optional<KeyBand>> bands_;  ///< layers share masks
};

}  // namespace

void fuse_attention(GraphEditor* editor, AttentionFusion fusion) {
  if (fusion == AttentionFusion::none) return;
  AttentionFuser attention(editor, fusion == AttentionFusion::any ? 1 : many_queries);
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation == "MatMul") attention.fuse(i);
  }
  editor->finish();
}

}  // namespace fm
