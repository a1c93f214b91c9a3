#pragma once
// Graph passes: each rewrites one kind of pattern and keeps what the graph computes.

#include <set>
#include <string>
#include <vector>

#include "core/graph.hpp"
#include "planner/constant_store.hpp"
#include "planner/passes/graph_editor.hpp"
#include "planner/placement.hpp"

namespace fm {

/// Names of ONNX nodes that do not become the epilogue of the operator before them.
using UnfusedNodes = std::set<std::string>;

/// Which attention becomes one launch.
enum class AttentionFusion {
  none,
  many_queries,  ///< of four or more, which share the keys and values that a work-item reads
  any
};

/// All passes in their order. The constants of the result depend neither on device nor placement
/// nor on what is left unfused or apart, so that `fmplan pack` finds those that the plan names.
void run_passes(Graph* graph, ConstantStore* constants, const UnfusedNodes& unfused = {},
                AttentionFusion attention = AttentionFusion::any);

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
/// Scales into products, scale and mask into Softmax.
void fuse_attention_scales(GraphEditor* editor);
/// softmax(scale * Q K^T + mask) V -> Attention, where the scores have no other reader.
void fuse_attention(GraphEditor* editor, AttentionFusion fusion);
/// Activations into the operator before them.
void fuse_activations(GraphEditor* editor, const UnfusedNodes& unfused = {});
/// Add of another tensor into the operator before it.
void fuse_residuals(GraphEditor* editor, const UnfusedNodes& unfused = {});

/// A new constant: `constant` with its dimensions in another order.
TensorIndex permuted_constant(GraphEditor* editor, TensorIndex constant,
                              const std::vector<std::int64_t>& permutation);

/// Weights above this become slices, each loaded and released on its own; slices are at most half
/// as large, so that one can be computed with while the next is read and another moves to its
/// image.
constexpr Bytes largest_whole_weight{16 << 20};
constexpr Bytes largest_slice{8 << 20};
/// Slices cost launches that are too small for the device, so that where memory is no concern only
/// what no image holds is split, which would else have to lie in a buffer.
enum class WeightSlices { small, whole };

/// Whether `node` gathers rows of the constant `table`: the operator of fuse_embeddings().
bool gathers_rows_of(const GraphNode& node, TensorIndex table);

/// Convolutions and matrix products whose weight is too large for one image of the device, or, with
/// small slices, above largest_whole_weight in `storage`, become several over parts of the output
/// channels, joined by Concat; a GatherRows of the same table reads the parts. Parts are about
/// equally large and named
/// "<weight>[<begin>:<end>]/<dimension>". Throws UserError when even parts are too large for an
/// image.
void split_large_weights(Graph* graph, const PlacementRule& placement, DataType storage,
                         WeightSlices slices = WeightSlices::small);

/// A fused operator that can be two: the operator, and its last activation or addition. Only
/// convolutions, matrix products and elementwise operators have such; what is fused into softmax or
/// normalisation stays (FlashMem section 4.3).
struct EpilogueSplit {
  std::string node;     ///< name of the fused node
  std::string unfused;  ///< to put into UnfusedNodes
};
std::vector<EpilogueSplit> epilogue_splits(const Graph& graph);

/// Convolution or matrix product: an operator with an epilogue (inputs: x, weight, bias, residual).
bool has_epilogue(const GraphNode& node);

}  // namespace fm
