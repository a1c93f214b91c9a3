#include "planner/passes/passes.hpp"

namespace fm {

void run_passes(Graph* graph, ConstantStore* constants, const UnfusedNodes& unfused,
                AttentionFusion attention) {
  GraphEditor editor(graph, constants);
  editor.finish();
  fuse_embeddings(&editor);
  remove_identities(&editor);
  fuse_layer_norm(&editor);
  fuse_gelu(&editor);
  fuse_gated_activations(&editor);
  fold_padding(&editor);
  normalise_products(&editor);
  fold_batch_norm(&editor);
  fold_affine(&editor);
  fuse_bias(&editor);
  fuse_masks(&editor);
  fuse_attention_scales(&editor);
  fuse_attention(&editor, attention);
  fuse_activations(&editor, unfused);
  fuse_residuals(&editor, unfused);
  fuse_activations(&editor, unfused);
  editor.finish();
}

bool has_epilogue(const GraphNode& node) {
  return node.operation == "Conv" || node.operation == "ConvTranspose" ||
         node.operation == "MatMul" || node.operation == "Gemm";
}

}  // namespace fm
