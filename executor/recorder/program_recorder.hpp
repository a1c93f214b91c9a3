#pragma once
// The access programs of a plan's launches, one a key: a network of a hundred launches has some
// twenty.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/trace.pb.h"
#include "executor/opencl_objects.hpp"
#include "executor/program_cache.hpp"

namespace fm {

/// The values an i32 tensor holds when the launches that load indices from it run.
using IndexSource = std::function<std::vector<std::int32_t>(const PlanTensor&)>;

class ProgramRecorder {
 public:
  /// `context` and `cache` must outlive it.
  ProgramRecorder(const OpenClContext& context, ProgramCache& cache)
      : context_(context), cache_(cache) {}

  /// Makes a program known without recording it (it was recorded before). Ids are given anew.
  void add(trace::AccessProgram program);
  /// Whether a program of the launch's key is known.
  bool has(const Plan& plan, const PlanLaunch& launch) const;

  /// Id of the launch's program, from 1; recorded now if its key is new. `indices` is asked for the
  /// launch's index tensors only then.
  std::uint32_t record(const Plan& plan, const PlanLaunch& launch, const IndexSource& indices);

  /// In the order of their ids.
  const std::vector<trace::AccessProgram>& programs() const { return programs_; }
  const trace::AccessProgram& program(std::uint32_t id) const { return programs_.at(id - 1); }

 private:
  const OpenClContext& context_;
  ProgramCache& cache_;
  std::vector<trace::AccessProgram> programs_;
  std::map<std::string, std::uint32_t> ids_;  // by key
};

}  // namespace fm
