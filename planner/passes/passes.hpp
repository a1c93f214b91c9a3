#pragma once
// Graph passes: each rewrites one kind of pattern and keeps what the graph computes.

#include "core/graph.hpp"
#include "planner/constant_store.hpp"
#include "planner/passes/graph_editor.hpp"
#include "planner/placement.hpp"

namespace fm {

/// All passes in their order. The result does not depend on device or placement, so that `fmplan
/// pack` finds the constants that the plan names.
void run_passes(Graph* graph, ConstantStore* constants);

/// Gather of a table's rows by an input -> GatherRows; products with that table turned read it as
/// it lies (attribute b_transposed). Other turned matrices are folded.
void fuse_embeddings(GraphEditor* editor);
void remove_identities(
    GraphEditor* editor);  ///< Identity, no-op Cast/Reshape/Slice/..; joins reshapes
void fuse_layer_norm(GraphEditor* editor);  ///< ReduceMean..Div..Mul..Add -> LayerNormalization
void fuse_gelu(GraphEditor* editor);        ///< Erf and Tanh forms -> Gelu
void fuse_gated_activations(GraphEditor* editor);  ///< composites -> HardSigmoid, HardSwish, Silu
void fold_padding(GraphEditor* editor);            ///< zero Pad into the convolution behind it
void normalise_products(GraphEditor* editor);  ///< Gemm and ConvTranspose in one form of weights
void fold_batch_norm(GraphEditor* editor);     ///< into the convolution before it, else Mul and Add
void fold_affine(GraphEditor* editor);         ///< Mul/Div/Add/Sub by constants into convolutions
void fuse_bias(GraphEditor* editor);           ///< Add of a constant row into the matrix product
void fuse_masks(GraphEditor* editor);  ///< Where(constant, scores, lowest) before Softmax -> Add
void fuse_attention(GraphEditor* editor);    ///< scales into products, scale and mask into Softmax
void fuse_activations(GraphEditor* editor);  ///< activations into the operator before them
void fuse_residuals(GraphEditor* editor);    ///< Add of another tensor into the operator before it

/// A new constant: `constant` with its dimensions in another order.
TensorIndex permuted_constant(GraphEditor* editor, TensorIndex constant,
                              const std::vector<std::int64_t>& permutation);

/// Weights above this become slices, each loaded and released on its own.
constexpr Bytes largest_slice{16 << 20};

/// Whether `node` gathers rows of the constant `table`: the operator of fuse_embeddings().
bool gathers_rows_of(const GraphNode& node, TensorIndex table);

/// Convolutions and matrix products whose weight is too large for one image of the device, or above
/// largest_slice in `storage`, become several over parts of the output channels, joined by Concat;
/// a GatherRows of the same table reads the parts. Parts are about equally large and named
/// "<weight>[<begin>:<end>]/<dimension>". Throws UserError when even parts are too large for an
/// image.
void split_large_weights(Graph* graph, const PlacementRule& placement, DataType storage);

/// Convolution or matrix product: an operator with an epilogue (inputs: x, weight, bias, residual).
bool has_epilogue(const GraphNode& node);

}  // namespace fm
