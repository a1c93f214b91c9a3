#pragma once

namespace fm {
constexpr const char* version = "0.1.0";
}
