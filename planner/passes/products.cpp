// Matrix products and transposed convolutions in one form: constant B as [K, N], filters as [O, I,
// Kh, Kw].
#include <algorithm>

#include "core/diagnostics.hpp"
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"
#include "planner/tensor_view.hpp"

namespace fm {

TensorIndex permuted_constant(GraphEditor* editor, TensorIndex constant,
                              const std::vector<std::int64_t>& permutation) {
  const GraphTensor source = editor->tensor(constant);
  const TensorView view = transposed(whole_view(source.shape), permutation);
  return editor->add_recipe(
      source.name + ".permuted", view.shape, [source, view](const ConstantStore& constants) {
        return real_tensor(view.shape, gathered(view, constants.load(source).reals));
      });
}

namespace {

/// `constant` times `factor`.
TensorIndex scaled_constant(GraphEditor* editor, TensorIndex constant, float factor) {
  const GraphTensor source = editor->tensor(constant);
  return editor->add_recipe(source.name + ".scaled", source.shape,
                            [source, factor](const ConstantStore& constants) {
                              HostTensor values = constants.load(source);
                              for (float& value : values.reals) value *= factor;
                              return values;
                            });
}

/// Transposes a variable operand by a node of its own.
TensorIndex transposed_operand(GraphEditor* editor, NodeIndex* at, TensorIndex operand) {
  if (editor->is_constant(operand)) return permuted_constant(editor, operand, {1, 0});
  const Shape shape = editor->shape(operand);
  const TensorIndex result =
      editor->add_tensor(editor->tensor(operand).name + ".transposed", {shape[1], shape[0]});
  GraphNode node{editor->node(*at).name + ".transpose", "Transpose", {operand}, {result}, {},
                 editor->node(*at).fused_from};
  node.attributes["perm"] = std::vector<std::int64_t>{1, 0};
  editor->insert(*at, std::move(node));
  ++*at;
  return result;
}

bool is_row_of(const Shape& shape, std::int64_t columns) {
  return !shape.empty() && shape.back() == columns && element_count(shape) == columns;
}

void normalise_addend(GraphEditor* editor, NodeIndex at, TensorIndex addend, float beta) {
  const Shape& out = editor->shape(editor->node(at).outputs[0]);
  if (beta == 0) return editor->node(at).inputs.resize(2);
  if (editor->is_constant(addend) && is_row_of(editor->shape(addend), out[1])) {
    return editor->set_input(at, 2, beta == 1 ? addend : scaled_constant(editor, addend, beta));
  }
  if (beta != 1) {
    throw UserError("node `" + editor->node(at).name +
                    "` (Gemm): beta is only supported with a constant bias of one row");
  }
  // Any other C is added by a node of its own.
  GraphNode product = editor->node(at);
  product.inputs.resize(2);
  const TensorIndex sum = product.outputs[0];
  product.outputs = {editor->add_tensor(editor->tensor(sum).name + ".product", editor->shape(sum))};
  GraphNode add{product.name + ".add", "Add", {product.outputs[0], addend}, {sum}, {},
                product.fused_from};
  editor->insert(at, std::move(product));
  editor->node(at + 1) = std::move(add);
  editor->replace_reads(sum, sum);
}

void normalise_gemm(GraphEditor* editor, NodeIndex* at) {
  const GraphNode original = editor->node(*at);
  TensorIndex a = original.inputs[0].value(), b = original.inputs[1].value();
  if (attribute_int(original, "transA", 0) != 0) a = transposed_operand(editor, at, a);
  const bool turned = attribute_int(original, "transB", 0) != 0;
  const auto& readers = editor->readers(b);
  const bool gathered = std::any_of(readers.begin(), readers.end(), [&](NodeIndex reader) {
    return gathers_rows_of(editor->node(reader), b);
  });
  if (turned && !gathered) b = transposed_operand(editor, at, b);
  GraphNode& node = editor->node(*at);
  node.attributes = {{"scale", attribute_float(original, "alpha", 1)}};
  if (turned && gathered) node.attributes["b_transposed"] = std::int64_t{1};
  editor->set_input(*at, 0, a);
  editor->set_input(*at, 1, b);
  if (original.inputs.size() > 2 && original.inputs[2]) {
    normalise_addend(editor, *at, *original.inputs[2], attribute_float(original, "beta", 1));
  }
}

}  // namespace

void normalise_products(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    const std::string operation = editor->node(i).operation;
    if (operation == "Gemm") normalise_gemm(editor, &i);
    const auto filter =
        editor->node(i).inputs.size() > 1 ? editor->node(i).inputs[1] : std::nullopt;
    if (operation == "ConvTranspose" && editor->is_constant(filter)) {
      editor->set_input(i, 1, permuted_constant(editor, *filter, {1, 0, 2, 3}));
    }
  }
  editor->finish();
}

void fuse_bias(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation != "Add") continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto product = editor->node(i).inputs[side];
      const auto addend = editor->node(i).inputs[1 - side];
      auto source = editor->producer(product, "MatMul");
      if (!source) source = editor->producer(product, "Gemm");
      if (!source || !editor->sole_reader(*product) || !editor->is_constant(addend)) continue;
      const Shape& shape = editor->shape(*product);
      const bool taken = editor->node(*source).inputs.size() > 2;
      if (taken || shape.empty() || !is_row_of(editor->shape(*addend), shape.back())) continue;
      if (editor->shape(editor->node(i).outputs[0]) != shape) continue;
      GraphNode fused = editor->node(*source);
      fused.outputs.clear();
      fused.inputs.push_back(addend);
      editor->fuse({*source}, i, std::move(fused));
      break;
    }
  }
  editor->finish();
}

}  // namespace fm
