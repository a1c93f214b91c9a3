#pragma once
// Real numbers in text.

#include <charconv>
#include <string>

namespace fm {

/// Reads the number that `text` begins with, as std::from_chars, which the libc++ of Android has
/// for whole numbers only: no white space or plus sign before it, no hexadecimal digits. `number`
/// stays as it was unless the result's `ec` is std::errc{}.
std::from_chars_result read_real(const std::string& text, double& number);

}  // namespace fm
