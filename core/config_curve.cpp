#include <cmath>

#include "core/device_config.hpp"

namespace fm {

double curve_at(const std::vector<CurvePoint>& curve, double x) {
  if (x <= curve.front().x) return curve.front().y;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    if (x > curve[i].x) continue;
    const double share = std::log2(x / curve[i - 1].x) / std::log2(curve[i].x / curve[i - 1].x);
    return curve[i - 1].y + share * (curve[i].y - curve[i - 1].y);
  }
  return curve.back().y;
}

}  // namespace fm
