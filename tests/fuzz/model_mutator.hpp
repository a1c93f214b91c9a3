#pragma once
// Random changes of an ONNX model that leave it a well-formed message: values, names, operators and
// settings exchanged, added or taken away anywhere in it.

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fm {

class ModelMutator {
 public:
  explicit ModelMutator(std::uint32_t seed) : bits_(seed) {}

  /// One change of some field of some message in the model.
  void mutate(onnx::ModelProto* model);
  /// Copies a message of `donor` over, or beside, one of the same kind in the model.
  void cross(onnx::ModelProto* model, const onnx::ModelProto& donor);

 private:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;

  std::size_t below(std::size_t end) { return end == 0 ? 0 : bits_() % end; }
  bool once_in(std::size_t times) { return below(times) == 0; }
  template <class Items>
  auto some(const Items& items) {
    return items[below(items.size())];
  }

  const Field* some_field(const Message& message);
  void change_single(Message* message, const Field* field);
  void change_repeated(Message* message, const Field* field);
  void add_item(Message* message, const Field* field);
  std::int64_t some_integer(std::int64_t present);
  double some_real(double present);
  std::string some_text(const std::string& present, const Field* field);
  std::string changed_bytes(std::string bytes);

  std::mt19937 bits_;
  std::vector<std::string> words_;  ///< names that the model uses
};

}  // namespace fm
