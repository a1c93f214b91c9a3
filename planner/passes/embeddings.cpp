// Embeddings: rows of a large table, chosen by an input of the model. The table may be tied to a
// product (a language model's head), which then reads it as it lies.
#include <algorithm>

#include "planner/host_tensor.hpp"
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"
#include "planner/streaming.hpp"

namespace fm {
namespace {

/// The tensor is an integer input of the graph, seen through reshapes.
bool is_integer_input(GraphEditor* editor, TensorIndex tensor) {
  while (const auto before = editor->producer(tensor)) {
    const std::string& operation = editor->node(*before).operation;
    if (operation != "Reshape" && operation != "Identity") return false;
    tensor = editor->node(*before).inputs[0].value();
  }
  return !editor->is_constant(tensor) && !is_real(editor->tensor(tensor).type);
}

bool is_large_table(GraphEditor* editor, TensorIndex tensor) {
  const Shape& shape = editor->shape(tensor);
  return editor->is_constant(tensor) && is_real(editor->tensor(tensor).type) && shape.size() == 2 &&
         storage_bytes(Layout::rows, DataType::f16, shape) >= smallest_streamed;
}

void gather_embedding(GraphEditor* editor, NodeIndex at) {
  GraphNode& node = editor->node(at);
  const TensorIndex table = node.inputs[0].value(), indices = node.inputs[1].value();
  if (attribute_int(node, "axis", 0) != 0) return;
  if (!is_large_table(editor, table) || !is_integer_input(editor, indices)) return;
  GraphNode gathered = node;
  gathered.operation = "GatherRows";
  gathered.inputs = {indices, table};
  gathered.attributes.clear();
  editor->fuse({}, at, std::move(gathered));
}

bool is_gathered(GraphEditor* editor, TensorIndex table) {
  const std::vector<NodeIndex>& readers = editor->readers(table);
  return std::any_of(readers.begin(), readers.end(), [&](NodeIndex reader) {
    return gathers_rows_of(editor->node(reader), table);
  });
}

/// Products read a gathered table as it lies; everybody else reads the turned constant.
void fold_turned_matrix(GraphEditor* editor, NodeIndex at) {
  const TensorIndex turned = editor->node(at).outputs[0];
  const TensorIndex table = editor->node(at).inputs[0].value();
  const bool whole = attribute_ints(editor->node(at), "perm") == std::vector<std::int64_t>{1, 0};
  if (!editor->is_constant(table) || editor->shape(turned).size() != 2 || !whole) return;
  if (is_gathered(editor, table)) {
    const std::vector<NodeIndex> readers = editor->readers(turned);
    for (const NodeIndex reader : readers) {
      GraphNode& product = editor->node(reader);
      if (product.operation != "MatMul" || product.inputs[0] == turned) continue;
      product.attributes["b_transposed"] = std::int64_t{1};
      editor->set_input(reader, 1, table);
    }
  }
  if (editor->readers(turned).empty() || editor->is_output(turned)) return;
  editor->replace_reads(turned, permuted_constant(editor, table, {1, 0}));
}

}  // namespace

bool gathers_rows_of(const GraphNode& node, TensorIndex table) {
  return node.operation == "GatherRows" && node.inputs[1] == table;
}

void fuse_embeddings(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation == "Gather") gather_embedding(editor, i);
  }
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation == "Transpose") fold_turned_matrix(editor, i);
  }
  editor->finish();
}

}  // namespace fm
