#include "core/trace_file.hpp"

#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/byte_order.hpp"
#include "core/diagnostics.hpp"
#include "core/digest.hpp"

namespace fm {
namespace {

constexpr char magic[] = "FMTRACE\n";
constexpr std::size_t magic_bytes = 8;
constexpr std::size_t frame_header_bytes = 4 + 4 + 8;
constexpr int compression_level = 9;
constexpr int fast_compression_level = 1;  // where a program waits for it
/// A frame that claims more than this is refused before memory is taken for it.
constexpr std::uint32_t largest_frame = std::uint32_t{512} << 20;
constexpr int operations_per_frame = 4096;

std::string compressed(const std::string& raw, int level) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), level);
  if (ZSTD_isError(size)) throw DeviceError(std::string("zstd: ") + ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

std::string which_version(std::uint32_t found) {
  const bool newer = found > trace_version;
  return "the trace's version " + std::to_string(found) + " is " + (newer ? "newer" : "older") +
         " than this tool's (" + std::to_string(trace_version) +
         "): " + (newer ? "use a newer flashmem" : "record it again with fmexec --record");
}

bool readable(std::uint32_t version) {
  return version >= oldest_trace_version && version <= trace_version;
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path, const trace::Header& header)
    : file_(path), stream_(file_->stream()) {
  write_start(header);
}

TraceWriter::TraceWriter(std::ostream& stream, const trace::Header& header) : stream_(stream) {
  write_start(header);
  stream_.flush();
}

void TraceWriter::write_start(const trace::Header& header) {
  std::string start(magic, magic_bytes);
  append_little_endian(start, trace_version);
  stream_.write(start.data(), static_cast<std::streamsize>(start.size()));
  trace::Frame frame;
  *frame.mutable_header() = header;
  frame.mutable_header()->set_version(trace_version);
  write_frame(frame);
}

void TraceWriter::add(const trace::AccessProgram& program) {
  flush_operations();
  trace::Frame frame;
  *frame.mutable_program() = program;
  trailer_.set_programs(trailer_.programs() + 1);
  write_frame(frame);
}

void TraceWriter::add(const trace::IndexContents& contents) {
  flush_operations();
  trace::Frame frame;
  *frame.mutable_index_contents() = contents;
  write_frame(frame);
}

void TraceWriter::add(trace::HostOperation operation) {
  *pending_.add_operations() = std::move(operation);
  trailer_.set_operations(trailer_.operations() + 1);
  if (pending_.operations_size() >= operations_per_frame) flush_operations();
}

void TraceWriter::leave_out(const std::string& what, std::uint64_t times) {
  (*trailer_.mutable_left_out())[what] += times;
}

void TraceWriter::finish() {
  flush_operations();
  trace::Frame frame;
  *frame.mutable_trailer() = trailer_;
  write_frame(frame);
  if (file_) return file_->commit();
  stream_.flush();
}

void TraceWriter::flush_operations() {
  if (pending_.operations_size() == 0) return;
  trace::Frame frame;
  frame.mutable_operations()->Swap(&pending_);
  pending_.Clear();
  write_frame(frame);
  if (!file_) stream_.flush();
}

void TraceWriter::write_frame(const trace::Frame& frame) {
  if (frame.ByteSizeLong() > largest_frame) {
    throw UserError("the trace has a part of " + std::to_string(frame.ByteSizeLong()) +
                    " bytes, more than a frame's " + std::to_string(largest_frame) +
                    ": record fewer work-groups of a kernel with irregular accesses");
  }
  const std::string raw = frame.SerializeAsString();
  const std::string bytes = compressed(raw, file_ ? compression_level : fast_compression_level);
  std::string head;
  append_little_endian(head, static_cast<std::uint32_t>(bytes.size()));
  append_little_endian(head, static_cast<std::uint32_t>(raw.size()));
  append_little_endian(head, checksum_of(bytes.data(), bytes.size()));
  stream_.write(head.data(), static_cast<std::streamsize>(head.size()));
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  trailer_.set_frames(trailer_.frames() + 1);
}

TraceReader::TraceReader(const std::string& path) : path_(path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UserError({path}, "is a folder, not a file");
  // Traces are read more than once (contents, digest): a pipe would be empty the second time.
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    throw UserError({path}, "is a pipe or a device: a trace must be a file");
  }
  file_.open(path, std::ios::binary);
  if (!file_) throw UserError({path}, "cannot be opened for reading");
  std::string start(magic_bytes + 4, '\0');
  file_.read(start.data(), static_cast<std::streamsize>(start.size()));
  const auto got = static_cast<std::size_t>(file_.gcount());
  if (start.compare(0, magic_bytes, magic) != 0) {
    throw UserError({path}, "is not a trace (its first bytes are not FMTRACE)");
  }
  if (got < start.size()) throw UserError({path}, "is truncated at byte " + std::to_string(got));
  const auto version = little_endian_at<std::uint32_t>(start.data() + magic_bytes);
  if (!readable(version)) throw UserError({path}, which_version(version));
  const trace::Frame frame = read_frame();
  if (!frame.has_header()) throw UserError({path}, "is damaged: its first frame is not a header");
  if (!readable(frame.header().version())) {
    throw UserError({path}, which_version(frame.header().version()));
  }
  header_ = frame.header();
}

trace::Frame TraceReader::read_frame() {
  const auto start = static_cast<std::uint64_t>(file_.tellg());
  const auto damaged = [&](const std::string& how) {
    return UserError({path_}, "is damaged at byte " + std::to_string(start) + ": " + how);
  };
  const auto truncated = [&] {
    return UserError({path_}, "is truncated: its end is missing after byte " +
                                  std::to_string(start) + " (was the recording interrupted?)");
  };
  char head[frame_header_bytes];
  if (!file_.read(head, sizeof head)) throw truncated();
  const auto compressed_bytes = little_endian_at<std::uint32_t>(head);
  const auto raw_bytes = little_endian_at<std::uint32_t>(head + 4);
  if (raw_bytes > largest_frame || compressed_bytes > ZSTD_compressBound(largest_frame)) {
    throw damaged("a frame of " + std::to_string(std::max(raw_bytes, compressed_bytes)) +
                  " bytes is more than the largest, " + std::to_string(largest_frame));
  }
  // In pieces: a damaged length must not take memory the file cannot fill.
  std::string bytes;
  constexpr std::size_t piece = std::size_t{1} << 22;
  while (bytes.size() < compressed_bytes) {
    const std::size_t have = bytes.size();
    bytes.resize(have + std::min<std::size_t>(piece, compressed_bytes - have));
    file_.read(bytes.data() + have, static_cast<std::streamsize>(bytes.size() - have));
    if (!file_) throw truncated();
  }
  if (checksum_of(bytes.data(), bytes.size()) != little_endian_at<std::uint64_t>(head + 8)) {
    throw damaged("its checksum is wrong");
  }
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != raw_bytes) {
    throw damaged("its size is not the one announced");
  }
  std::string raw(raw_bytes, '\0');
  const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), bytes.data(), bytes.size());
  trace::Frame frame;
  if (ZSTD_isError(size) || size != raw.size() || !frame.ParseFromString(raw)) {
    throw damaged("its contents cannot be decoded");
  }
  seen_.set_frames(seen_.frames() + 1);
  if (frame.has_program()) seen_.set_programs(seen_.programs() + 1);
  if (frame.has_operations()) {
    seen_.set_operations(seen_.operations() +
                         static_cast<std::uint64_t>(frame.operations().operations_size()));
  }
  return frame;
}

bool TraceReader::next(trace::Frame* frame) {
  if (ended_) return false;
  const std::uint64_t frames_before = seen_.frames();
  *frame = read_frame();
  if (frame->frame_case() == trace::Frame::FRAME_NOT_SET) {
    throw UserError({path_}, "is damaged: frame " + std::to_string(frames_before) +
                                 " is of a kind this tool does not know");
  }
  if (frame->has_header()) throw UserError({path_}, "is damaged: it has a second header");
  if (!frame->has_trailer()) return true;
  const trace::Trailer& trailer = frame->trailer();
  if (trailer.frames() != frames_before || trailer.operations() != seen_.operations() ||
      trailer.programs() != seen_.programs()) {
    throw UserError({path_}, "is damaged: its trailer counts other frames than there are");
  }
  if (file_.peek() != std::ifstream::traits_type::eof()) {
    throw UserError({path_}, "is damaged: it goes on after its trailer");
  }
  left_out_.insert(trailer.left_out().begin(), trailer.left_out().end());
  ended_ = true;
  return false;
}

void write_trace(const std::string& path, const Trace& trace) {
  TraceWriter writer(path, trace.header);
  for (const auto& program : trace.programs) writer.add(program);
  for (const auto& contents : trace.index_contents) writer.add(contents);
  for (const auto& operation : trace.operations) writer.add(operation);
  for (const auto& [what, times] : trace.left_out) writer.leave_out(what, times);
  writer.finish();
}

}  // namespace fm
