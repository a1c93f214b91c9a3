#include "executor/npz.hpp"

#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr char npy_magic[] = "\x93NUMPY";
constexpr const char* extension = ".npy";

/// The value of a key in the header, a Python dict literal: "{'descr': '<f4', 'shape': (1, 3),
/// ...}".
std::string header_value(const std::string& header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) throw UserError("no '" + key + "' in its header");
  const std::size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
  if (begin == std::string::npos) throw UserError("its header ends at '" + key + "'");
  const char closing = header[begin] == '(' ? ')' : header[begin] == '\'' ? '\'' : ',';
  const std::size_t end = header.find(closing, begin + 1);
  if (end == std::string::npos) throw UserError("its header ends at '" + key + "'");
  return header.substr(begin, end - begin + (closing == ',' ? 0 : 1));
}

Shape parse_shape(const std::string& text) {
  Shape shape;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] < '0' || text[at] > '9') {
      ++at;
      continue;
    }
    std::size_t used = 0;
    shape.push_back(std::stoll(text.substr(at), &used));
    at += used;
  }
  return shape;
}

template <class T>
void convert(const std::string& bytes, std::size_t offset, NpyArray* array) {
  for (std::size_t i = 0; i < array->values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + offset + i * sizeof(T), sizeof(T));
    array->values[i] = static_cast<float>(value);
    if constexpr (std::is_integral_v<T>) {
      array->in_range =
          array->in_range && value <= largest_exact_integer && value >= -largest_exact_integer;
    } else {
      array->in_range = array->in_range && std::isinf(value) == std::isinf(array->values[i]);
    }
  }
}

void convert_half(const std::string& bytes, std::size_t offset, NpyArray* array) {
  for (std::size_t i = 0; i < array->values.size(); ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + offset + i * 2, 2);
    array->values[i] = float_from_half(bits);
  }
}

struct Conversion {
  const char* type;
  std::size_t bytes;
  void (*run)(const std::string&, std::size_t, NpyArray*);
};
constexpr Conversion conversions[] = {
    {"f4", 4, convert<float>},        {"f8", 8, convert<double>},
    {"f2", 2, convert_half},          {"i4", 4, convert<std::int32_t>},
    {"i8", 8, convert<std::int64_t>}, {"i2", 2, convert<std::int16_t>},
    {"i1", 1, convert<std::int8_t>},  {"u1", 1, convert<std::uint8_t>},
    {"b1", 1, convert<std::uint8_t>},
};

std::uint32_t little_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

NpyArray parse_npy(const std::string& bytes) {
  if (bytes.size() < 12 || bytes.compare(0, 6, npy_magic) != 0)
    throw UserError("not an .npy array");
  const std::size_t length_bytes = bytes[6] == 1 ? 2 : 4;
  const std::size_t begin = 8 + length_bytes;
  const std::size_t length = little_endian(bytes, 8, length_bytes);
  if (begin + length > bytes.size()) throw UserError("its header is cut off");
  const std::string header = bytes.substr(begin, length);
  if (header_value(header, "fortran_order") != "False") throw UserError("it is in Fortran order");

  const std::string type = header_value(header, "descr");  // '<f4', with its quotes
  const auto* conversion =
      std::find_if(std::begin(conversions), std::end(conversions), [&](const Conversion& c) {
        return type.size() == 5 && type[1] != '>' && type.compare(2, 2, c.type) == 0;
      });
  if (conversion == std::end(conversions)) {
    throw UserError("its type " + type +
                    " is not one of f2, f4, f8, i1, i2, i4, i8, u1, b1 (little-endian)");
  }
  NpyArray array;
  array.shape = parse_shape(header_value(header, "shape"));
  const auto elements = static_cast<std::uint64_t>(element_count(array.shape));
  if (elements > bytes.size() || begin + length + elements * conversion->bytes > bytes.size()) {
    throw UserError("it has fewer values than its shape " + to_string(array.shape));
  }
  array.values.resize(elements);
  conversion->run(bytes, begin + length, &array);
  return array;
}

const char* npy_type(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "<f4";
    case ElementType::float64:
      return "<f8";
    case ElementType::float16:
      return "<f2";
    case ElementType::int64:
      return "<i8";
    case ElementType::int32:
      return "<i4";
    case ElementType::int8:
      return "|i1";
    case ElementType::uint8:
      return "|u1";
    case ElementType::boolean:
      return "|b1";
  }
  return "";
}

template <class T>
std::string stored_as(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

std::string npy_bytes(const NpyArray& array) {
  switch (array.type) {
    case ElementType::float32:
      return stored_as<float>(array.values);
    case ElementType::float64:
      return stored_as<double>(array.values);
    case ElementType::float16: {
      std::string bytes;
      for (const float value : array.values) {
        const std::uint16_t bits = half_from_float(value);
        bytes += {static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)};
      }
      return bytes;
    }
    case ElementType::int64:
      return stored_as<std::int64_t>(array.values);
    case ElementType::int32:
      return stored_as<std::int32_t>(array.values);
    case ElementType::int8:
      return stored_as<std::int8_t>(array.values);
    case ElementType::uint8:
    case ElementType::boolean:
      return stored_as<std::uint8_t>(array.values);
  }
  return "";
}

std::string npy_header(ElementType type, const Shape& shape) {
  std::string text =
      std::string("{'descr': '") + npy_type(type) + "', 'fortran_order': False, 'shape': (";
  for (std::int64_t dimension : shape) text += std::to_string(dimension) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  text += "), }";
  // Data starts at a multiple of 64 bytes (NEP 1).
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header(npy_magic, 6);
  header += std::string("\x01\x00", 2);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::string read_entry(unzFile archive, const std::string& entry) {
  unz_file_info64 info{};
  if (unzLocateFile(archive, entry.c_str(), 1) != UNZ_OK ||
      unzGetCurrentFileInfo64(archive, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK ||
      unzOpenCurrentFile(archive) != UNZ_OK) {
    throw UserError("not in the archive");
  }
  std::string bytes(info.uncompressed_size, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto piece = static_cast<unsigned>(std::min<std::size_t>(bytes.size() - done, 1 << 20));
    const int got = unzReadCurrentFile(archive, bytes.data() + done, piece);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  if (unzCloseCurrentFile(archive) != UNZ_OK || done != bytes.size()) {
    throw UserError("it is damaged (truncated, or its CRC differs)");
  }
  return bytes;
}

}  // namespace

NpzReader::NpzReader(const std::string& path) : path_(path), archive_(unzOpen64(path.c_str())) {
  if (!archive_) throw UserError(path + ": no such file, or not an .npz archive");
  for (int code = unzGoToFirstFile(archive_); code == UNZ_OK; code = unzGoToNextFile(archive_)) {
    char name[4096];
    unzGetCurrentFileInfo64(archive_, nullptr, name, sizeof name, nullptr, 0, nullptr, 0);
    names_.emplace_back(name);
    const std::size_t stem =
        names_.back().size() - std::min(names_.back().size(), strlen(extension));
    if (names_.back().compare(stem, std::string::npos, extension) == 0) names_.back().resize(stem);
  }
}

NpzReader::~NpzReader() {
  if (archive_) unzClose(archive_);
}

bool NpzReader::has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

NpyArray NpzReader::read(const std::string& name) const {
  try {
    return parse_npy(read_entry(archive_, name + extension));
  } catch (const UserError& error) {
    throw UserError(path_ + ": array '" + name + "': " + error.what());
  }
}

void write_npz(const std::string& path, const std::map<std::string, NpyArray>& arrays) {
  std::map<std::string, const NpyArray*> places;
  for (const auto& [name, array] : arrays) places[name] = &array;
  write_npz(path, places);
}

void write_npz(const std::string& path, const std::map<std::string, const NpyArray*>& arrays) {
  AtomicFile file(path);
  if (file.temporary_path().empty())
    throw UserError("an .npz archive cannot go to standard output");
  zipFile archive = zipOpen64(file.temporary_path().c_str(), APPEND_STATUS_CREATE);
  bool good = archive != nullptr;
  for (const auto& [name, array] : arrays) {
    const std::string header = npy_header(array->type, array->shape);
    const std::string bytes = npy_bytes(*array);
    const zip_fileinfo info{};
    good =
        good &&
        zipOpenNewFileInZip64(archive, (name + extension).c_str(), &info, nullptr, 0, nullptr, 0,
                              nullptr, 0, 0, 1) == ZIP_OK &&
        zipWriteInFileInZip(archive, header.data(), static_cast<unsigned>(header.size())) ==
            ZIP_OK &&
        zipWriteInFileInZip(archive, bytes.data(), static_cast<unsigned>(bytes.size())) == ZIP_OK &&
        zipCloseFileInZip(archive) == ZIP_OK;
  }
  if (archive) good = zipClose(archive, nullptr) == ZIP_OK && good;
  if (!good) throw DeviceError("writing " + path + " failed");
  file.commit();
}

}  // namespace fm
