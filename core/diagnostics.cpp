#include "core/diagnostics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <new>

namespace fm {
namespace {

/// Lists up to this long are printed whole.
constexpr std::size_t few_words = 16;
/// Longer lists: only so many of the nearest.
constexpr std::size_t nearest_words = 3;

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::size_t common_prefix(const std::string& a, const std::string& b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t length = 0;
  while (length < shorter && a[length] == b[length]) ++length;
  return length;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Bytes of the UTF-8 character that begins at `at`; 0 when there is none.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte_at(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : (lead >= 0xe0 ? 3 : 2);
  if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if ((byte_at(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

/// Names from a model file may hold anything: control characters but line breaks, and bytes that
/// are not UTF-8, become "\xNN".
std::string printable(const std::string& text) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control = (byte < 0x20 && byte != '\n') || byte == 0x7f;
    const std::size_t length = control ? 0 : utf8_length(text, at);
    if (length == 0) {
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      ++at;
    } else {
      out.append(text, at, length);
      at += length;
    }
  }
  return out;
}

/// Where a standard stream is closed, the next file opened would take its number and its text:
/// something that only fails is put there.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1 && ::open("/dev/null", O_RDONLY) == -1) return;
  }
}

ExitStatus report(const std::string& tool, const std::string& message, ExitStatus status) {
  std::cout.flush();
  std::cerr << tool << ": error: " << printable(message) << std::endl;
  return status;
}

}  // namespace

std::string SourceLocation::to_string() const {
  if (file.empty() || line <= 0) return file;
  std::string text = file + ":" + std::to_string(line);
  if (column > 0) text += ":" + std::to_string(column);
  return text;
}

UserError::UserError(const SourceLocation& where, const std::string& message)
    : std::runtime_error(where.file.empty() ? message : where.to_string() + ": " + message) {}

int run_main(const std::string& tool, const std::function<ExitStatus()>& body) {
  ExitStatus status = ExitStatus::internal_fault;
  occupy_closed_streams();
  // A reader that went away and a file larger than allowed become failed writes, with a message.
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) std::signal(signal_number, SIG_IGN);
  try {
    status = body();
    if (!std::cout.flush()) throw DeviceError("standard output: write failed");
  } catch (const UserError& error) {
    status = report(tool, error.what(), ExitStatus::user_error);
  } catch (const boost::program_options::error& error) {
    status = report(tool, std::string(error.what()) + " (see " + tool + " --help)",
                    ExitStatus::user_error);
  } catch (const DeviceError& error) {
    status = report(tool, error.what(), ExitStatus::device_failed);
  } catch (const VerificationError& error) {
    status = report(tool, error.what(), ExitStatus::verification_differs);
  } catch (const std::filesystem::filesystem_error& error) {
    status = report(tool, error.what(), ExitStatus::device_failed);
  } catch (const std::bad_alloc&) {
    status = report(tool, "out of host memory", ExitStatus::device_failed);
  } catch (const std::exception& error) {
    status =
        report(tool, std::string("internal fault: ") + error.what(), ExitStatus::internal_fault);
  } catch (...) {
    status = report(tool, "internal fault: unknown exception", ExitStatus::internal_fault);
  }
  return static_cast<int>(status);
}

std::string accepted_words(const std::string& given, const std::vector<std::string>& accepted) {
  if (accepted.empty()) return "nothing is accepted here";
  struct Ranked {
    std::size_t distance, prefix;
    std::string word;
  };
  std::vector<Ranked> ranked;
  const std::string wanted = lower_case(given);
  for (const std::string& word : accepted) {
    const std::string lower = lower_case(word);
    ranked.push_back({edit_distance(wanted, lower), common_prefix(wanted, lower), word});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.prefix > b.prefix;
  });
  std::string text;
  const bool close = ranked[0].distance <= std::max<std::size_t>(1, ranked[0].word.size() / 3);
  if (close && !given.empty()) text = "did you mean '" + ranked[0].word + "'? ";
  if (accepted.size() <= few_words) return text + "(accepted: " + join(accepted) + ")";
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < nearest_words; ++i) nearest.push_back(ranked[i].word);
  return text + "(nearest of " + std::to_string(accepted.size()) + ": " + join(nearest) + ")";
}

}  // namespace fm
