#pragma once
// A witness that knows nothing of the access macros' recording build: the plain build is run on
// memory where everything the trace does not read is NaN and everything is NaN where results go.
// The results must hold no NaN where the trace writes, and nothing may be written elsewhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/access_expander.hpp"
#include "kernels/catalogue.hpp"
#include "tests/recorder/recorded_device.hpp"

namespace fm {

class PlainWitness {
 public:
  PlainWitness(const Plan& plan, const PlanLaunch& launch, const trace::AccessProgram& program,
               const IndexBuffers& index)
      : plan_(plan), launch_(launch), program_(program), index_(index) {
    for (std::uint32_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* argument = std::get_if<TensorArgument>(&launch.arguments[i]);
      if (!argument) continue;
      Memory& memory = memories_[i];
      memory.tensor = &plan.tensor(argument->tensor);
      memory.write = argument->write;
      memory.touched.resize(memory.tensor->bytes.count());
    }
    mark_touched();
  }

  void expect_plain_build_agrees() {
    RecordedDevice& device = RecordedDevice::get();
    const OpenClQueue queue = create_queue(device.context, "plain");
    std::vector<KernelValue> values;
    for (std::uint32_t i = 0; i < launch_.arguments.size(); ++i) {
      const LaunchArgument& argument = launch_.arguments[i];
      if (std::holds_alternative<TensorArgument>(argument)) {
        values.emplace_back(create(i, queue));
      } else if (const auto* integer = std::get_if<IntArgument>(&argument)) {
        values.emplace_back(integer->value);
      } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
        values.emplace_back(real->value);
      }
    }
    const OpenClKernel& kernel = device.cache.kernel(launch_.kernel, kernel_source(plan_, launch_),
                                                     compile_options(plan_, launch_, false));
    set_arguments(kernel, values);
    wait_for(enqueue_kernel(queue, kernel, launch_.global, launch_.local, launch_.kernel),
             launch_.kernel);
    for (auto& [argument, memory] : memories_) {
      if (memory.write) check_written(argument, memory, queue);
    }
  }

 private:
  struct Memory {
    const PlanTensor* tensor = nullptr;
    bool write = false;
    std::vector<bool> touched;  // by byte
    OpenClMemory object;
  };

  void mark_touched() {
    const IndexValues values = index_values(program_, index_);
    const AccessExpander expander(program_, values);
    for (std::uint64_t group = 0; group < group_total(program_); ++group) {
      for (std::uint32_t item = 0; item < items_per_group(program_); ++item) {
        for (const ItemAccess& access : expander.item(group_at(program_, group), item)) {
          const trace::Site& site = program_.sites(static_cast<int>(access.site));
          if (site.space() != trace::LOCAL) mark(site, access);
        }
      }
    }
  }

  void mark(const trace::Site& site, const ItemAccess& access) {
    Memory& memory = memories_.at(site.argument());
    EXPECT_EQ(site.write(), memory.write);
    std::int64_t begin = access.x;
    if (site.space() == trace::IMAGE) {
      const GridExtent extent = grid_extent(memory.tensor->layout, memory.tensor->shape);
      const auto width = static_cast<std::int64_t>(extent.width);
      const auto height = static_cast<std::int64_t>(extent.height);
      const bool inside = access.x >= 0 && access.x < width && access.y >= 0 && access.y < height;
      if (site.write() && !inside) return;  // dropped by the device
      const std::int64_t x = std::clamp<std::int64_t>(access.x, 0, width - 1);
      const std::int64_t y = std::clamp<std::int64_t>(access.y, 0, height - 1);
      begin = (y * width + x) * site.bytes();
    }
    for (std::int64_t byte = begin; byte < begin + site.bytes(); ++byte) {
      memory.touched.at(static_cast<std::size_t>(byte)) = true;
    }
  }

  cl_mem create(std::uint32_t argument, const OpenClQueue& queue) {
    Memory& memory = memories_.at(argument);
    const PlanTensor& tensor = *memory.tensor;
    const OpenClContext& context = RecordedDevice::get().context;
    const std::vector<std::uint8_t> bytes = contents(argument, memory);
    if (tensor.placement == Placement::image2d) {
      const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
      memory.object = create_image(context, extent, tensor.dtype, tensor.id);
      write_image(queue, memory.object, extent, bytes.data());
    } else {
      memory.object = create_buffer(context, tensor.bytes, CL_MEM_READ_WRITE, tensor.id);
      write_buffer(queue, memory.object, Bytes(0), bytes.data(), tensor.bytes);
    }
    return memory.object.get();
  }

  /// NaN everywhere but where the trace reads.
  std::vector<std::uint8_t> contents(std::uint32_t argument, const Memory& memory) {
    std::vector<std::uint8_t> bytes(memory.tensor->bytes.count(), 0xff);
    if (const auto index = index_.find(argument); index != index_.end()) {
      std::memcpy(bytes.data(), index->second.data(), bytes.size());
      return bytes;
    }
    const std::size_t size = size_of(memory.tensor->dtype).count();
    for (std::size_t at = 0; !memory.write && at < bytes.size(); at += size) {
      if (!memory.touched[at]) continue;
      const float value = 0.25f + static_cast<float>(random_() % 1024) / 2048.0f;
      if (size == 2) {
        const std::uint16_t half = half_from_float(value);
        std::memcpy(&bytes[at], &half, 2);
      } else {
        std::memcpy(&bytes[at], &value, 4);
      }
    }
    return bytes;
  }

  void check_written(std::uint32_t argument, const Memory& memory, const OpenClQueue& queue) {
    const PlanTensor& tensor = *memory.tensor;
    std::vector<std::uint8_t> bytes(tensor.bytes.count());
    if (tensor.placement == Placement::image2d) {
      read_image(queue, memory.object, grid_extent(tensor.layout, tensor.shape), bytes.data());
    } else {
      read_buffer(queue, memory.object, Bytes(0), bytes.data(), tensor.bytes);
    }
    const std::size_t size = size_of(tensor.dtype).count();
    std::size_t nan_where_written = 0, written_elsewhere = 0;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      float value = 0;
      std::uint16_t half = 0;
      std::memcpy(size == 2 ? static_cast<void*>(&half) : &value, &bytes[at], size);
      if (size == 2) value = float_from_half(half);
      (memory.touched[at] ? nan_where_written : written_elsewhere) +=
          std::isnan(value) == memory.touched[at];
    }
    EXPECT_EQ(nan_where_written, 0u) << launch_.kernel << " argument " << argument
                                     << ": the kernel reads what the trace does not, or does not "
                                        "write what the trace does";
    EXPECT_EQ(written_elsewhere, 0u) << launch_.kernel << " argument " << argument
                                     << ": the kernel writes what the trace does not";
  }

  const Plan& plan_;
  const PlanLaunch& launch_;
  const trace::AccessProgram& program_;
  const IndexBuffers& index_;
  std::map<std::uint32_t, Memory> memories_;  // by argument
  std::mt19937 random_{1};
};

}  // namespace fm
