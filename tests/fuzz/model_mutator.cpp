#include "tests/fuzz/model_mutator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "planner/expansion.hpp"
#include "planner/operator_table.hpp"

namespace fm {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool is_text(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
}

bool is_message(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

std::vector<const FieldDescriptor*> set_fields(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

/// The message and all messages within it.
void collect(Message* message, std::vector<Message*>* found) {
  found->push_back(message);
  const Reflection* reflection = message->GetReflection();
  for (const FieldDescriptor* field : set_fields(*message)) {
    if (!is_message(field)) continue;
    if (!field->is_repeated()) {
      collect(reflection->MutableMessage(message, field), found);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      collect(reflection->MutableRepeatedMessage(message, field, i), found);
    }
  }
}

void collect_words(const Message& message, std::vector<std::string>* words) {
  const Reflection* reflection = message.GetReflection();
  for (const FieldDescriptor* field : set_fields(message)) {
    if (field->type() != FieldDescriptor::TYPE_STRING) continue;
    if (!field->is_repeated()) words->push_back(reflection->GetString(message, field));
    for (int i = 0; field->is_repeated() && i < reflection->FieldSize(message, field); ++i) {
      words->push_back(reflection->GetRepeatedString(message, field, i));
    }
  }
}

std::vector<std::string> known_operators() {
  std::vector<std::string> names{"Constant", "Split", "Sum", "If", "Loop", "Gelu", "Range"};
  for (const auto& [name, spec] : operator_table()) names.push_back(name);
  for (const auto& [name, expander] : expanders()) names.push_back(name);
  return names;
}

const std::vector<std::string>& setting_names() {
  static const std::vector<std::string> names{"alpha",
                                              "approximate",
                                              "auto_pad",
                                              "axes",
                                              "axis",
                                              "batch_dims",
                                              "beta",
                                              "blocksize",
                                              "body",
                                              "ceil_mode",
                                              "coordinate_transformation_mode",
                                              "count_include_pad",
                                              "dilations",
                                              "else_branch",
                                              "epsilon",
                                              "exclusive",
                                              "group",
                                              "keepdims",
                                              "kernel_shape",
                                              "largest",
                                              "mode",
                                              "nearest_mode",
                                              "num_outputs",
                                              "output_padding",
                                              "output_shape",
                                              "p",
                                              "pads",
                                              "perm",
                                              "reduction",
                                              "reverse",
                                              "scales",
                                              "size",
                                              "split",
                                              "starts",
                                              "ends",
                                              "storage_order",
                                              "strides",
                                              "then_branch",
                                              "to",
                                              "transA",
                                              "transB",
                                              "upper",
                                              "value",
                                              "value_ints"};
  return names;
}

}  // namespace

std::int64_t ModelMutator::some_integer(std::int64_t present) {
  static const std::vector<std::int64_t> numbers{
      -1,        -2,        -3,        16,
      1 << 20,   1 << 24,   INT32_MAX, std::int64_t{1} << 40,
      INT32_MIN, INT64_MAX, INT64_MIN, std::int64_t{1} << 62};
  switch (below(4)) {
    case 0:
      return some(numbers);
    case 1:
      return present < INT64_MAX ? present + 1 : 0;
    case 2:
      return present > INT64_MIN ? present - 1 : 0;
    default:
      return static_cast<std::int64_t>(below(10));
  }
}

double ModelMutator::some_real(double present) {
  static const std::vector<double> numbers{0,   1,    -1,  0.5,      2,      3,        1e-30,
                                           1e9, 1e30, NAN, INFINITY, -65504, -INFINITY};
  return once_in(4) ? -present : some(numbers);
}

std::string ModelMutator::changed_bytes(std::string bytes) {
  if (bytes.empty() || once_in(8)) bytes.resize(below(5) * 8);
  if (bytes.empty()) return bytes;
  if (bytes.size() >= 8 && once_in(2)) {  // a number of a shape
    const std::int64_t number = some_integer(0);
    std::memcpy(&bytes[below(bytes.size() / 8) * 8], &number, sizeof number);
  } else {
    char& byte = bytes[below(bytes.size())];
    byte = static_cast<char>(byte ^ (1 << below(8)));
  }
  return bytes;
}

std::string ModelMutator::some_text(const std::string& present, const Field* field) {
  static const std::vector<std::string> operators = known_operators();
  if (field->type() == Field::TYPE_BYTES) return changed_bytes(present);
  if (field->name() == "op_type") return some(operators);
  if (field->containing_type() == onnx::AttributeProto::descriptor()) return some(setting_names());
  return words_.empty() || once_in(8) ? std::string() : some(words_);
}

/// Mostly one that is set.
const ModelMutator::Field* ModelMutator::some_field(const Message& message) {
  const std::vector<const Field*> present = set_fields(message);
  if (!present.empty() && !once_in(4)) return some(present);
  const auto* type = message.GetDescriptor();
  return type->field(static_cast<int>(below(static_cast<std::size_t>(type->field_count()))));
}

void ModelMutator::change_single(Message* message, const Field* field) {
  const Reflection* reflection = message->GetReflection();
  if (once_in(8)) return reflection->ClearField(message, field);
  switch (field->cpp_type()) {
    case Field::CPPTYPE_MESSAGE:
      reflection->MutableMessage(message, field);
      break;
    case Field::CPPTYPE_STRING:
      reflection->SetString(message, field,
                            some_text(reflection->GetString(*message, field), field));
      break;
    case Field::CPPTYPE_INT64:
      reflection->SetInt64(message, field, some_integer(reflection->GetInt64(*message, field)));
      break;
    case Field::CPPTYPE_INT32:
      reflection->SetInt32(message, field, static_cast<std::int32_t>(below(17)));
      break;
    case Field::CPPTYPE_FLOAT:
      reflection->SetFloat(message, field,
                           static_cast<float>(some_real(reflection->GetFloat(*message, field))));
      break;
    case Field::CPPTYPE_ENUM: {
      const auto count = static_cast<std::size_t>(field->enum_type()->value_count());
      reflection->SetEnum(message, field,
                          field->enum_type()->value(static_cast<int>(below(count))));
      break;
    }
    default:
      break;
  }
}

void ModelMutator::add_item(Message* message, const Field* field) {
  const Reflection* reflection = message->GetReflection();
  switch (field->cpp_type()) {
    case Field::CPPTYPE_MESSAGE: {
      const auto count = static_cast<std::size_t>(reflection->FieldSize(*message, field));
      Message* added = reflection->AddMessage(message, field);
      if (count == 0) break;
      added->CopyFrom(
          reflection->GetRepeatedMessage(*message, field, static_cast<int>(below(count))));
      break;
    }
    case Field::CPPTYPE_STRING:
      reflection->AddString(message, field, some_text("", field));
      break;
    case Field::CPPTYPE_INT64:
      reflection->AddInt64(message, field, some_integer(0));
      break;
    case Field::CPPTYPE_INT32:
      reflection->AddInt32(message, field, static_cast<std::int32_t>(below(17)));
      break;
    case Field::CPPTYPE_FLOAT:
      reflection->AddFloat(message, field, static_cast<float>(some_real(0)));
      break;
    case Field::CPPTYPE_DOUBLE:
      reflection->AddDouble(message, field, some_real(0));
      break;
    default:
      break;
  }
}

void ModelMutator::change_repeated(Message* message, const Field* field) {
  const Reflection* reflection = message->GetReflection();
  const auto count = static_cast<std::size_t>(reflection->FieldSize(*message, field));
  if (count == 0 || once_in(4)) return add_item(message, field);
  const int last = static_cast<int>(count) - 1, at = static_cast<int>(below(count));
  reflection->SwapElements(message, field, at, last);
  if (once_in(4)) return reflection->RemoveLast(message, field);
  if (is_text(field)) {
    reflection->SetRepeatedString(
        message, field, last,
        some_text(reflection->GetRepeatedString(*message, field, last), field));
  } else if (field->cpp_type() == Field::CPPTYPE_INT64) {
    reflection->SetRepeatedInt64(message, field, last,
                                 some_integer(reflection->GetRepeatedInt64(*message, field, last)));
  }
  reflection->SwapElements(message, field, at, last);
}

void ModelMutator::mutate(onnx::ModelProto* model) {
  std::vector<Message*> messages;
  collect(model, &messages);
  words_.clear();
  for (const Message* message : messages) collect_words(*message, &words_);
  Message* chosen = some(messages);
  const Field* field = some_field(*chosen);
  field->is_repeated() ? change_repeated(chosen, field) : change_single(chosen, field);
}

void ModelMutator::cross(onnx::ModelProto* model, const onnx::ModelProto& donor) {
  onnx::ModelProto other = donor;
  std::vector<Message*> messages, donors;
  collect(model, &messages);
  collect(&other, &donors);
  Message* receiver = some(messages);
  const Message* giver = some(donors);
  if (receiver->GetDescriptor() == giver->GetDescriptor()) {
    once_in(2) ? receiver->CopyFrom(*giver) : receiver->MergeFrom(*giver);
  }
}

}  // namespace fm
