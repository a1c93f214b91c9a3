#pragma once
// Runs one launch of the catalogue on the machine's OpenCL device, as the executor would: operands
// packed into their layouts, buffers between margins of NaN, outputs poisoned with NaN. After the
// run the margins must be untouched and the padding lanes of the output zero.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/opencl_objects.hpp"
#include "executor/program_cache.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/launch_builders.hpp"

namespace fm {

struct Storage {
  DataType dtype = DataType::f16;
  Placement placement = Placement::buffer;
};
const Storage half_buffer{DataType::f16, Placement::buffer};
const Storage float_buffer{DataType::f32, Placement::buffer};
const Storage half_image{DataType::f16, Placement::image2d};
const Storage float_image{DataType::f32, Placement::image2d};
inline std::string to_string(const Storage& storage) {
  return to_string(storage.dtype) + " " + to_string(storage.placement);
}

/// A tensor and its values in row-major order, as its dtype holds them.
struct HostTensor {
  PlanTensor plan;
  std::vector<float> values;
};

class KernelRunner {
 public:
  static KernelRunner& shared() {
    static KernelRunner runner;
    return runner;
  }

  /// Operands by tensor id; the written one's values are replaced by what the kernel left.
  void run(PlanLaunch launch, const std::vector<HostTensor*>& operands) {
    launch.id = "L";
    Plan plan;
    for (const HostTensor* operand : operands) plan.tensors.push_back(operand->plan);
    plan.launches.push_back(launch);
    validate_launches(plan);
    std::vector<std::unique_ptr<Object>> objects;
    std::vector<KernelValue> arguments;
    for (const LaunchArgument& argument : launch.arguments) {
      if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
        HostTensor& host = operand(operands, tensor->tensor);
        objects.push_back(create(host, tensor->write));
        arguments.push_back(objects.back()->memory());
      } else if (const auto* integer = std::get_if<IntArgument>(&argument)) {
        arguments.push_back(integer->value);
      } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
        arguments.push_back(real->value);
      }
    }
    const OpenClKernel& kernel = programs_.kernel(launch.kernel, kernel_source(plan, launch),
                                                  compile_options(plan, launch, false));
    set_arguments(kernel, arguments);
    wait_for(enqueue_kernel(queue_, kernel, launch.global, launch.local, launch.kernel), "kernel");
    for (const auto& object : objects) check(*object);
  }

 private:
  struct Object {
    HostTensor* host = nullptr;
    bool written = false;
    std::size_t bytes = 0;
    OpenClMemory parent, view;  // an image has no view
    cl_mem memory() const { return view ? view.get() : parent.get(); }
  };
  static constexpr std::size_t margin = 4096;
  static constexpr std::uint8_t poison = 0xff;  // a NaN in fp16 and fp32

  KernelRunner()
      : context_(
            (setenv("POCL_CACHE_DIR", (std::filesystem::current_path() / "pocl_cache").c_str(), 0),
             select_device(""))),
        queue_(create_queue(context_, "tests")),
        programs_(context_, "") {}

  static HostTensor& operand(const std::vector<HostTensor*>& operands, const std::string& id) {
    for (HostTensor* host : operands) {
      if (host->plan.id == id) return *host;
    }
    throw std::out_of_range(id);
  }

  std::unique_ptr<Object> create(HostTensor& host, bool written) {
    auto object = std::make_unique<Object>();
    const PlanTensor& plan = host.plan;
    object->host = &host;
    object->written = written;
    std::vector<std::uint8_t> data(storage_bytes(plan.layout, plan.dtype, plan.shape).count(),
                                   poison);
    if (!written) data = pack(plan.layout, plan.dtype, plan.shape, host.values.data());
    object->bytes = data.size();
    if (plan.placement == Placement::image2d) {
      const GridExtent extent = grid_extent(plan.layout, plan.shape);
      object->parent = create_image(context_, extent, plan.dtype, plan.id);
      write_image(queue_, object->parent, extent, data.data());
      return object;
    }
    std::vector<std::uint8_t> whole(data.size() + 2 * margin, poison);
    std::copy(data.begin(), data.end(), whole.begin() + margin);
    object->parent = create_buffer(context_, Bytes(whole.size()), CL_MEM_READ_WRITE, plan.id);
    write_buffer(queue_, object->parent, Bytes(0), whole.data(), Bytes(whole.size()));
    object->view = create_sub_buffer(object->parent, Bytes(margin), Bytes(data.size()), plan.id);
    return object;
  }

  void check(Object& object) {
    const PlanTensor& plan = object.host->plan;
    std::vector<std::uint8_t> data(object.bytes);
    if (plan.placement == Placement::image2d) {
      read_image(queue_, object.parent, grid_extent(plan.layout, plan.shape), data.data());
    } else {
      std::vector<std::uint8_t> whole(object.bytes + 2 * margin);
      read_buffer(queue_, object.parent, Bytes(0), whole.data(), Bytes(whole.size()));
      std::copy_n(whole.begin() + margin, data.size(), data.begin());
      whole.erase(whole.begin() + margin,
                  whole.begin() + static_cast<std::ptrdiff_t>(margin + object.bytes));
      for (const std::uint8_t byte : whole) {
        ASSERT_EQ(byte, poison) << "written outside " << plan.id;
      }
    }
    if (!object.written) return;
    object.host->values = unpack(plan.layout, plan.dtype, plan.shape, data.data());
    EXPECT_EQ(pack(plan.layout, plan.dtype, plan.shape, object.host->values.data()), data)
        << "padding lanes of " << plan.id << " are not zero";
  }

  OpenClContext context_;
  OpenClQueue queue_;
  ProgramCache programs_;
};

inline void run(const PlanLaunch& launch, const std::vector<HostTensor*>& operands) {
  KernelRunner::shared().run(launch, operands);
}

inline HostTensor make_tensor(const std::string& id, Layout layout, const Shape& shape,
                              const Storage& storage) {
  HostTensor tensor;
  tensor.plan.id = tensor.plan.name = id;
  tensor.plan.dtype = storage.dtype;
  tensor.plan.layout = layout;
  tensor.plan.shape = shape;
  tensor.plan.placement = layout == Layout::linear ? Placement::buffer : storage.placement;
  tensor.plan.bytes = storage_bytes(layout, storage.dtype, shape);
  tensor.values.resize(static_cast<std::size_t>(element_count(shape)));
  return tensor;
}

/// Uniform in [low, high], rounded to the tensor's dtype.
inline HostTensor random_tensor(const std::string& id, Layout layout, const Shape& shape,
                                const Storage& storage, float low = -1, float high = 1) {
  static std::mt19937 generator(20240607);
  HostTensor tensor = make_tensor(id, layout, shape, storage);
  std::uniform_real_distribution<float> uniform(low, high);
  for (float& value : tensor.values) {
    value = uniform(generator);
    if (storage.dtype == DataType::f16) value = float_from_half(half_from_float(value));
  }
  return tensor;
}

/// Calls visit(index) for every index of `shape`, in row-major order.
inline void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    visit(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

inline std::size_t flat_index(const Shape& shape, const Shape& index) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return static_cast<std::size_t>(flat);
}

/// Every element within one rounding of the stored type and `slack` of the expected value.
inline void expect_values(const HostTensor& got, const std::vector<double>& expected,
                          double slack = 4e-6) {
  ASSERT_EQ(got.values.size(), expected.size());
  const double rounding = got.plan.dtype == DataType::f16 ? 1.0 / 1024 : 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double bound = slack * (1 + std::abs(expected[i])) + rounding * std::abs(expected[i]);
    ASSERT_LE(std::abs(got.values[i] - expected[i]), bound)
        << "element " << i << " of " << got.plan.id << " is " << got.values[i] << ", not "
        << expected[i];
  }
}

}  // namespace fm
