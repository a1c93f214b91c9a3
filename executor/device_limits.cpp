#include "executor/device_limits.hpp"

#include "core/diagnostics.hpp"
#include "core/plan_streams.hpp"
#include "executor/opencl_objects.hpp"
#include "executor/plan_names.hpp"
#include "executor/pool_parts.hpp"

namespace fm {
namespace {

std::string count(Bytes bytes) { return std::to_string(bytes.count()) + " bytes"; }

constexpr const char* smaller_tensor =
    "store it in half with `fmplan --storage f16`, or choose another device with --device";

void check_allocation(const OpenClDevice& device, Bytes bytes, const std::string& name,
                      const std::string& remedy) {
  if (bytes <= device.allocation_limit) return;
  throw UserError("allocation too large for the device: " + name + " takes " + count(bytes) +
                  ", but " + device.name + " allows at most " + count(device.allocation_limit) +
                  " in one object (CL_DEVICE_MAX_MEM_ALLOC_SIZE); " + remedy);
}

void check_tensors(const Plan& plan, const OpenClDevice& device) {
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.placement == Placement::image2d) {
      check_image_limits(device, grid_extent(tensor.layout, tensor.shape), named(tensor));
    } else if (tensor.role != TensorRole::weight && tensor.role != TensorRole::gathered &&
               tensor.offset % device.sub_buffer_alignment != Bytes(0)) {
      throw UserError(named(tensor) + " lies at byte " + std::to_string(tensor.offset.count()) +
                      " of its pool, but " + device.name + " aligns sub-buffers to " +
                      count(device.sub_buffer_alignment));
    }
    if (tensor.role == TensorRole::weight) {
      check_allocation(device, tensor.bytes, named(tensor), smaller_tensor);
    }
  }
}

void check_pools(const Plan& plan, const OpenClDevice& device) {
  for (const Pool& pool : plan.pools) {
    const std::string name = named(pool);
    if (pool.placement == Placement::image2d) {
      check_image_limits(device, pool.extent, name);
      check_allocation(device, pool.bytes, name, smaller_tensor);
    } else {
      parts_of(plan, pool, device.allocation_limit);
    }
  }
}

void check_launch(const PlanLaunch& launch, const OpenClDevice& device) {
  const std::string name = named(launch);
  const std::uint64_t items = launch.local[0] * launch.local[1] * launch.local[2];
  if (items > device.work_group_limit) {
    throw UserError(name + " has work-groups of " + std::to_string(items) + " work-items, but " +
                    device.name + " allows " + std::to_string(device.work_group_limit));
  }
  for (std::size_t d = 0; d < 3 && d < device.work_item_limits.size(); ++d) {
    if (launch.local[d] > device.work_item_limits[d]) {
      throw UserError(name + ": local size " + std::to_string(launch.local[d]) + " of dimension " +
                      std::to_string(d) + " exceeds the " +
                      std::to_string(device.work_item_limits[d]) + " of " + device.name);
    }
  }
  Bytes local;
  for (const LaunchArgument& argument : launch.arguments) {
    if (const auto* memory = std::get_if<LocalArgument>(&argument)) local += memory->bytes;
  }
  if (local > device.local_memory) {
    throw UserError(name + " takes " + count(local) + " of local memory, but " + device.name +
                    " has " + count(device.local_memory));
  }
}

void check_written_images(const Plan& plan, const PlanLaunch& launch, const OpenClDevice& device) {
  auto images = static_cast<std::uint64_t>(stream_slots(launch));
  if (images == 0) return;  // any device lets a kernel write one image
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&argument);
    images +=
        used != nullptr && used->write && plan.tensor(used->tensor).placement == Placement::image2d;
  }
  if (images <= device.write_image_limit) return;
  throw UserError(named(launch) + " writes " + std::to_string(images) +
                  " images, those it streams weights to included, but " + device.name + " allows " +
                  std::to_string(device.write_image_limit) + " (CL_DEVICE_MAX_WRITE_IMAGE_ARGS)");
}

}  // namespace

void check_device_limits(const Plan& plan, const OpenClDevice& device) {
  if (plan.accumulate == DataType::f16 && !device.computes_in_half()) {
    throw UserError("the plan accumulates in half, but " + device.name +
                    " has no cl_khr_fp16; plan with --accumulate float");
  }
  check_pools(plan, device);
  check_allocation(device, plan.staging_ring_bytes, "the staging ring",
                   "plan with a smaller `fmplan --ring`");
  check_tensors(plan, device);
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind != LaunchKind::kernel) continue;
    check_launch(launch, device);
    check_written_images(plan, launch, device);
  }
}

}  // namespace fm
