#include "executor/streamer/weights_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "core/diagnostics.hpp"
#include "core/plan.hpp"

namespace fm {

namespace {

constexpr std::uint64_t block = slice_alignment.count();

bool is_aligned(const std::uint8_t* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % block == 0;
}

FileState state_of(const struct stat& facts) {
  return {facts.st_dev, facts.st_ino, static_cast<std::uint64_t>(facts.st_size),
          facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

/// Of every page that holds some of the range: the kernel gives back whole pages only.
void advise(int descriptor, Bytes offset, Bytes bytes, int advice) {
  const Bytes first = offset - offset % slice_alignment;
  const Bytes length = round_up(offset + bytes, slice_alignment) - first;
  posix_fadvise(descriptor, static_cast<off_t>(first.count()), static_cast<off_t>(length.count()),
                advice);
}

/// A descriptor for direct I/O, or -1: some file systems refuse it on open, others only on read.
int open_direct(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (descriptor < 0) return -1;
  alignas(block) std::uint8_t probe[block];
  if (pread(descriptor, probe, block, 0) >= 0) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace

bool FileState::operator==(const FileState& other) const {
  return device == other.device && inode == other.inode && bytes == other.bytes &&
         modified_ns == other.modified_ns;
}

WeightsReader::WeightsReader(const std::string& path, std::optional<double> bytes_per_second)
    : path_(path), bytes_per_second_(bytes_per_second) {
  buffered_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (buffered_ < 0) throw UserError(path + ": " + std::strerror(errno));
  struct stat facts {};
  if (fstat(buffered_, &facts) == 0) state_ = state_of(facts);
  // Whoever read the index made the kernel read ahead into the weights.
  posix_fadvise(buffered_, 0, 0, POSIX_FADV_DONTNEED);
  direct_ = open_direct(path);
  scattered_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (scattered_ < 0) throw UserError(path + ": " + std::strerror(errno));
  posix_fadvise(scattered_, 0, 0, POSIX_FADV_RANDOM);
}

WeightsReader::~WeightsReader() {
  if (buffered_ >= 0) close(buffered_);
  if (direct_ >= 0) close(direct_);
  if (scattered_ >= 0) close(scattered_);
}

bool WeightsReader::can_read_directly(Bytes offset, Bytes bytes, const std::uint8_t* to) const {
  return direct_ >= 0 && offset.count() % block == 0 && (is_aligned(to) || bytes.count() < block);
}

void WeightsReader::read(Bytes offset, Bytes bytes, std::uint8_t* to,
                         const std::atomic<bool>& stop) {
  check_unchanged();
  for (Bytes done; done < bytes;) {
    if (stop) throw DeviceError("reading " + path_ + " was stopped");
    Bytes size = std::min(request_bytes, bytes - done);
    if (!can_read_directly(offset + done, size, to + done.count())) {
      read_request(buffered_, offset + done, size, to + done.count());
    } else if (size < slice_alignment) {
      read_part_of_block(offset + done, size, to + done.count());
    } else {
      size -= size % slice_alignment;
      read_request(direct_, offset + done, size, to + done.count());
    }
    done += size;
    hold_to_rate(size);
  }
}

void WeightsReader::read_rows(const std::vector<RowRead>& rows, Bytes row_bytes, std::uint8_t* to,
                              const std::atomic<bool>& stop) {
  check_unchanged();
  advise_rows(rows, row_bytes, POSIX_FADV_WILLNEED);
  for (const RowRead& row : rows) {
    if (stop) throw DeviceError("reading " + path_ + " was stopped");
    read_bytes(scattered_, row.file_offset, row_bytes, to + (row_bytes * row.rows[0]).count());
    hold_to_rate(row_bytes);
  }
  advise_rows(rows, row_bytes, POSIX_FADV_DONTNEED);
}

/// Advice is about whole pages; those that rows share are given back once all are read.
void WeightsReader::advise_rows(const std::vector<RowRead>& rows, Bytes row_bytes,
                                int advice) const {
  for (const RowRead& row : rows) advise(scattered_, row.file_offset, row_bytes, advice);
}

/// The file itself, and what its path leads to now. A file that became shorter is left to the read,
/// which says where it ends.
void WeightsReader::check_unchanged() const {
  struct stat facts {};
  const bool there = stat(path_.c_str(), &facts) == 0;
  if (there && (state_of(facts) == state_ || state_of(facts).bytes < state_.bytes)) return;
  throw UserError(path_ + " was " + (there ? "changed or replaced" : "removed") +
                  " while it was being read; pack the weights again and start the run anew");
}

void WeightsReader::read_request(int descriptor, Bytes offset, Bytes bytes, std::uint8_t* to) {
  read_bytes(descriptor, offset, bytes, to);
  if (descriptor != direct_) advise(descriptor, offset, bytes, POSIX_FADV_DONTNEED);
}

void WeightsReader::read_bytes(int descriptor, Bytes offset, Bytes bytes, std::uint8_t* to) const {
  for (std::uint64_t done = 0; done < bytes.count();) {
    const ssize_t got = pread(descriptor, to + done, bytes.count() - done,
                              static_cast<off_t>(offset.count() + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw DeviceError(path_ + ": reading at byte " + std::to_string(offset.count() + done) +
                        ": " + std::strerror(errno));
    }
    if (got == 0) {
      throw UserError(path_ + " is truncated: it ends at byte " +
                      std::to_string(offset.count() + done) + ", but weights lie up to byte " +
                      std::to_string((offset + bytes).count()));
    }
    done += static_cast<std::uint64_t>(got);
  }
}

/// Directly, so that no page of the file stays behind; the file may end within the block.
void WeightsReader::read_part_of_block(Bytes offset, Bytes bytes, std::uint8_t* to) {
  alignas(block) std::uint8_t whole[block];
  ssize_t got = 0;
  do {
    got = pread(direct_, whole, block, static_cast<off_t>(offset.count()));
  } while (got < 0 && errno == EINTR);
  if (got < 0 || static_cast<std::uint64_t>(got) < bytes.count()) {
    return read_request(buffered_, offset, bytes, to);  // which says what is wrong
  }
  std::memcpy(to, whole, bytes.count());
}

void WeightsReader::hold_to_rate(Bytes bytes) {
  if (!bytes_per_second_) return;
  using std::chrono::steady_clock;
  const std::chrono::duration<double> cost(static_cast<double>(bytes.count()) / *bytes_per_second_);
  steady_clock::time_point until;
  {
    const std::lock_guard<std::mutex> lock(rate_mutex_);
    rate_clock_ = std::max(rate_clock_, steady_clock::now()) +
                  std::chrono::duration_cast<steady_clock::duration>(cost);
    until = rate_clock_;
  }
  std::this_thread::sleep_until(until);
}

}  // namespace fm
