// plain_launches CASE buffer|image2d f16|f32: runs launches of small_launches.hpp as they are, not
// their logging builds, on the first device and on tensors of zeros: for the tests, under Oclgrind.
#include <cstring>
#include <string>

#include "core/diagnostics.hpp"
#include "executor/opencl_objects.hpp"
#include "executor/program_cache.hpp"
#include "tests/recorder/small_launches.hpp"

namespace fm {
namespace {

class PlainLaunches {
 public:
  PlainLaunches()
      : context_(select_device("")),
        cache_(context_, ""),
        queue_(create_queue(context_, "plain")) {}

  void run(const Plan& plan, const SmallLaunch& small) {
    std::vector<OpenClMemory> memories;
    std::vector<KernelValue> values;
    for (std::uint32_t i = 0; i < small.launch.arguments.size(); ++i) {
      const LaunchArgument& argument = small.launch.arguments[i];
      if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
        const auto index = small.index.find(i);
        memories.push_back(create(plan.tensor(tensor->tensor),
                                  index == small.index.end() ? nullptr : &index->second));
        values.emplace_back(memories.back().get());
      } else if (const auto* integer = std::get_if<IntArgument>(&argument)) {
        values.emplace_back(integer->value);
      } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
        values.emplace_back(real->value);
      }
    }
    const PlanLaunch& launch = small.launch;
    const OpenClKernel& kernel = cache_.kernel(launch.kernel, kernel_source(plan, launch),
                                               compile_options(plan, launch, false));
    set_arguments(kernel, values);
    wait_for(enqueue_kernel(queue_, kernel, launch.global, launch.local, launch.kernel),
             launch.kernel);
  }

 private:
  OpenClMemory create(const PlanTensor& tensor, const std::vector<std::int32_t>* index) {
    std::vector<std::uint8_t> bytes(tensor.bytes.count());
    if (index != nullptr) std::memcpy(bytes.data(), index->data(), bytes.size());
    if (tensor.placement == Placement::image2d) {
      const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
      OpenClMemory image = create_image(context_, extent, tensor.dtype, tensor.id);
      write_image(queue_, image, extent, bytes.data());
      return image;
    }
    OpenClMemory buffer = create_buffer(context_, tensor.bytes, CL_MEM_READ_WRITE, tensor.id);
    write_buffer(queue_, buffer, Bytes(0), bytes.data(), tensor.bytes);
    return buffer;
  }

  OpenClContext context_;
  ProgramCache cache_;
  OpenClQueue queue_;
};

ExitStatus run_case(const std::string& name, Placement placement, DataType storage) {
  PlainLaunches launches;
  for (const SmallCase& small : small_cases()) {
    if (small.name != name) continue;
    SmallPlan plan(placement, storage);
    small.add(plan);
    for (const SmallLaunch& launch : plan.launches()) launches.run(plan.plan(), launch);
    return ExitStatus::done;
  }
  throw UserError("no case '" + name + "'");
}

}  // namespace
}  // namespace fm

int main(int argc, char** argv) {
  return static_cast<int>(fm::run_main("plain_launches", [&] {
    if (argc != 4) throw fm::UserError("usage: plain_launches CASE buffer|image2d f16|f32");
    return fm::run_case(
        argv[1], std::string(argv[2]) == "image2d" ? fm::Placement::image2d : fm::Placement::buffer,
        std::string(argv[3]) == "f32" ? fm::DataType::f32 : fm::DataType::f16);
  }));
}
