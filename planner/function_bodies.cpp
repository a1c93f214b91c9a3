#include "planner/function_bodies.hpp"

#include <onnx/defs/schema.h>

#include "planner/onnx_nodes.hpp"

namespace fm {
namespace {

int onnx_type(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return onnx::TensorProto::FLOAT;
    case ElementType::float16:
      return onnx::TensorProto::FLOAT16;
    case ElementType::float64:
      return onnx::TensorProto::DOUBLE;
    case ElementType::int64:
      return onnx::TensorProto::INT64;
    case ElementType::int32:
      return onnx::TensorProto::INT32;
    case ElementType::int8:
      return onnx::TensorProto::INT8;
    case ElementType::uint8:
      return onnx::TensorProto::UINT8;
    case ElementType::boolean:
      return onnx::TensorProto::BOOL;
  }
  return onnx::TensorProto::UNDEFINED;
}

std::optional<onnx::FunctionProto> proto_of(const onnx::NodeProto& node,
                                            const onnx::OpSchema& schema,
                                            const std::vector<const GraphTensor*>& inputs) {
  if (schema.HasFunction()) return *schema.GetFunction();
  if (!schema.HasContextDependentFunction()) return std::nullopt;
  std::vector<onnx::TypeProto> types(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    auto* tensor = types[i].mutable_tensor_type();
    tensor->set_elem_type(onnx_type(inputs[i]->type));
    for (const std::int64_t extent : inputs[i]->shape) {
      tensor->mutable_shape()->add_dim()->set_dim_value(extent);
    }
  }
  const onnx::FunctionBodyBuildContextImpl context(node, types);
  onnx::FunctionProto body;
  if (!schema.BuildContextDependentFunction(context, body)) return std::nullopt;
  return body;
}

/// References to the function's attributes become the node's own, or their defaults, or go.
void fill_attributes(const onnx::NodeProto& node, const onnx::OpSchema& schema,
                     onnx::NodeProto* inner) {
  for (int i = inner->attribute_size(); i-- > 0;) {
    onnx::AttributeProto* attribute = inner->mutable_attribute(i);
    const std::string outer = attribute->ref_attr_name(), name = attribute->name();
    if (outer.empty()) continue;
    const onnx::AttributeProto* given = find_attribute(node, outer);
    const auto declared = schema.attributes().find(outer);
    if (given == nullptr && declared != schema.attributes().end() &&
        declared->second.default_value.has_name()) {
      given = &declared->second.default_value;
    }
    if (given == nullptr) {
      inner->mutable_attribute()->DeleteSubrange(i, 1);
      continue;
    }
    *attribute = *given;
    attribute->set_name(name);
  }
}

}  // namespace

bool has_function_body(const std::string& operation, int opset) {
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(operation, opset);
  return schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction());
}

std::optional<FunctionBody> function_body(const onnx::NodeProto& node, int opset,
                                          const std::vector<const GraphTensor*>& inputs) {
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset);
  if (schema == nullptr) return std::nullopt;
  const auto proto = proto_of(node, *schema, inputs);
  if (!proto) return std::nullopt;
  FunctionBody body;
  body.inputs.assign(proto->input().begin(), proto->input().end());
  body.outputs.assign(proto->output().begin(), proto->output().end());
  body.nodes.assign(proto->node().begin(), proto->node().end());
  for (onnx::NodeProto& inner : body.nodes) fill_attributes(node, *schema, &inner);
  body.opset = schema->SinceVersion();
  for (const onnx::OperatorSetIdProto& entry : proto->opset_import()) {
    if (is_default_domain(entry.domain())) body.opset = static_cast<int>(entry.version());
  }
  return body;
}

}  // namespace fm
