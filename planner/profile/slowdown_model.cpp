#include "planner/profile/slowdown_model.hpp"

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/diagnostics.hpp"
#include "planner/profile/convex_fit.hpp"

namespace fm {
namespace {

constexpr int rounds = 300;
/// Points of a learnt curve: so many equal pieces.
constexpr std::uint64_t learnt_points = 6;

void check(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string("XGBoost: ") + what + ": " + XGBGetLastError());
  }
}

double number(Nanoseconds time) { return static_cast<double>(time.count()); }

using Row = std::vector<float>;

/// Features of a slowed launch: of the launch, how long it takes and moves, and what is streamed in
/// relation to both.
Row slowed_row(const Row& features, Nanoseconds time, Bytes streamed) {
  const double bytes = static_cast<double>(streamed.count()), nanoseconds = number(time);
  Row row = features;
  row.push_back(static_cast<float>(std::log2(nanoseconds)));
  row.push_back(static_cast<float>(std::log2(bytes)));
  row.push_back(static_cast<float>(std::log2(bytes / nanoseconds)));  // GB/s to hide it all
  return row;
}

}  // namespace

struct SlowdownModel::Trees {
  /// `rising`: the last so many features never lower the prediction.
  Trees(const std::vector<Row>& rows, const std::vector<float>& labels, std::size_t rising) {
    const std::size_t width = rows.front().size();
    std::vector<float> flat;
    for (const Row& row : rows) flat.insert(flat.end(), row.begin(), row.end());
    DMatrixHandle data = nullptr;
    check(XGDMatrixCreateFromMat(flat.data(), rows.size(), width, NAN, &data), "training data");
    check(XGDMatrixSetFloatInfo(data, "label", labels.data(), labels.size()), "labels");
    check(XGBoosterCreate(&data, 1, &booster), "a model");
    std::string monotone = "(";
    for (std::size_t i = 0; i < width; ++i) {
      monotone += std::string(i == 0 ? "" : ",") + (i + rising >= width ? "1" : "0");
    }
    set("monotone_constraints", monotone + ")");
    set("objective", "reg:squarederror");
    set("base_score", "0");
    set("max_depth", "4");
    set("eta", "0.1");
    set("min_child_weight", "1");
    set("lambda", "0.5");
    set("tree_method", "exact");
    set("nthread", "1");
    set("verbosity", "0");
    set("seed", "1");
    for (int round = 0; round < rounds; ++round) {
      check(XGBoosterUpdateOneIter(booster, round, data), "training");
    }
    check(XGDMatrixFree(data), "training data");
  }
  ~Trees() { XGBoosterFree(booster); }
  Trees(const Trees&) = delete;
  Trees& operator=(const Trees&) = delete;

  void set(const char* name, const std::string& value) const {
    check(XGBoosterSetParam(booster, name, value.c_str()), name);
  }

  double predict(const Row& row) const {
    DMatrixHandle data = nullptr;
    check(XGDMatrixCreateFromMat(row.data(), 1, row.size(), NAN, &data), "a launch");
    bst_ulong count = 0;
    const float* values = nullptr;
    check(XGBoosterPredict(booster, data, 0, 0, 0, &count, &values), "a prediction");
    const double value = static_cast<double>(values[0]);
    check(XGDMatrixFree(data), "a launch");
    return value;
  }

  BoosterHandle booster = nullptr;
};

SlowdownModel::SlowdownModel(const std::vector<const ProfileEntry*>& entries) {
  if (entries.size() < fewest_learnt) {
    throw UserError("the profile has " + std::to_string(entries.size()) + " launches, at least " +
                    std::to_string(fewest_learnt) +
                    " are needed to learn what others take: profile more with fmplan profile");
  }
  std::vector<Row> bare, slowed;
  std::vector<float> times, ratios;
  for (const ProfileEntry* entry : entries) {
    bare.push_back(entry->features);
    times.push_back(static_cast<float>(std::log2(number(entry->time))));
    for (const SlowdownPoint& point : entry->points) {
      slowed.push_back(slowed_row(entry->features, entry->time, point.streamed));
      ratios.push_back(
          static_cast<float>(std::log2(1 + number(point.extra) / number(entry->time))));
    }
  }
  time_ = std::make_unique<Trees>(bare, times, 0);
  if (!slowed.empty()) ratio_ = std::make_unique<Trees>(slowed, ratios, 2);
}

SlowdownModel::~SlowdownModel() = default;
SlowdownModel::SlowdownModel(SlowdownModel&&) noexcept = default;

Nanoseconds SlowdownModel::time(const std::vector<float>& features) const {
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(std::exp2(time_->predict(features)))));
}

double SlowdownModel::ratio(const std::vector<float>& features, Nanoseconds time,
                            Bytes streamed) const {
  if (!ratio_ || streamed == Bytes(0)) return 1;
  return std::max(1.0, std::exp2(ratio_->predict(slowed_row(features, time, streamed))));
}

SlowdownCurve SlowdownModel::slowdown(const std::vector<float>& features, Nanoseconds time,
                                      Bytes most) const {
  std::vector<SlowdownPoint> points;
  for (std::uint64_t i = 1; ratio_ && i <= learnt_points; ++i) {
    const Bytes streamed = most * i / learnt_points;
    const double extra = number(time) * (ratio(features, time, streamed) - 1);
    points.push_back({streamed, Nanoseconds(static_cast<std::uint64_t>(std::llround(extra)))});
  }
  return convex_fit(points);
}

}  // namespace fm
