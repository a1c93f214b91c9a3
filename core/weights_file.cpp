#include "core/weights_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "core/atomic_file.hpp"
#include "core/byte_order.hpp"
#include "core/diagnostics.hpp"
#include "core/digest.hpp"

namespace fm {
namespace {

constexpr char magic[] = "FMWEIGHT";
constexpr std::size_t magic_bytes = 8;
constexpr std::uint32_t weights_version = 1;
constexpr std::size_t digest_bytes = 64;
/// magic, version, slice count, index bytes, index offset, index checksum, digest; then the
/// checksum of all that.
constexpr std::size_t header_fields = magic_bytes + 4 + 4 + 8 + 8 + 8 + digest_bytes;
constexpr std::size_t header_bytes = 4096;

void append_text(std::string& out, const std::string& text) {
  append_little_endian(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::string serialized(const WeightsIndexEntry& entry) {
  std::string out;
  append_text(out, entry.tensor);
  append_text(out, entry.name);
  append_text(out, to_string(entry.layout));
  append_text(out, to_string(entry.dtype));
  append_little_endian(out, static_cast<std::uint32_t>(entry.shape.size()));
  for (const std::int64_t side : entry.shape) {
    append_little_endian(out, static_cast<std::uint64_t>(side));
  }
  append_little_endian(out, entry.offset.count());
  append_little_endian(out, entry.bytes.count());
  append_little_endian(out, entry.checksum);
  return out;
}

std::string serialized(const std::vector<WeightsIndexEntry>& entries) {
  std::string out;
  for (const WeightsIndexEntry& entry : entries) out += serialized(entry);
  return out;
}

std::string serialized_header(const WeightsIndex& index, const std::string& records) {
  std::string out(magic, magic_bytes);
  append_little_endian(out, weights_version);
  append_little_endian(out, static_cast<std::uint32_t>(index.entries.size()));
  append_little_endian(out, static_cast<std::uint64_t>(records.size()));
  append_little_endian(out, static_cast<std::uint64_t>(header_bytes));
  append_little_endian(out, checksum_of(records.data(), records.size()));
  std::string digest = index.model_digest;
  digest.resize(digest_bytes, '\0');
  out += digest;
  append_little_endian(out, checksum_of(out.data(), out.size()));
  out.resize(header_bytes, '\0');
  return out;
}

/// Reads fields one after the other; never beyond the end.
class RecordReader {
 public:
  RecordReader(const std::string& bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  template <class Integer>
  Integer integer() {
    return little_endian_at<Integer>(take(sizeof(Integer)));
  }
  std::string text() {
    const auto size = integer<std::uint32_t>();
    return std::string(take(size), size);
  }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  const char* take(std::size_t size) {
    if (size > bytes_.size() - position_) throw UserError({path_}, "its index is damaged");
    const char* start = bytes_.data() + position_;
    position_ += size;
    return start;
  }
  const std::string& bytes_;
  const std::string& path_;
  std::size_t position_ = 0;
};

WeightsIndexEntry read_entry(RecordReader& reader) {
  WeightsIndexEntry entry;
  entry.tensor = reader.text();
  entry.name = reader.text();
  entry.layout = layout_from(reader.text());
  entry.dtype = data_type_from(reader.text());
  const auto rank = reader.integer<std::uint32_t>();
  for (std::uint32_t d = 0; d < rank; ++d) {
    entry.shape.push_back(static_cast<std::int64_t>(reader.integer<std::uint64_t>()));
  }
  entry.offset = Bytes(reader.integer<std::uint64_t>());
  entry.bytes = Bytes(reader.integer<std::uint64_t>());
  entry.checksum = reader.integer<std::uint64_t>();
  return entry;
}

struct Header {
  std::uint32_t slices = 0;
  std::uint64_t index_bytes = 0, index_offset = 0, index_checksum = 0;
  std::string model_digest;
};

Header parse_header(const std::string& bytes, const std::string& path) {
  if (bytes.compare(0, magic_bytes, magic) != 0) {
    throw UserError({path},
                    "is not a weights file (its first bytes are not FMWEIGHT); make one with "
                    "fmplan pack");
  }
  if (bytes.size() < header_bytes) throw UserError({path}, "is truncated inside its header");
  const char* field = bytes.data() + magic_bytes;
  const auto version = little_endian_at<std::uint32_t>(field);
  if (version != weights_version) {
    throw UserError({path}, "its version " + std::to_string(version) + " is " +
                                (version > weights_version ? "newer" : "older") +
                                " than this tool's (" + std::to_string(weights_version) +
                                "): pack it again with fmplan pack");
  }
  const auto checksum = little_endian_at<std::uint64_t>(bytes.data() + header_fields);
  const bool padding_clean = bytes.find_first_not_of('\0', header_fields + 8) == std::string::npos;
  if (checksum != checksum_of(bytes.data(), header_fields) || !padding_clean) {
    throw UserError({path}, "its header is damaged");
  }
  Header header;
  header.slices = little_endian_at<std::uint32_t>(field + 4);
  header.index_bytes = little_endian_at<std::uint64_t>(field + 8);
  header.index_offset = little_endian_at<std::uint64_t>(field + 16);
  header.index_checksum = little_endian_at<std::uint64_t>(field + 24);
  const std::string digest(field + 32, digest_bytes);
  header.model_digest = digest.substr(0, digest.find('\0'));
  return header;
}

std::string read_at(std::ifstream& file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

std::string describe(const WeightsIndexEntry& entry) {
  return "'" + entry.tensor + "' (" + entry.name + "), " + to_string(entry.layout) + " " +
         to_string(entry.dtype) + " " + to_string(entry.shape) + " at byte " +
         std::to_string(entry.offset.count());
}

bool same_but_checksum(WeightsIndexEntry a, WeightsIndexEntry b) {
  a.checksum = b.checksum = 0;
  return serialized(a) == serialized(b);
}

}  // namespace

WeightsIndex expected_index(const Plan& plan) {
  WeightsIndex index;
  for (const PlanModel& model : plan.models) {
    index.model_digest += (index.model_digest.empty() ? "" : "+") + model.digest;
  }
  // Several models in one file: one digest over theirs.
  if (plan.models.size() > 1) index.model_digest = digest_of(index.model_digest);
  for (const WeightSlice& slice : plan.weights) {
    const PlanTensor& tensor = plan.tensor(slice.tensor);
    index.entries.push_back({tensor.id, tensor.name, tensor.layout, tensor.dtype, tensor.shape,
                             slice.file_offset, slice.bytes, 0});
  }
  return index;
}

std::string index_digest(const WeightsIndex& index) {
  std::string text;
  append_text(text, index.model_digest);
  for (WeightsIndexEntry entry : index.entries) {
    entry.checksum = 0;
    text += serialized(entry);
  }
  return digest_of(text);
}

Bytes first_slice_offset(const std::vector<WeightsIndexEntry>& entries) {
  return round_up(Bytes(header_bytes + serialized(entries).size()), slice_alignment);
}

std::vector<std::size_t> stored_entries(const std::vector<WeightsIndexEntry>& entries) {
  std::map<Bytes, std::size_t> by_offset;
  std::vector<std::size_t> stored;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    stored.push_back(by_offset.emplace(entries[i].offset, i).first->second);
  }
  return stored;
}

struct WeightsWriter::State {
  State(const std::string& path, WeightsIndex index_to_write)
      : file(path), index(std::move(index_to_write)), stored(stored_entries(index.entries)) {}

  void skip_stored() {
    while (next < stored.size() && stored[next] != next) ++next;
  }
  /// What lies behind the last slice.
  Bytes end() const {
    Bytes end = first_slice_offset(index.entries);
    for (const WeightsIndexEntry& entry : index.entries) {
      end = std::max(end, round_up(entry.offset + entry.bytes, slice_alignment));
    }
    return end;
  }

  AtomicFile file;
  WeightsIndex index;
  const std::vector<std::size_t> stored;
  std::size_t next = 0;
};

WeightsWriter::WeightsWriter(const std::string& path, WeightsIndex index) {
  if (path == "-") throw UserError("a weights file cannot be written to standard output");
  if (index.model_digest.size() > digest_bytes) {
    throw std::logic_error("model digest of more than 64 bytes");
  }
  Bytes free_from = first_slice_offset(index.entries);
  const std::vector<std::size_t> stored = stored_entries(index.entries);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const WeightsIndexEntry& entry = index.entries[i];
    if (stored[i] != i && entry.bytes == index.entries[stored[i]].bytes) continue;
    if (entry.offset < free_from || entry.offset % slice_alignment != Bytes(0)) {
      throw UserError("weights slice " + describe(entry) +
                      " overlaps the index or a slice before it, or is not 4 KiB-aligned");
    }
    free_from = entry.offset + entry.bytes;
  }
  state_ = std::make_unique<State>(path, std::move(index));
}

WeightsWriter::~WeightsWriter() = default;

void WeightsWriter::append(const std::vector<std::uint8_t>& bytes) {
  if (state_->next == state_->index.entries.size()) {
    throw std::logic_error("more slices than the index has");
  }
  WeightsIndexEntry& entry = state_->index.entries[state_->next++];
  if (bytes.size() != entry.bytes.count()) {
    throw std::logic_error("slice " + describe(entry) + " has another size than given");
  }
  entry.checksum = checksum_of(bytes.data(), bytes.size());
  std::ostream& stream = state_->file.stream();
  stream.seekp(static_cast<std::streamoff>(entry.offset.count()));
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  state_->skip_stored();
}

void WeightsWriter::finish() {
  if (state_->next != state_->index.entries.size()) {
    throw std::logic_error("fewer slices than the index has");
  }
  for (std::size_t i = 0; i < state_->stored.size(); ++i) {
    state_->index.entries[i].checksum = state_->index.entries[state_->stored[i]].checksum;
  }
  const std::string records = serialized(state_->index.entries);
  const std::string head = serialized_header(state_->index, records) + records;
  std::ostream& stream = state_->file.stream();
  // Direct reads come in whole blocks: the last slice is padded to one.
  const Bytes end = state_->end();
  stream.seekp(0, std::ios::end);
  const auto written = static_cast<std::uint64_t>(stream.tellp());
  if (written < end.count()) {
    stream.seekp(static_cast<std::streamoff>(end.count() - 1));
    stream.put('\0');
  }
  stream.seekp(0);
  stream.write(head.data(), static_cast<std::streamsize>(head.size()));
  state_->file.commit();
}

WeightsIndex read_weights_index(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UserError({path}, "is a folder, not a file");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw UserError({path}, "cannot be opened for reading");
  const auto file_bytes = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  const Header header = parse_header(read_at(file, 0, header_bytes), path);
  if (header.index_offset != header_bytes) throw UserError({path}, "its header is damaged");
  if (header.index_bytes > file_bytes - header_bytes) {
    throw UserError({path}, "is truncated inside its index");
  }
  const std::string records = read_at(file, header.index_offset, header.index_bytes);
  if (checksum_of(records.data(), records.size()) != header.index_checksum) {
    throw UserError({path}, "its index is damaged (checksum)");
  }
  WeightsIndex index;
  index.model_digest = header.model_digest;
  RecordReader reader(records, path);
  for (std::uint32_t i = 0; i < header.slices; ++i) index.entries.push_back(read_entry(reader));
  if (!reader.at_end()) throw UserError({path}, "its index is damaged");
  for (const WeightsIndexEntry& entry : index.entries) {
    const Bytes end = entry.offset + entry.bytes;
    if (end.count() <= file_bytes) continue;
    throw UserError({path}, "is truncated: slice " + describe(entry) + " ends at byte " +
                                std::to_string(end.count()) + ", the file has " +
                                std::to_string(file_bytes));
  }
  return index;
}

WeightsIndex open_weights_for(const Plan& plan, const std::string& path) {
  WeightsIndex index = read_weights_index(path);
  const WeightsIndex expected = expected_index(plan);
  if (index.model_digest != expected.model_digest) {
    throw UserError({path}, "was packed from another model (" + index.model_digest +
                                ") than the plan's (" + expected.model_digest + ")");
  }
  const std::size_t slices = std::min(index.entries.size(), expected.entries.size());
  for (std::size_t i = 0; i < slices; ++i) {
    if (same_but_checksum(index.entries[i], expected.entries[i])) continue;
    throw UserError({path}, "was packed for another plan: slice " + std::to_string(i) + " is " +
                                describe(index.entries[i]) + ", the plan's is " +
                                describe(expected.entries[i]));
  }
  if (index.entries.size() != expected.entries.size()) {
    throw UserError({path}, "was packed for another plan: it has " +
                                std::to_string(index.entries.size()) + " slices, the plan has " +
                                std::to_string(expected.entries.size()));
  }
  if (!plan.weights_index_digest.empty() && index_digest(index) != plan.weights_index_digest) {
    throw UserError({path}, "the plan's weights_index_digest is " + plan.weights_index_digest +
                                ", this file's is " + index_digest(index) +
                                ": the plan was edited after it was made");
  }
  return index;
}

}  // namespace fm
