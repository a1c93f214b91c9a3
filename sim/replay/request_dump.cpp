#include "sim/replay/request_dump.hpp"

#include <zstd.h>

#include <array>
#include <charconv>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr std::size_t chunk_bytes = 1 << 22;
constexpr int compression_level = 3;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void append(std::string* text, std::uint64_t number, int base = 10) {
  std::array<char, 24> digits{};
  const auto result = std::to_chars(digits.begin(), digits.end(), number, base);
  text->append(digits.begin(), result.ptr);
}

constexpr const char* option = "--dump-requests";

/// Position of the '=' in PORT=FILE.
std::size_t separator(const std::string& port_and_file) {
  const std::size_t equals = port_and_file.find('=');
  if (equals == std::string::npos || equals + 1 == port_and_file.size()) {
    throw UserError(std::string(option) + " " + port_and_file +
                    ": write PORT=FILE, e.g. l2-slc=requests.csv.zst");
  }
  return equals;
}

}  // namespace

PortDump::PortDump(const std::string& port_and_file)
    : port_(parse_request_port(option, port_and_file.substr(0, separator(port_and_file)))),
      dump_(port_and_file.substr(separator(port_and_file) + 1)),
      order_([this](const LineRequest& request) { dump_.write(request); }) {}

void PortDump::finish() {
  order_.finish();
  dump_.finish();
}

RequestDump::RequestDump(const std::string& path)
    : file_(path),
      compressed_(ends_with(path, ".zst")),
      text_("time_ps,client,kind,address,bytes\n") {}

void RequestDump::write(const LineRequest& request) {
  append(&text_, request.time);
  text_ += ',' + to_string(request.client) + ',' + to_string(request.kind) + ",0x";
  append(&text_, request.address, 16);
  text_ += ',';
  append(&text_, request.bytes);
  text_ += '\n';
  if (text_.size() >= chunk_bytes) flush();
}

void RequestDump::finish() {
  flush();
  file_.commit();
}

void RequestDump::flush() {
  if (!compressed_) {
    file_.stream() << text_;
  } else {
    // Frames one after another are one zstd file.
    std::string frame(ZSTD_compressBound(text_.size()), '\0');
    const std::size_t size =
        ZSTD_compress(frame.data(), frame.size(), text_.data(), text_.size(), compression_level);
    if (ZSTD_isError(size) != 0) {
      throw DeviceError(std::string("zstd: ") + ZSTD_getErrorName(size));
    }
    file_.stream().write(frame.data(), static_cast<std::streamsize>(size));
  }
  text_.clear();
}

}  // namespace fm
