// A Pad of zeros around height and width is a larger pad of the convolution behind it.
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {

void fold_padding(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation != "Conv") continue;
    const auto pad = editor->producer(editor->node(i).inputs[0], "Pad");
    if (!pad || !editor->sole_reader(editor->node(*pad).outputs[0])) continue;
    const std::vector<std::int64_t> pads = attribute_ints(editor->node(*pad), "pads");
    const bool only_map = pads.size() == 8 && pads[0] + pads[1] + pads[4] + pads[5] == 0;
    if (!only_map || attribute_float(editor->node(*pad), "value", 0) != 0) continue;
    GraphNode fused = editor->node(i);
    std::vector<std::int64_t> total = attribute_ints(fused, "pads");
    for (std::size_t d = 0; d < 2; ++d) {
      total[d] += pads[2 + d];
      total[2 + d] += pads[6 + d];
    }
    fused.attributes["pads"] = total;
    fused.inputs[0] = editor->node(*pad).inputs[0];
    editor->fuse({*pad}, i, std::move(fused));
  }
  editor->finish();
}

}  // namespace fm
