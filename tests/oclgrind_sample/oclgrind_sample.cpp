// oclgrind_sample KERNEL: launches one kernel whose accesses oclgrind_test.cpp knows, on 24
// work-items in groups of 8, and prints the sum of what it wrote.
// oclgrind_sample uneven: the same on 20 work-items, so that the last group is smaller.
// oclgrind_sample endless: launches until it is killed.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

const char* const source = R"(
// Where it reads is in memory.
kernel void gather(global int* out, global const int* in) {
  const int id = get_global_id(0);
  out[id] = in[in[id] % 24];
}
kernel void histogram(global int* out, global const int* in) {
  atomic_add(&out[in[get_global_id(0)] & 3], 1);
}
// Rows of different lengths, as of a sparse matrix.
kernel void ragged(global int* out, global const int* in) {
  const int id = get_global_id(0);
  int sum = 0;
  for (int i = 0; i < id % 5; ++i) {
    if (i == 3) continue;
    sum += in[(id + i) % 24];
  }
  out[id] = sum;
}
// Leaves its loop where it finds something, and does something else then.
kernel void search(global int* out, global const int* in) {
  const int id = get_global_id(0);
  for (int i = 0; i < 6; ++i) {
    if (in[(id * 7 + i) % 24] == 0) {
      out[24 + id] = i;
      return;
    }
  }
  out[id] = 1;
}
kernel void reverse(global int* out, global const int* in) {
  local int tile[8];
  const int at = get_local_id(0);
  tile[at] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[7 - at];
}
constant int weights[3] = {1, 2, 3};
int weighted(global const int* in, int at) { return weights[in[at] % 3]; }
kernel void choose(global int* out, global const int* in) {
  const int id = get_global_id(0);
  global const int* from = in[id] > 11 ? in : out + 24;
  switch (id % 3) {
    case 0: out[id] = from[id]; break;
    case 1: out[id] = weighted(in, id); break;
    default: out[id] = 5;
  }
}
kernel void texels(global int* out, read_only image2d_t image) {
  const sampler_t edge =
      CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  const int id = get_global_id(0);
  const float4 texel = read_imagef(image, edge, (int2)(id - 2, 3 - id));
  out[id] = (int)texel.x;
}
// Every work-item takes every so manieth element; some take one more than others.
kernel void strided(global int* out, global const int* in) {
  int sum = 0;
  for (int i = get_global_id(0); i <= 100; i += get_global_size(0)) sum += in[i % 24];
  for (int i = 0; i < 8; i += 2) {
    if (sum > 40) break;
    sum += in[i];
  }
  out[get_global_id(0)] = sum;
}
kernel void uneven(global int* out, global const int* in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}
kernel void copy_together(global int* out, global const int* in) {
  local int tile[8];
  event_t copied = async_work_group_copy(tile, in + 8 * get_group_id(0), 8, 0);
  wait_group_events(1, &copied);
  out[get_global_id(0)] = tile[get_local_id(0)];
}
)";

void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::cerr << what << " failed: " << code << std::endl;
  std::exit(1);
}

cl_mem image_of_zeros(cl_context context) {
  const cl_image_format format{CL_RGBA, CL_FLOAT};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = 16;
  description.image_height = 4;
  std::vector<float> zeros(16 * 4 * 4);
  cl_int code = CL_SUCCESS;
  const cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
                                     &description, zeros.data(), &code);
  check(code, "clCreateImage");
  return image;
}

int run(const std::string& name) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  cl_int code = CL_SUCCESS;
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  const char* text = source;
  const cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  check(clBuildProgram(program, 1, &device, name == "uneven" ? "-cl-std=CL2.0" : "", nullptr,
                       nullptr),
        "clBuildProgram");
  const bool endless = name == "endless";
  const cl_kernel kernel = clCreateKernel(program, endless ? "reverse" : name.c_str(), &code);
  check(code, "clCreateKernel");
  // Every number 0 .. 23 once, in no order that a formula gives.
  std::vector<int> in(24), out(48);
  for (int i = 0; i < 24; ++i) in[static_cast<std::size_t>(i)] = (i * i * 5 + i * 7) % 24;
  const cl_mem input =
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * 24, in.data(), &code);
  const cl_mem output =
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * 48, out.data(), &code);
  const cl_mem image = image_of_zeros(context);
  check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &output), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof(cl_mem), name == "texels" ? &image : &input),
        "clSetKernelArg");
  const std::size_t items = name == "uneven" ? 20 : 24, group = 8;
  if (endless) std::cout << "running" << std::endl;
  do {  // NOLINT(bugprone-infinite-loop): until somebody ends this process
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
  } while (endless);
  check(clEnqueueReadBuffer(queue, output, CL_TRUE, 0, 4 * 48, out.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  int sum = 0;
  for (const int value : out) sum += value;
  std::cout << "sum " << sum << "\n";
  for (const cl_mem memory : {input, output, image}) clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return run(argv[1]);
  std::cerr << "usage: oclgrind_sample KERNEL|endless\n";
  return 2;
}
