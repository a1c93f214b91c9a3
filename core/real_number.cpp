#include "core/real_number.hpp"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace fm {

std::from_chars_result read_real(const std::string& text, double& number) {
  const char* begin = text.c_str();
  const char* digits = *begin == '-' ? begin + 1 : begin;
  if (std::isspace(static_cast<unsigned char>(*digits)) || *digits == '+' ||
      (*digits == '-' && digits != begin)) {
    return {begin, std::errc::invalid_argument};
  }
  if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    number = digits == begin ? 0.0 : -0.0;
    return {digits + 1, std::errc{}};
  }
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(begin, &end);  // the tools keep the C locale
  if (end == begin) return {begin, std::errc::invalid_argument};
  if (errno == ERANGE && (value == 0 || std::isinf(value))) {
    return {end, std::errc::result_out_of_range};
  }
  number = value;
  return {end, std::errc{}};
}

}  // namespace fm
