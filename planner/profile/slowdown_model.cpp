#include "planner/profile/slowdown_model.hpp"

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr int rounds = 400;
/// Points of a learnt curve: so many equal pieces.
constexpr std::uint64_t learnt_points = 6;
/// No launch gets shorter than so much of its bare time by streaming.
constexpr double least_ratio = 0.5;

void check(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string("XGBoost: ") + what + ": " + XGBGetLastError());
  }
}

double number(Nanoseconds time) { return static_cast<double>(time.count()); }

struct Rows {
  std::vector<ModelRow> rows;
  std::vector<float> labels, weights;
  void add(ModelRow row, double label, double weight) {
    rows.push_back(std::move(row));
    labels.push_back(static_cast<float>(label));
    weights.push_back(static_cast<float>(weight));
  }
};

}  // namespace

struct SlowdownModel::Trees {
  explicit Trees(const Rows& learnt) {
    const std::size_t count = learnt.rows.size(), width = learnt.rows.front().size();
    std::vector<float> flat;
    for (const ModelRow& row : learnt.rows) flat.insert(flat.end(), row.begin(), row.end());
    DMatrixHandle data = nullptr;
    check(XGDMatrixCreateFromMat(flat.data(), count, width, NAN, &data), "training data");
    check(XGDMatrixSetFloatInfo(data, "label", learnt.labels.data(), count), "labels");
    // One on average, so that the limits on leaves mean numbers of rows.
    const float sum = std::accumulate(learnt.weights.begin(), learnt.weights.end(), 0.0F);
    std::vector<float> weights = learnt.weights;
    for (float& weight : weights) weight *= static_cast<float>(count) / sum;
    check(XGDMatrixSetFloatInfo(data, "weight", weights.data(), count), "weights");
    check(XGBoosterCreate(&data, 1, &booster), "a model");
    set("objective", "reg:squarederror");
    set("base_score", "0");
    set("max_depth", "6");
    set("eta", "0.05");
    set("subsample", "0.7");
    set("colsample_bytree", "0.6");
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

  double predict(const ModelRow& row) const {
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

std::vector<LearntLaunch> launches_of(const DeviceProfile& profile) {
  std::vector<LearntLaunch> launches;
  for (const auto& [signature, entry] : profile.entries) {
    launches.push_back({&entry, &profile.rates});
  }
  return launches;
}

SlowdownModel::SlowdownModel(const std::vector<LearntLaunch>& launches) {
  if (launches.size() < fewest_learnt) {
    throw UserError("the profile has " + std::to_string(launches.size()) + " launches, at least " +
                    std::to_string(fewest_learnt) +
                    " are needed to learn what others take: profile more with fmplan profile");
  }
  Rows bare, slowed;
  for (const LearntLaunch& launch : launches) {
    const LaunchFacts facts = launch.facts();
    const double time = number(launch.entry->time);
    bare.add(bare_row(facts), std::log2(time / parts_in_turn(facts)), 1);
    for (const SlowedTime& point : launch.entry->points) {
      const double alone = streaming_alone(facts, point.streamed);
      // So that squared errors are those of the slowed time, relative.
      const double weight = alone / number(point.time);
      slowed.add(streamed_row(facts, launch.entry->time, point.streamed),
                 (number(point.time) - time) / alone, weight * weight);
    }
  }
  time_ = std::make_unique<Trees>(bare);
  if (!slowed.rows.empty()) extra_ = std::make_unique<Trees>(slowed);
}

SlowdownModel::~SlowdownModel() = default;
SlowdownModel::SlowdownModel(SlowdownModel&&) noexcept = default;

Nanoseconds SlowdownModel::time(const LaunchFacts& facts) const {
  const double time = parts_in_turn(facts) * std::exp2(time_->predict(bare_row(facts)));
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(std::max(1.0, time))));
}

double SlowdownModel::ratio(const LaunchFacts& facts, Nanoseconds time, Bytes streamed) const {
  if (!extra_ || streamed == Bytes(0)) return 1;
  const double share = extra_->predict(streamed_row(facts, time, streamed));
  return std::max(least_ratio, 1 + share * streaming_alone(facts, streamed) / number(time));
}

std::vector<SlowedTime> SlowdownModel::points(const LaunchFacts& facts, Nanoseconds time,
                                              Bytes most) const {
  std::vector<SlowedTime> points;
  for (std::uint64_t i = 1; extra_ && i <= learnt_points; ++i) {
    const Bytes streamed = most * i / learnt_points;
    if (streamed == Bytes(0)) continue;
    const double slowed = number(time) * ratio(facts, time, streamed);
    points.push_back({streamed, Nanoseconds(static_cast<std::uint64_t>(std::llround(slowed)))});
  }
  return points;
}

}  // namespace fm
