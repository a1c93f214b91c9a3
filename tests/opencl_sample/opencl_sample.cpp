// opencl_sample MODE: a program like others', with buffers, images, kernels, events and threads.
// Prints results and error codes: they must be the same with and without a layer.
//
//   plain         buffers and images, all kinds of transfers, one in-order queue
//   out-of-order  a chain and a barrier on an out-of-order queue, a user event, a callback
//   threads       two threads share a queue
//   mistakes      calls that fail, and what the program is told of its queue and events
//   endless       launches until it is killed
//   load LAUNCHES ROUNDS  prints the seconds, and CPU seconds, of launches as long as ROUNDS says
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

const char* const source = R"(
kernel void scale(global float* x, float factor) {
  x[get_global_id(0)] *= factor;
}
kernel void sum_texels(read_only image2d_t image, global float* out) {
  const sampler_t at = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  const int2 id = (int2)(get_global_id(0), get_global_id(1));
  const float4 texel = read_imagef(image, at, id);
  out[id.y * get_global_size(0) + id.x] = texel.x + texel.y + texel.z + texel.w;
}
kernel void spin(global float* x, int rounds) {
  float value = x[get_global_id(0)];
  for (int i = 0; i < rounds; ++i) value = fma(value, 0.999f, 0.5f);
  x[get_global_id(0)] = value;
}
)";

void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::cerr << what << " failed: " << code << std::endl;
  std::exit(1);
}

struct Program {
  explicit Program(cl_command_queue_properties properties) {
    cl_platform_id platform = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    cl_int code = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue = clCreateCommandQueue(context, device, properties, &code);
    check(code, "clCreateCommandQueue");
    const char* text = source;
    program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  }
  ~Program() {
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  cl_kernel kernel(const char* name) const {
    cl_int code = CL_SUCCESS;
    const cl_kernel made = clCreateKernel(program, name, &code);
    check(code, name);
    return made;
  }
  cl_mem buffer(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE,
                void* host = nullptr) const {
    cl_int code = CL_SUCCESS;
    const cl_mem made = clCreateBuffer(context, flags, bytes, host, &code);
    check(code, "clCreateBuffer");
    return made;
  }

  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
};

void scale(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, float factor, std::size_t items,
           const std::vector<cl_event>& waits = {}, cl_event* event = nullptr) {
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof factor, &factor), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr,
                               static_cast<cl_uint>(waits.size()),
                               waits.empty() ? nullptr : waits.data(), event),
        "clEnqueueNDRangeKernel");
}

void print(const char* name, const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  std::cout << name << " " << values.front() << " " << values.back() << " " << sum << "\n";
}

// 1 MiB buffer, a quarter of it as a sub-buffer, a 4 KiB buffer with contents, a 64 x 32 image of
// float4 (32 KiB) and 8 KiB for its sums.
void plain() {
  const Program p(0);
  const cl_kernel scaling = p.kernel("scale"), summing = p.kernel("sum_texels");
  std::vector<float> host(1 << 18, 1);
  const cl_mem big = p.buffer(host.size() * 4);
  check(clEnqueueWriteBuffer(p.queue, big, CL_FALSE, 0, host.size() * 4, host.data(), 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer");
  scale(p.queue, scaling, big, 2, host.size());
  const cl_buffer_region quarter{host.size(), host.size()};
  cl_int code = CL_SUCCESS;
  const cl_mem part =
      clCreateSubBuffer(big, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &quarter, &code);
  check(code, "clCreateSubBuffer");
  scale(p.queue, scaling, part, 3, host.size() / 4);
  const float pattern = 5;
  check(clEnqueueFillBuffer(p.queue, big, &pattern, sizeof pattern, 0, 1024, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  std::vector<float> small_host(1024, 7);
  const cl_mem small = p.buffer(4096, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, small_host.data());
  check(clEnqueueCopyBuffer(p.queue, small, big, 0, 1024, 4096, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  check(clEnqueueReadBuffer(p.queue, big, CL_TRUE, 0, host.size() * 4, host.data(), 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  print("big", host);
  clReleaseMemObject(part);
  clReleaseMemObject(big);
  // The driver keeps what its last commands used until it has cleaned up behind them.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));

  const cl_image_format format{CL_RGBA, CL_FLOAT};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = 64;
  description.image_height = 32;
  const cl_mem image =
      clCreateImage(p.context, CL_MEM_READ_ONLY, &format, &description, nullptr, &code);
  check(code, "clCreateImage");
  const std::vector<float> texels(64 * 32 * 4, 0.25F);
  const std::size_t origin[3] = {0, 0, 0}, region[3] = {64, 32, 1}, half[3] = {64, 16, 1};
  check(clEnqueueWriteImage(p.queue, image, CL_TRUE, origin, region, 0, 0, texels.data(), 0,
                            nullptr, nullptr),
        "clEnqueueWriteImage");
  const std::size_t lower[3] = {0, 16, 0};
  std::vector<float> staged(64 * 16 * 4, 0.5F);
  const cl_mem staging =
      p.buffer(staged.size() * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, staged.data());
  check(clEnqueueCopyBufferToImage(p.queue, staging, image, 0, lower, half, 0, nullptr, nullptr),
        "clEnqueueCopyBufferToImage");
  const cl_mem sums = p.buffer(64 * 32 * 4);
  check(clSetKernelArg(summing, 0, sizeof image, &image), "clSetKernelArg");
  check(clSetKernelArg(summing, 1, sizeof sums, &sums), "clSetKernelArg");
  const std::size_t global[2] = {64, 32}, local[2] = {8, 8};
  check(clEnqueueNDRangeKernel(p.queue, summing, 2, nullptr, global, local, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  const auto* const mapped = static_cast<const float*>(clEnqueueMapBuffer(
      p.queue, sums, CL_TRUE, CL_MAP_READ, 0, 64 * 32 * 4, 0, nullptr, nullptr, &code));
  check(code, "clEnqueueMapBuffer");
  print("sums", {mapped, mapped + 64 * 32});
  check(clEnqueueUnmapMemObject(p.queue, sums, const_cast<float*>(mapped), 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject");
  check(clFinish(p.queue), "clFinish");
  for (const cl_mem memory : {small, image, staging, sums}) clReleaseMemObject(memory);
  clReleaseKernel(scaling);
  clReleaseKernel(summing);
}

std::atomic<int> callbacks{0};

void out_of_order() {
  const Program p(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const cl_kernel scaling = p.kernel("scale");
  std::vector<float> host(4096, 1);
  const cl_mem a = p.buffer(16384), b = p.buffer(16384);
  cl_int code = CL_SUCCESS;
  const cl_event start = clCreateUserEvent(p.context, &code);
  check(code, "clCreateUserEvent");
  cl_event written[2], scaled = nullptr;
  check(clEnqueueWriteBuffer(p.queue, a, CL_FALSE, 0, 16384, host.data(), 1, &start, &written[0]),
        "clEnqueueWriteBuffer");
  check(clEnqueueWriteBuffer(p.queue, b, CL_FALSE, 0, 16384, host.data(), 0, nullptr, &written[1]),
        "clEnqueueWriteBuffer");
  scale(p.queue, scaling, a, 2, host.size(), {written[0]}, &scaled);
  check(clSetEventCallback(
            scaled, CL_COMPLETE, [](cl_event, cl_int, void*) { ++callbacks; }, nullptr),
        "clSetEventCallback");
  scale(p.queue, scaling, b, 3, host.size(), {written[1]});
  check(clSetUserEventStatus(start, CL_COMPLETE), "clSetUserEventStatus");
  check(clEnqueueBarrierWithWaitList(p.queue, 0, nullptr, nullptr), "clEnqueueBarrier");
  for (int i = 0; i < 100; ++i) scale(p.queue, scaling, i % 2 == 0 ? a : b, 1, host.size());
  check(clEnqueueBarrierWithWaitList(p.queue, 0, nullptr, nullptr), "clEnqueueBarrier");
  cl_event copied = nullptr;
  check(clEnqueueCopyBuffer(p.queue, a, b, 0, 8192, 4096, 0, nullptr, &copied), "copy");
  check(clEnqueueReadBuffer(p.queue, b, CL_TRUE, 0, 16384, host.data(), 1, &copied, nullptr),
        "clEnqueueReadBuffer");
  check(clFinish(p.queue), "clFinish");
  print("b", host);
  while (callbacks == 0) std::this_thread::yield();
  std::cout << "callbacks " << callbacks << "\n";
  for (const cl_event event : {start, written[0], written[1], scaled, copied}) {
    clReleaseEvent(event);
  }
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseKernel(scaling);
}

void threads() {
  const Program p(0);
  std::vector<std::thread> workers;
  std::vector<std::vector<float>> results(2, std::vector<float>(1024, 1));
  for (std::size_t i = 0; i < results.size(); ++i) {
    workers.emplace_back([&p, &mine = results[i], i] {
      const cl_kernel scaling = p.kernel("scale");
      for (int round = 0; round < 20; ++round) {
        const cl_mem buffer = p.buffer(4096);
        check(clEnqueueWriteBuffer(p.queue, buffer, CL_FALSE, 0, 4096, mine.data(), 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
        scale(p.queue, scaling, buffer, i == 0 ? 1.5F : 0.5F, mine.size());
        check(clEnqueueReadBuffer(p.queue, buffer, CL_TRUE, 0, 4096, mine.data(), 0, nullptr,
                                  nullptr),
              "clEnqueueReadBuffer");
        clReleaseMemObject(buffer);
      }
      clReleaseKernel(scaling);
    });
  }
  for (std::thread& worker : workers) worker.join();
  print("first", results[0]);
  print("second", results[1]);
}

void mistakes() {
  const Program p(0);
  const cl_kernel scaling = p.kernel("scale");
  const cl_mem buffer = p.buffer(4096);
  std::vector<float> host(1024, 1);
  const std::size_t items = 1024, nothing = 0;
  std::cout
      << "launch without arguments "
      << clEnqueueNDRangeKernel(p.queue, scaling, 1, nullptr, &items, nullptr, 0, nullptr, nullptr)
      << "\nwrite outside "
      << clEnqueueWriteBuffer(p.queue, buffer, CL_TRUE, 4, 4096, host.data(), 0, nullptr, nullptr)
      << "\nread of nothing "
      << clEnqueueReadBuffer(p.queue, buffer, CL_TRUE, 0, nothing, nullptr, 0, nullptr, nullptr)
      << "\n";
  cl_int code = CL_SUCCESS;
  const cl_mem none = clCreateBuffer(p.context, CL_MEM_READ_WRITE, 0, nullptr, &code);
  std::cout << "buffer of nothing " << (none == nullptr) << " " << code << "\n";
  cl_command_queue_properties properties = 0;
  check(
      clGetCommandQueueInfo(p.queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr),
      "clGetCommandQueueInfo");
  std::cout << "queue properties " << properties << "\n";
  cl_event scaled = nullptr;
  scale(p.queue, scaling, buffer, 1, items, {}, &scaled);
  check(clWaitForEvents(1, &scaled), "clWaitForEvents");
  cl_ulong time = 0;
  std::cout << "profiling "
            << clGetEventProfilingInfo(scaled, CL_PROFILING_COMMAND_START, sizeof time, &time,
                                       nullptr)
            << "\n";
  clReleaseEvent(scaled);
  clReleaseMemObject(buffer);
  clReleaseKernel(scaling);
}

struct Seconds {
  double wall = 0, cpu = 0;  ///< cpu: of the whole process
};

/// Launches of a queue like an inference's: many in flight, then a wait.
Seconds load(const Program& p, cl_kernel kernel, cl_mem buffer, int launches, int rounds) {
  const std::size_t items = 4096;
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof rounds, &rounds), "clSetKernelArg");
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  for (int i = 0; i < launches; ++i) {
    check(clEnqueueNDRangeKernel(p.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    if (i % 100 == 99) check(clFinish(p.queue), "clFinish");
  }
  check(clFinish(p.queue), "clFinish");
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC};
}

void load_of(int launches, int rounds) {
  const Program p(0);
  const cl_kernel spin = p.kernel("spin");
  const cl_mem buffer = p.buffer(16384);
  const float zero = 0;
  check(clEnqueueFillBuffer(p.queue, buffer, &zero, sizeof zero, 0, 16384, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  load(p, spin, buffer, 10, rounds);  // the driver compiles at the first launch
  const Seconds taken = load(p, spin, buffer, launches, rounds);
  std::cout << taken.wall << " " << taken.cpu << "\n";
  clReleaseMemObject(buffer);
  clReleaseKernel(spin);
}

[[noreturn]] void endless() {
  const Program p(0);
  const cl_kernel spin = p.kernel("spin");
  const cl_mem buffer = p.buffer(16384);
  std::cout << "running" << std::endl;
  for (;;) load(p, spin, buffer, 100, 100);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "plain") return plain(), 0;
  if (mode == "out-of-order") return out_of_order(), 0;
  if (mode == "threads") return threads(), 0;
  if (mode == "mistakes") return mistakes(), 0;
  if (mode == "endless") endless();
  if (mode == "load" && argc == 4) return load_of(std::atoi(argv[2]), std::atoi(argv[3])), 0;
  std::cerr << "usage: opencl_sample plain|out-of-order|threads|mistakes|endless|load LAUNCHES "
               "ROUNDS\n";
  return 2;
}
