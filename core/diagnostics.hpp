#pragma once
// What a command-line tool says when something is wrong, and the exit status it ends with.

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fm {

enum class ExitStatus : int {
  done = 0,
  internal_fault = 1,
  user_error = 2,
  device_failed = 3,
  verification_differs = 4,
};

/// A place in a file. `line` and `column` start at 1; 0 means "the file as a whole".
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:line:column", "file" when there is no line, "" when there is no file.
  std::string to_string() const;
};

/// The user's input or usage is wrong. The message says what is wrong and what would be right.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& message) : std::runtime_error(message) {}
  UserError(const SourceLocation& where, const std::string& message);
};

/// The device, its driver or the operating system failed.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Outputs or conservation laws differ from what they must be.
class VerificationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs `body`, prints any error as "<tool>: error: <message>" on stderr and returns the exit
/// status.
int run_main(const std::string& tool, const std::function<ExitStatus()>& body);

/// "did you mean `x`?" text for a misspelt word: the closest accepted ones, or all when few.
std::string accepted_words(const std::string& given, const std::vector<std::string>& accepted);

}  // namespace fm
