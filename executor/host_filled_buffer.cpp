#include "executor/host_filled_buffer.hpp"

namespace fm {
namespace {

void CL_CALLBACK let_go(cl_mem, void* pages) {
  delete static_cast<std::shared_ptr<HostPages>*>(pages);
}

/// The pages live as long as the object: commands may keep it after its release.
OpenClMemory create_over(const std::shared_ptr<HostPages>& pages, const OpenClContext& context,
                         Bytes bytes, const std::string& name) {
  cl_int code = CL_SUCCESS;
  OpenClMemory buffer(opencl().clCreateBuffer(
      context.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes.count(), pages->data(), &code));
  if (code != CL_SUCCESS) {
    check_opencl(code, "clCreateBuffer",
                 "creating a buffer of " + std::to_string(bytes.count()) + " bytes for " + name);
  }
  auto kept = std::make_unique<std::shared_ptr<HostPages>>(pages);
  check_opencl(opencl().clSetMemObjectDestructorCallback(buffer.get(), let_go, kept.get()),
               "clSetMemObjectDestructorCallback", "handing over the memory of " + name);
  kept.release();
  return buffer;
}

}  // namespace

HostFilledBuffer::HostFilledBuffer(const OpenClContext& context, Bytes bytes,
                                   const std::string& name)
    : context_(&context), bytes_(bytes), name_(name) {
  if (context.device().computes_in_host_memory()) {
    pages_ = std::make_shared<HostPages>(bytes);
    hand_back();
  } else {
    memory_ = create_buffer(context, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, name);
  }
}

std::uint8_t* HostFilledBuffer::take() {
  memory_.reset();
  return pages_->data();
}

void HostFilledBuffer::hand_back() { memory_ = create_over(pages_, *context_, bytes_, name_); }

}  // namespace fm
