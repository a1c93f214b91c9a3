#include "executor/ops_check.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "core/diagnostics.hpp"
#include "executor/plan_names.hpp"

namespace fm {
namespace {

/// What storing a right value in half costs, at most.
constexpr double half_rounding = 0x1p-11;

Shape without_ones(const Shape& shape) {
  Shape left;
  for (const std::int64_t extent : shape) {
    if (extent != 1) left.push_back(extent);
  }
  return left;
}

bool holds_reals(const PlanTensor& tensor) {
  return tensor.dtype == DataType::f16 || tensor.dtype == DataType::f32;
}

struct Difference {
  double squares = 0, norm = 0, largest = 0;
  std::uint64_t nan_count = 0;

  void add(double want, double got) {
    if (std::isnan(want) || want == got) {
      if (std::isfinite(want)) norm += want * want;
      return;
    }
    if (!std::isfinite(got) || std::isinf(want)) {
      ++nan_count;
      return;
    }
    squares += (got - want) * (got - want);
    norm += want * want;
    largest = std::max(largest, std::abs(got - want));
  }
  double relative() const {
    return norm > 0 ? std::sqrt(squares / norm) : squares > 0 ? HUGE_VAL : 0.0;
  }
};

/// A plan may store such a tensor in another order of axes, and its shape would not tell.
bool has_equal_axes(const Shape& shape) {
  Shape extents = without_ones(shape);
  std::sort(extents.begin(), extents.end());
  return std::adjacent_find(extents.begin(), extents.end()) != extents.end();
}

bool in_no_order(float a, float b) {  // NaN last
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

std::vector<float> sorted(std::vector<float> values) {
  std::sort(values.begin(), values.end(), in_no_order);
  return values;
}

std::string number(double value) {
  std::ostringstream text;
  text << std::setprecision(3) << value;
  return text.str();
}

}  // namespace

OpsCheck::OpsCheck(const Plan& plan, PlanExecutor& executor, const ModelFiles& references,
                   BarKind bars, std::optional<double> tolerance)
    : plan_(plan),
      executor_(executor),
      references_(references),
      bars_(bars),
      tolerance_(tolerance) {
  bool any = false;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    for (const TensorArgument* argument : tensors_in(plan.launches[i])) {
      if (!argument->write) continue;
      writers_[argument->tensor].push_back(i);
      any = any || reference_of(plan.tensor(argument->tensor)).has_value();
    }
  }
  if (any) return;
  throw UserError("--verify-ops " + references.begin()->second +
                  " has none of the tensors that the plan's launches write; make it with "
                  "tests/reference/ort_reference.py --model MODEL --tensors PLAN");
}

std::optional<NpyArray> OpsCheck::reference_of(const PlanTensor& tensor) {
  const NpzReader* file = references_.of(plan_, tensor);
  const std::string name = "tensor:" + tensor.name;
  if (file == nullptr || !file->has(name)) return std::nullopt;
  NpyArray array = file->read(name);
  if (element_count(array.shape) != element_count(tensor.shape)) return std::nullopt;
  return array;
}

double OpsCheck::bar_of(const PlanTensor& tensor) {
  if (tolerance_) return *tolerance_;
  if (plan_.storage == DataType::f32 && bars_ == BarKind::by_storage) return float_bar;
  const NpzReader& file = *references_.of(plan_, tensor);
  const std::string name = "half_error:" + tensor.name;
  if (!file.has(name)) {
    throw UserError(file.path() + ": no '" + name +
                    "', the error of half storage that sets the bar; give --tolerance");
  }
  return half_error_factor * static_cast<double>(file.read(name).values.at(0)) + half_rounding;
}

/// Parts of a tensor are told from the rest of it by NaN, which no part holds.
void OpsCheck::launch_starts(std::size_t launch) {
  for (const TensorArgument* argument : tensors_in(plan_.launches[launch])) {
    const PlanTensor& tensor = plan_.tensor(argument->tensor);
    if (!argument->write || writers_[tensor.id].size() < 2) continue;
    if (writers_[tensor.id].front() != launch || !holds_reals(tensor)) continue;
    const auto count = static_cast<std::size_t>(element_count(tensor.shape));
    executor_.write_tensor(
        tensor, pack(tensor.layout, tensor.dtype, tensor.shape,
                     std::vector<float>(count, std::numeric_limits<float>::quiet_NaN()).data()));
    written_[tensor.id].assign(count, false);
  }
}

bool OpsCheck::last_write(std::size_t launch, const std::string& tensor) const {
  return writers_.at(tensor).back() == launch;
}

void OpsCheck::launch_done(std::size_t launch) {
  for (const TensorArgument* argument : tensors_in(plan_.launches[launch])) {
    if (argument->write) compare(launch, plan_.tensor(argument->tensor));
  }
}

void OpsCheck::compare(std::size_t launch, const PlanTensor& tensor) {
  Row& row = rows_.emplace_back();
  row.launch = launch;
  row.tensor = tensor.id;
  row.comparison.name = tensor.name;
  const std::optional<NpyArray> reference = reference_of(tensor);
  const bool whole = last_write(launch, tensor.id);
  if (!reference || (!whole && !holds_reals(tensor))) return;
  row.comparison.bar = bar_of(tensor);
  const std::vector<std::uint8_t> bytes = executor_.read_tensor(tensor);
  const std::vector<float> got = unpack(tensor.layout, tensor.dtype, tensor.shape, bytes.data());
  std::vector<bool>& before = written_[tensor.id];
  before.resize(got.size(), false);
  const auto judge = [&](const Difference& difference) {
    row.comparison.relative_error = difference.relative();
    row.comparison.nan_count = difference.nan_count;
    row.largest_difference = difference.largest;
    return row.comparison.passes();
  };
  const bool same_order = without_ones(reference->shape) == without_ones(tensor.shape);
  Difference difference;
  for (std::size_t i = 0; i < got.size() && same_order; ++i) {
    const bool of_another_part = before[i] || (!whole && std::isnan(got[i]));
    if (!of_another_part) difference.add(reference->values[i], got[i]);
  }
  const bool in_order = same_order && judge(difference);
  if (!in_order && whole && (!same_order || has_equal_axes(tensor.shape))) {
    const std::vector<float> want = sorted(reference->values), have = sorted(got);
    Difference of_sets;
    for (std::size_t i = 0; i < want.size(); ++i) of_sets.add(want[i], have[i]);
    row.as_set = judge(of_sets) || !same_order;
    if (!row.as_set) judge(difference);
  }
  row.compared = same_order || row.as_set;
  for (std::size_t i = 0; i < got.size(); ++i) before[i] = before[i] || !std::isnan(got[i]);
  if (whole && !row.as_set && row.compared && tensor.role != TensorRole::output) {
    executor_.write_tensor(
        tensor, pack(tensor.layout, tensor.dtype, tensor.shape, reference->values.data()));
  }
}

std::string OpsCheck::unknown_inputs(const PlanLaunch& launch) const {
  std::string text;
  for (const TensorArgument* argument : tensors_in(launch)) {
    if (argument->write) continue;
    for (const Row& row : rows_) {
      if (row.tensor != argument->tensor || row.compared) continue;
      text += (text.empty() ? "" : ", ") + ("`" + row.comparison.name) + "` of launch " +
              plan_.launches[row.launch].id;
    }
  }
  return text;
}

std::string OpsCheck::row_text(const Row& row) const {
  const PlanLaunch& launch = plan_.launches[row.launch];
  std::ostringstream text;
  text << "  " << std::left << std::setw(8) << launch.id << std::setw(18) << launch.kernel
       << std::setw(22) << launch.operation;
  if (!row.compared) {
    text << "not compared: the reference has no such tensor";
  } else {
    text << "relative error " << std::setw(10) << number(row.comparison.relative_error) << "bar "
         << std::setw(10) << number(row.comparison.bar) << "largest difference " << std::setw(10)
         << number(row.largest_difference)
         << (row.comparison.nan_count > 0
                 ? std::to_string(row.comparison.nan_count) + " not finite "
                 : "")
         << (row.as_set ? "in another order: " : "") << (row.passes() ? "passed" : "FAILED");
  }
  text << " `" << row.comparison.name << "`\n";
  return text.str();
}

std::string OpsCheck::summary() const {
  const auto compared =
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.compared; });
  std::string text = "verify-ops           " + std::to_string(compared) + " of " +
                     std::to_string(rows_.size()) + " results of launches compared\n";
  for (const Row& row : rows_) text += row_text(row);
  return text;
}

void OpsCheck::require_passed() const {
  const auto fails = [](const Row& row) { return !row.passes(); };
  const auto first = std::find_if(rows_.begin(), rows_.end(), fails);
  if (first == rows_.end()) return;
  const PlanLaunch& launch = plan_.launches[first->launch];
  const std::string unknown = unknown_inputs(launch);
  throw VerificationError(
      title(launch) + " is the first of " +
      std::to_string(std::count_if(rows_.begin(), rows_.end(), fails)) +
      " whose result differs from the host's: tensor `" + first->comparison.name +
      "`, relative error " + number(first->comparison.relative_error) + ", bar " +
      number(first->comparison.bar) + ", largest difference " + number(first->largest_difference) +
      (first->comparison.nan_count > 0
           ? ", " + std::to_string(first->comparison.nan_count) + " values not finite"
           : "") +
      (unknown.empty() ? "" : "; it reads what could not be compared: " + unknown));
}

}  // namespace fm
