#include "executor/driver_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/executor/small_network.hpp"

namespace fm {
namespace {

/// A folder as /proc has for a process.
class Process {
 public:
  Process() { std::filesystem::create_directory(folder_.file("fdinfo")); }
  void descriptor(const std::string& text) {
    std::ofstream(folder_.file("fdinfo/" + std::to_string(count_++))) << text;
  }
  void maps(const std::string& text) { std::ofstream(folder_.file("maps")) << text; }
  DriverMemory memory() const { return read_driver_memory(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
  int count_ = 0;
};

TEST(DriverMemory, OfDrmClientsIsCountedOnce) {
  Process process;
  const std::string msm =
      "pos:\t0\nflags:\t02400002\ndrm-driver:\tmsm\ndrm-client-id:\t7\n"
      "drm-total-memory:\t9 MiB\ndrm-resident-memory:\t6 MiB\ndrm-purgeable-memory:\t0\n";
  process.descriptor(msm);
  process.descriptor(msm);  // a duplicated descriptor
  process.descriptor(
      "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t7\n"
      "drm-memory-vram:\t100 KiB\ndrm-memory-gtt: 28 KiB\n");
  process.descriptor("pos:\t0\nflags:\t0100000\nmnt_id:\t29\n");
  EXPECT_EQ(process.memory().drm, Bytes((6 << 20) + (128 << 10)));
  EXPECT_EQ(process.memory().mapped, Bytes(0));
  EXPECT_TRUE(process.memory().any());
}

TEST(DriverMemory, OfSharedBuffersIsCountedOnce) {
  Process process;
  const std::string buffer = "size:\t4096\ncount:\t2\nexp_name:\tsystem\nino:\t55\n";
  process.descriptor(buffer);
  process.descriptor(buffer);
  process.descriptor("size:\t8192\ncount:\t2\nexp_name:\tsystem\nino:\t56\n");
  EXPECT_EQ(process.memory().dma_buf, Bytes(12288));
}

TEST(DriverMemory, OfMappedDeviceFiles) {
  Process process;
  process.maps(
      "5500000000-5500010000 r-xp 00000000 fe:00 1234       /data/local/tmp/flashmem/fmexec\n"
      "7000000000-7000100000 rw-s 101000000 00:12 4321      /dev/kgsl-3d0\n"
      "7000100000-7000300000 rw-s 00000000 00:12 4322       /dev/mali0\n"
      "7000300000-7000301000 rw-s 00000000 00:0e 77         /dmabuf:\n"
      "7000400000-7000500000 rw-p 00000000 00:00 0 \n"
      "7000500000-7000600000 rw-p 00000000 00:00 0          [anon:libc_malloc]\n");
  EXPECT_EQ(process.memory().mapped, Bytes(0x100000 + 0x200000 + 0x1000));
}

TEST(DriverMemory, NothingWhereNothingIsTold) {
  Process process;
  process.descriptor("drm-driver\nnonsense\n:\nsize: many\nexp_name:\n");
  process.maps("no mapping at all\n7000-6000 rw-s 0 00:12 1 /dev/mali0\n");
  EXPECT_FALSE(process.memory().any());
  EXPECT_FALSE(read_driver_memory("/no/such/process").any());
  EXPECT_FALSE(read_driver_memory().any() && !std::filesystem::exists("/dev/dri") &&
               !std::filesystem::exists("/dev/nvidia0"));
}

}  // namespace
}  // namespace fm
