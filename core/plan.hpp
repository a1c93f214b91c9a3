#pragma once
// The plan: everything both engines execute. Nothing about kernels, geometry or placement is
// decided later. docs/plan.md describes the YAML form key by key.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/graph.hpp"
#include "core/tensor_layout.hpp"
#include "core/units.hpp"

namespace fm {

constexpr int plan_version = 1;
/// Slices in a .fmw file and disk reads start at multiples of this (direct I/O).
constexpr Bytes slice_alignment{4096};
/// Tensors in a buffer pool start at multiples of this: OpenCL's largest
/// CL_DEVICE_MEM_BASE_ADDR_ALIGN of a full profile (long16), so that each can be a sub-buffer.
constexpr Bytes pool_alignment{128};

enum class Placement { buffer, image2d, constant, local };
enum class TensorRole {
  input,
  output,
  weight,
  activation,
  gathered  ///< rows of a weight, read from the file by the values of an input (WeightGather)
};
enum class Residency {
  preload,
  stream,
  disk  ///< never in memory as a whole: gathers read rows of it
};
enum class LaunchKind {
  kernel,  ///< an NDRange of a catalogue kernel
  copy     ///< unified memory -> texture memory: clEnqueueCopyBufferToImage of chunks of one weight
};
std::string to_string(Placement value);
std::string to_string(TensorRole value);
std::string to_string(Residency value);
std::string to_string(LaunchKind value);

/// One activation memory object the executor allocates once and several tensors share over time.
struct Pool {
  std::string id;
  Placement placement = Placement::buffer;
  Bytes bytes;                     ///< buffer: size. image2d: width * height * texel size
  GridExtent extent;               ///< image2d only, in texels
  DataType dtype = DataType::f16;  ///< image2d only: the texel's channel type
};

struct PlanTensor {
  std::string id;    ///< short stable name used in arguments: "t12"
  std::string name;  ///< the ONNX value it holds
  TensorRole role = TensorRole::activation;
  DataType dtype = DataType::f16;
  Shape shape;
  Layout layout = Layout::rows;
  Placement placement = Placement::buffer;
  Bytes bytes;            ///< dense storage: storage_bytes(layout, dtype, shape)
  std::string pool;       ///< activations, inputs, outputs; empty for weights
  Bytes offset;           ///< in the pool; 0 for images
  std::string first_use;  ///< launch ids; empty when no launch touches it
  std::string last_use;
  /// In a queue of models: the one it belongs to; of a weight that several use, the first.
  std::string model;
  /// Outputs: the model's element type, in which the value is written out.
  ElementType value_type = ElementType::float32;
};

/// A part of a weight transformed UM -> TM by one launch: inside it (kernel) or as its purpose
/// (copy).
struct WeightTransform {
  std::string launch;
  std::uint64_t first_chunk = 0;
  std::uint64_t chunk_count = 0;
};

/// Where one weight lies in the .fmw file, and when it comes.
struct WeightSlice {
  std::string tensor;  ///< PlanTensor::id
  Bytes file_offset;   ///< multiple of slice_alignment; weights of equal contents may share it
  Bytes bytes;         ///< dense storage bytes
  Residency residency = Residency::preload;
  std::string earliest_launch;  ///< stream: the disk read may start when this launch starts (z_w);
                                ///< "" = at once
  std::vector<WeightTransform>
      transforms;             ///< stream + image2d: chunks by launch (x_{w,l}), covering all
  std::string release_after;  ///< memory is free after this launch; "" = preloaded for good
  /// stream: the weight (PlanTensor::id) whose image or buffer this one takes over; "" = memory of
  /// its own. Of the same extent and type or as many bytes, and released before this one's first
  /// transform or, in a buffer, earliest_launch.
  std::string reuses;
};

/// Preloaded for good: in memory before the first launch and after the last.
bool stays(const WeightSlice& slice);

/// An embedding whose table is not loaded: row r of `tensor` is row `indices`[r] of the table, read
/// from the file before the first launch that uses it.
struct WeightGather {
  std::string tensor;   ///< PlanTensor::id, role gathered, layout rows, in a buffer
  std::string indices;  ///< PlanTensor::id of an i32 input; values below 0 count from the end
  /// Weights (PlanTensor::id, layout rows) whose rows, one after the other, are the table.
  std::vector<std::string> table;
  std::string release_after;  ///< its memory is free after this launch
};

struct TensorArgument {
  std::string tensor;  ///< PlanTensor::id
  bool write = false;
};
struct IntArgument {
  std::int32_t value = 0;
};
struct FloatArgument {
  float value = 0;
};
struct LocalArgument {
  Bytes bytes;
};
using LaunchArgument = std::variant<TensorArgument, IntArgument, FloatArgument, LocalArgument>;

/// Resident bytes by class while a launch runs (DESIGN section 2).
struct MemoryClaims {
  Bytes preloaded, um_in_flight, tm_in_flight, activations, staging;
  Bytes total() const { return preloaded + um_in_flight + tm_in_flight + activations + staging; }
};

struct PlanLaunch {
  std::string id;     ///< stable: "L12", "C7"; everything else names the launch by it
  std::string model;  ///< in a queue of models
  LaunchKind kind = LaunchKind::kernel;
  std::string operation;           ///< lowered operator, e.g. "MatMul"
  std::vector<std::string> nodes;  ///< ONNX nodes it computes
  std::string kernel;              ///< catalogue name; empty for copy
  std::map<std::string, std::string>
      parameters;  ///< compile-time: -DNAME=VALUE, without storage/placement defines
  std::array<std::uint64_t, 3> global{1, 1, 1};  ///< work-items, multiples of local
  std::array<std::uint64_t, 3> local{1, 1, 1};
  std::vector<LaunchArgument> arguments;
  std::vector<std::string> depends;  ///< launch ids that must have finished
  std::string weight;                ///< copy: PlanTensor::id of the weight moved
  std::uint64_t macs = 0;            ///< multiply-accumulates of the operator itself
  MemoryClaims claims;
};

struct PlanModel {
  std::string name;
  std::string file;    ///< file name only
  std::string digest;  ///< digest_of_file
  int opset = 0;
  /// "NAME=N,N,..": inputs whose values the plan is made for.
  std::vector<std::string> values = {};
};

struct Plan {
  std::string generator;  ///< "fmplan 0.1.0"
  std::vector<PlanModel> models;
  std::string config;  ///< device config name
  std::string policy;  ///< preload | always-next | same-op-type
  DataType storage = DataType::f16;
  DataType accumulate = DataType::f32;
  Bytes chunk_bytes;                 ///< S: unit of WeightTransform
  std::string weights_index_digest;  ///< digest of the .fmw index (see weights_file.hpp)
  Bytes staging_ring_bytes;          ///< UM ring for streamed image weights; 0 when none
  int enqueue_ahead = 2;             ///< K: launches enqueued and not finished, at most
  std::vector<std::string> unfused;  ///< ONNX nodes kept apart from the operator before them
  std::vector<Pool> pools;
  std::vector<PlanTensor> tensors;
  std::vector<WeightSlice> weights;  ///< in first-use order = file order, but for shared slices
  std::vector<WeightGather> gathers;
  std::vector<PlanLaunch> launches;  ///< in execution order

  const PlanTensor& tensor(const std::string& id) const;  ///< throws std::out_of_range
  const PlanLaunch& launch(const std::string& id) const;  ///< throws std::out_of_range
};

/// Reads and validates; throws UserError with file:line:column and what would have been accepted.
Plan read_plan(const std::string& path);
Plan parse_plan(const std::string& yaml, const std::string& file_name);
/// Deterministic text; parse_plan(to_yaml(p)) == p.
std::string to_yaml(const Plan& plan);
/// Cross-reference checks beyond syntax: ids unique and known, order of uses, pools large enough
/// and not shared by tensors alive at once, offsets aligned, chunks cover each streamed image
/// weight once, before its first use. Throws UserError naming the item.
void validate(const Plan& plan);

}  // namespace fm
