#pragma once
// ONNX models built in code, for tests of the importer and the passes.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor_layout.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {

using TestAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 14) {
    model_.set_ir_version(8);
    add_opset("", opset);
    model_.mutable_graph()->set_name("test");
  }

  void add_opset(const std::string& domain, int opset) {
    auto* entry = model_.add_opset_import();
    entry->set_domain(domain);
    entry->set_version(opset);
  }

  /// Dimensions of -1 are named d0, d1, ..; of -2 have neither name nor value.
  ModelBuilder& input(const std::string& name, const Shape& shape,
                      int type = onnx::TensorProto::FLOAT) {
    declare(model_.mutable_graph()->add_input(), name, shape, type);
    return *this;
  }
  ModelBuilder& output(const std::string& name) {
    declare(model_.mutable_graph()->add_output(), name, {}, onnx::TensorProto::FLOAT);
    return *this;
  }

  ModelBuilder& weight(const std::string& name, const Shape& shape, std::vector<float> values) {
    onnx::TensorProto* tensor = initializer(name, shape, onnx::TensorProto::FLOAT);
    tensor->set_raw_data(values.data(), values.size() * sizeof(float));
    return *this;
  }
  /// Uniform values in [low, high), the same for the same name and shape.
  ModelBuilder& random_weight(const std::string& name, const Shape& shape, float low = -1,
                              float high = 1) {
    std::mt19937 generator(static_cast<unsigned>(std::hash<std::string>{}(name)));
    std::uniform_real_distribution<float> distribution(low, high);
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = distribution(generator);
    return weight(name, shape, std::move(values));
  }
  ModelBuilder& scalar(const std::string& name, float value) { return weight(name, {}, {value}); }
  ModelBuilder& integers(const std::string& name, std::vector<std::int64_t> values) {
    onnx::TensorProto* tensor =
        initializer(name, {static_cast<std::int64_t>(values.size())}, onnx::TensorProto::INT64);
    tensor->set_raw_data(values.data(), values.size() * sizeof(std::int64_t));
    return *this;
  }

  ModelBuilder& node(const std::string& operation, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::map<std::string, TestAttribute>& attributes = {}) {
    onnx::NodeProto* node = model_.mutable_graph()->add_node();
    node->set_op_type(operation);
    node->set_name(operation + ":" + outputs.at(0));
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    for (const auto& [key, value] : attributes) set_attribute(node->add_attribute(), key, value);
    return *this;
  }

  onnx::ModelProto& proto() { return model_; }
  const onnx::ModelProto& proto() const { return model_; }
  onnx::TensorProto* initializer(const std::string& name, const Shape& shape, int type) {
    onnx::TensorProto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (std::int64_t extent : shape) tensor->add_dims(extent);
    return tensor;
  }

  std::string write(const TemporaryFolder& folder, const std::string& name = "m.onnx") const {
    write_file(folder.file(name), model_.SerializeAsString());
    return folder.file(name);
  }

 private:
  static void declare(onnx::ValueInfoProto* value, const std::string& name, const Shape& shape,
                      int type) {
    value->set_name(name);
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    auto* dimensions = tensor->mutable_shape();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      auto* dimension = dimensions->add_dim();
      if (shape[d] >= 0) dimension->set_dim_value(shape[d]);
      if (shape[d] == -1) dimension->set_dim_param("d" + std::to_string(d));
    }
  }

  static void set_attribute(onnx::AttributeProto* attribute, const std::string& key,
                            const TestAttribute& value) {
    attribute->set_name(key);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      attribute->set_type(onnx::AttributeProto::INT);
      attribute->set_i(*integer);
    } else if (const auto* real = std::get_if<float>(&value)) {
      attribute->set_type(onnx::AttributeProto::FLOAT);
      attribute->set_f(*real);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      attribute->set_type(onnx::AttributeProto::STRING);
      attribute->set_s(*word);
    } else {
      attribute->set_type(onnx::AttributeProto::INTS);
      for (std::int64_t item : std::get<std::vector<std::int64_t>>(value))
        attribute->add_ints(item);
    }
  }

  onnx::ModelProto model_;
};

using Ints = std::vector<std::int64_t>;

}  // namespace fm
