// Reads from storage, past the page cache.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <random>

#include "core/diagnostics.hpp"
#include "executor/probe/measurements.hpp"

namespace fm {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
constexpr std::uint64_t file_bytes = 128 * mib;
constexpr std::size_t alignment = 4096;

class AlignedBytes {
 public:
  explicit AlignedBytes(std::uint64_t bytes)
      : data_(static_cast<std::uint8_t*>(std::aligned_alloc(alignment, bytes))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  ~AlignedBytes() { std::free(data_); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_;
};

/// Gone as soon as it is closed: it has no name.
class DiskFile {
 public:
  explicit DiskFile(const std::string& folder) {
    std::string path = folder + "/fmprobe-XXXXXX";
    const int written = mkstemp(path.data());
    if (written < 0) throw UserError(folder + ": no file can be made: " + std::strerror(errno));
    direct_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
    unlink(path.c_str());
    if (direct_ >= 0) write(written, folder);
    close(written);
  }
  ~DiskFile() {
    if (direct_ >= 0) close(direct_);
  }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  bool is_direct() const { return direct_ >= 0; }
  void read(std::uint64_t offset, std::uint64_t bytes, std::uint8_t* to) const {
    const ssize_t got = pread(direct_, to, bytes, static_cast<off_t>(offset));
    if (got != static_cast<ssize_t>(bytes)) {
      throw DeviceError(std::string("reading from storage failed: ") +
                        (got < 0 ? std::strerror(errno) : "it ended early"));
    }
  }

 private:
  /// Not zeros: storage may keep those without keeping them.
  static void write(int file, const std::string& folder) {
    std::vector<std::uint32_t> block(mib / 4);
    std::mt19937 random(1);
    for (std::uint32_t& word : block) word = static_cast<std::uint32_t>(random());
    for (std::uint64_t done = 0; done < file_bytes; done += mib) {
      block[0] = static_cast<std::uint32_t>(done);
      if (::write(file, block.data(), mib) == static_cast<ssize_t>(mib)) continue;
      throw DeviceError(folder + ": writing 128 MiB to read again failed: " + std::strerror(errno) +
                        "; name another folder with --disk-folder");
    }
    fsync(file);
  }
  int direct_ = -1;
};

/// `depth` threads take the next request each until `bytes` are read.
Sample read_all(const DiskFile& file, std::uint64_t request, std::uint64_t bytes, unsigned depth) {
  static std::atomic<std::uint64_t> place{0};  // where no measurement has read lately
  const std::uint64_t first = place.fetch_add(bytes) / alignment * alignment;
  std::atomic<std::uint64_t> next{0};
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::future<void>> readers;
  for (unsigned i = 0; i < depth; ++i) {
    readers.push_back(std::async(std::launch::async, [&] {
      const AlignedBytes memory(request);
      for (std::uint64_t at = next.fetch_add(request); at < bytes; at = next.fetch_add(request)) {
        file.read((first + at) % (file_bytes - request) / alignment * alignment, request,
                  memory.data());
      }
    }));
  }
  for (std::future<void>& reader : readers) reader.get();
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - began;
  return {static_cast<double>(time.count()), static_cast<double>(bytes)};
}

}  // namespace

std::vector<ProbePoint> disk_measurements(const std::string& folder,
                                          std::vector<std::string>* notes) {
  const auto file = std::make_shared<DiskFile>(folder);
  if (!file->is_direct()) {
    notes->push_back("disk_read is not measured: the file system of " + folder +
                     " takes no direct reads; name another folder with --disk-folder");
    return {};
  }
  std::vector<ProbePoint> points;
  for (const auto& [name, depth] : {std::pair("disk_read", 1u), {"disk_read_deep", 8u}}) {
    for (std::uint64_t request = 4 * kib; request <= 4 * mib; request *= 2) {
      const std::uint64_t bytes = request < 64 * kib ? mib : 8 * mib;
      points.push_back(
          {name,
           "B/ns",
           {{"request", static_cast<std::int64_t>(request)}},
           [file, request, bytes, wide = depth] { return read_all(*file, request, bytes, wide); }});
    }
  }
  return points;
}

}  // namespace fm
