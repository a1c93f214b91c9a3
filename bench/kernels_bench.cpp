// Kernels of the catalogue on the machine's OpenCL device, with the shapes of ViT-B/16, ResNet50
// and an OCR detector. Reported: GFLOP/s (two operations a multiply-accumulate) and bytes of
// operands a second.
#include <benchmark/benchmark.h>

#include "executor/opencl_objects.hpp"
#include "executor/program_cache.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/launch_builders.hpp"

namespace fm {
namespace {

struct Device {
  OpenClContext context{select_device("")};
  OpenClQueue queue = create_queue(context, "bench");
  ProgramCache programs{context};
};
Device& device() {
  static Device device;
  return device;
}

PlanTensor tensor(const std::string& id, Layout layout, const Shape& shape, Placement placement,
                  DataType dtype = DataType::f16) {
  PlanTensor t;
  t.id = t.name = id;
  t.layout = layout;
  t.shape = shape;
  t.placement = layout == Layout::linear ? Placement::buffer : placement;
  t.dtype = dtype;
  t.bytes = storage_bytes(layout, dtype, shape);
  return t;
}

OpenClMemory memory_of(const PlanTensor& t) {
  Device& d = device();
  if (t.placement == Placement::image2d) {
    OpenClMemory image = create_image(d.context, grid_extent(t.layout, t.shape), t.dtype, t.id);
    fill_image(d.queue, image, grid_extent(t.layout, t.shape), {0.5f, 0.25f, -0.5f, 0.125f});
    return image;
  }
  OpenClMemory buffer = create_buffer(d.context, t.bytes, CL_MEM_READ_WRITE, t.id);
  fill_buffer(d.queue, buffer, Bytes(0), Bytes(t.bytes.count() / 4 * 4), 0x34003400);
  return buffer;
}

void time_launch(benchmark::State& state, const PlanLaunch& launch,
                 const std::vector<PlanTensor>& tensors) {
  Device& d = device();
  Plan plan;
  plan.tensors = tensors;
  std::vector<OpenClMemory> memory;
  std::vector<KernelValue> values;
  std::uint64_t bytes = 0;
  for (const LaunchArgument& argument : launch.arguments) {
    if (const auto* t = std::get_if<TensorArgument>(&argument)) {
      memory.push_back(memory_of(plan.tensor(t->tensor)));
      bytes += plan.tensor(t->tensor).bytes.count();
      values.push_back(memory.back().get());
    } else if (const auto* i = std::get_if<IntArgument>(&argument)) {
      values.push_back(i->value);
    } else {
      values.push_back(std::get<FloatArgument>(argument).value);
    }
  }
  const OpenClKernel& kernel = d.programs.kernel(launch.kernel, kernel_source(launch.kernel),
                                                 compile_options(plan, launch, false));
  set_arguments(kernel, values);
  wait_for(enqueue_kernel(d.queue, kernel, launch.global, launch.local, launch.kernel), "warm-up");
  for (auto _ : state) {
    wait_for(enqueue_kernel(d.queue, kernel, launch.global, launch.local, launch.kernel), "launch");
  }
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(launch.macs),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

Placement placement_of(const benchmark::State& state) {
  return state.range(0) == 0 ? Placement::buffer : Placement::image2d;
}

/// range: image, batch, M, K, N, B transposed, tile rows, tile columns4, local memory
void matmul(benchmark::State& state) {
  const Placement place = placement_of(state);
  const std::int64_t batch = state.range(1), m = state.range(2), k = state.range(3),
                     n = state.range(4);
  const bool transposed = state.range(5) != 0;
  const Shape b_shape = transposed ? Shape{batch, n, k} : Shape{batch, k, n};
  const PlanTensor a = tensor("a", Layout::rows, {batch, m, k}, place);
  const PlanTensor b = tensor("b", Layout::rows, b_shape, place);
  const PlanTensor bias = tensor("bias", Layout::rows, {n}, place);
  const PlanTensor c = tensor("c", Layout::rows, {batch, m, n}, place);
  MatmulOperands operands;
  operands.a = &a;
  operands.b = &b;
  operands.b_transposed = transposed;
  operands.bias = &bias;
  operands.c = &c;
  const TileChoice tile{static_cast<int>(state.range(6)), static_cast<int>(state.range(7)),
                        state.range(8) != 0};
  time_launch(state, build_matmul(operands, tile), {a, b, bias, c});
}
void matmul_shapes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t image : {0, 1}) {
    bench->Args({image, 1, 197, 768, 3072, 0, 0, 0, 0});
    bench->Args({image, 1, 197, 3072, 768, 0, 0, 0, 0});
    bench->Args({image, 1, 197, 768, 768, 0, 0, 0, 0});
    bench->Args({image, 12, 197, 64, 197, 1, 0, 0, 0});
    bench->Args({image, 12, 197, 197, 64, 0, 0, 0, 0});
    bench->Args({image, 1, 1, 768, 1000, 0, 0, 0, 0});
  }
  bench->Args({0, 1, 197, 768, 3072, 0, 4, 2, 1});
}
BENCHMARK(matmul)->Apply(matmul_shapes)->Unit(benchmark::kMillisecond)->UseRealTime();

/// range: image, C, H, O, kernel, stride, depthwise
void convolution(benchmark::State& state) {
  const Placement place = placement_of(state);
  const std::int64_t channels = state.range(1), size = state.range(2), outputs = state.range(3);
  const int kernel = static_cast<int>(state.range(4)), stride = static_cast<int>(state.range(5));
  const bool depthwise = state.range(6) != 0;
  const int pad = (kernel - stride + 1) / 2;
  const std::int64_t out = (size + 2 * pad - kernel) / stride + 1;
  const PlanTensor x = tensor("x", Layout::channels, {1, channels, size, size}, place);
  const PlanTensor filter =
      tensor("filter", depthwise ? Layout::depthwise_filter : Layout::conv_filter,
             {outputs, depthwise ? 1 : channels, kernel, kernel}, place);
  const PlanTensor bias = tensor("bias", Layout::rows, {outputs}, place);
  const PlanTensor y = tensor("y", Layout::channels, {1, outputs, out, out}, place);
  ConvOperands operands;
  operands.x = &x;
  operands.filter = &filter;
  operands.bias = &bias;
  operands.y = &y;
  operands.geometry.kernel = {kernel, kernel};
  operands.geometry.stride = {stride, stride};
  operands.geometry.pad = {pad, pad, pad, pad};
  operands.geometry.groups = depthwise ? static_cast<int>(channels) : 1;
  operands.epilogue.activation = Activation::relu;
  time_launch(state, build_convolution(operands), {x, filter, bias, y});
}
void convolution_shapes(benchmark::internal::Benchmark* bench) {
  bench->Args({0, 3, 224, 768, 16, 16, 0});  // its filter is too tall for an image
  for (const std::int64_t image : {0, 1}) {
    bench->Args({image, 3, 224, 64, 7, 2, 0});
    bench->Args({image, 64, 56, 64, 3, 1, 0});
    bench->Args({image, 64, 56, 256, 1, 1, 0});
    bench->Args({image, 512, 7, 512, 3, 1, 0});
    bench->Args({image, 2048, 7, 512, 1, 1, 0});
    bench->Args({image, 96, 160, 96, 5, 1, 1});
  }
}
BENCHMARK(convolution)->Apply(convolution_shapes)->Unit(benchmark::kMillisecond)->UseRealTime();

/// range: image
void softmax(benchmark::State& state) {
  const PlanTensor x = tensor("x", Layout::rows, {12, 197, 197}, placement_of(state));
  const PlanTensor y = tensor("y", Layout::rows, {12, 197, 197}, placement_of(state));
  time_launch(state, build_softmax(x, nullptr, 1, y), {x, y});
}
BENCHMARK(softmax)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void layer_norm(benchmark::State& state) {
  const PlanTensor x = tensor("x", Layout::rows, {197, 768}, placement_of(state));
  const PlanTensor w = tensor("w", Layout::rows, {768}, placement_of(state));
  const PlanTensor y = tensor("y", Layout::rows, {197, 768}, placement_of(state));
  time_launch(state, build_layer_norm(x, w, &w, 1e-6f, y), {x, w, y});
}
BENCHMARK(layer_norm)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void gelu(benchmark::State& state) {
  const PlanTensor x = tensor("x", Layout::rows, {197, 3072}, placement_of(state));
  const PlanTensor y = tensor("y", Layout::rows, {197, 3072}, placement_of(state));
  Epilogue epilogue;
  epilogue.activation = Activation::gelu_erf;
  time_launch(state, build_unary(x, y, epilogue), {x, y});
}
BENCHMARK(gelu)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void split_heads(benchmark::State& state) {
  const PlanTensor x = tensor("x", Layout::rows, {197, 2304}, placement_of(state));
  const PlanTensor y = tensor("y", Layout::rows, {12, 197, 64}, placement_of(state));
  time_launch(state, build_move(x, y, {64, 2304, 1}, 768), {x, y});
}
BENCHMARK(split_heads)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void image_to_channels(benchmark::State& state) {
  const PlanTensor x =
      tensor("x", Layout::linear, {1, 3, 224, 224}, Placement::buffer, DataType::f32);
  const PlanTensor y = tensor("y", Layout::channels, {1, 3, 224, 224}, placement_of(state));
  time_launch(state, build_move(x, y, {150528, 50176, 224, 1}), {x, y});
}
BENCHMARK(image_to_channels)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace fm
