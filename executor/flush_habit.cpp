#include "executor/flush_habit.hpp"

namespace fm {

std::size_t flush_period(const OpenClDevice& device) {
  const auto says = [&](const char* word) {
    return (device.name + " " + device.vendor + " " + device.platform_name).find(word) !=
           std::string::npos;
  };
  if (says("Mali") || says("Immortalis")) return 24;
  if (says("Adreno") || says("QUALCOMM")) return 16;
  if (says("PowerVR")) return 4;
  return 1;
}

}  // namespace fm
