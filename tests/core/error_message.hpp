#pragma once
// The message of the UserError that some code throws; "" when it throws none.

#include <functional>
#include <string>

#include "core/diagnostics.hpp"

namespace fm {

inline std::string user_error_of(const std::function<void()>& code) {
  try {
    code();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace fm
