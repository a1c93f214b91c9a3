#include "planner/overlap/plan_transforms.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/plan_streams.hpp"
#include "kernels/catalogue.hpp"
#include "planner/overlap/read_pieces.hpp"

namespace fm {
namespace {

/// Chunks of one weight that one launch moves.
struct Piece {
  std::size_t weight = 0;  // of the plan
  std::uint64_t first = 0, count = 0;
};

class ScheduleWriter {
 public:
  ScheduleWriter(const std::vector<std::size_t>& streamed, Plan* plan) : plan_(plan) {
    for (const std::size_t w : streamed) {
      if (plan->tensor(plan->weights[w].tensor).placement != Placement::image2d) continue;
      const std::uint64_t chunks =
          ceil_div(plan->weights[w].bytes.count(), plan->chunk_bytes.count());
      for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) images_.push_back({w, chunk, 1});
    }
  }

  /// Ids of the first launch at which each kernel's copies begin: it or its first copy.
  std::vector<std::string> write(const OverlapSchedule& schedule) {
    std::vector<std::string> begins;
    std::vector<PlanLaunch> launches;
    for (std::size_t k = 0; k < plan_->launches.size(); ++k) {
      const std::size_t first = launches.size();
      for (const Piece& piece : next_pieces(schedule.copied[k])) {
        launches.push_back(copy_of(piece));
        add_transform(piece, launches.back().id);
      }
      PlanLaunch launch = plan_->launches[k];
      const std::vector<Piece> inside = next_pieces(schedule.streamed[k]);
      if (!inside.empty()) launch.parameters[streams_parameter] = std::to_string(inside.size());
      for (const Piece& piece : inside) add_transform(piece, launch.id);
      launches.push_back(std::move(launch));
      begins.push_back(launches[first].id);
    }
    plan_->launches = std::move(launches);
    return begins;
  }

 private:
  /// The next chunks in reading order, those of a weight together.
  std::vector<Piece> next_pieces(std::uint64_t chunks) {
    std::vector<Piece> pieces;
    for (; chunks > 0; --chunks, ++next_) {
      const Piece& chunk = images_.at(next_);
      if (!pieces.empty() && pieces.back().weight == chunk.weight) {
        ++pieces.back().count;
      } else {
        pieces.push_back(chunk);
      }
    }
    return pieces;
  }

  PlanLaunch copy_of(const Piece& piece) {
    PlanLaunch copy;
    copy.id = "C" + std::to_string(copies_++);
    copy.kind = LaunchKind::copy;
    copy.operation = "Copy";
    copy.weight = plan_->weights[piece.weight].tensor;
    copy.model = plan_->tensor(copy.weight).model;
    return copy;
  }

  void add_transform(const Piece& piece, const std::string& launch) {
    plan_->weights[piece.weight].transforms.push_back({launch, piece.first, piece.count});
  }

  Plan* plan_;
  std::vector<Piece> images_;  // chunk by chunk, in reading order
  std::size_t next_ = 0;
  std::size_t copies_ = 0;
};

/// Launches that differ in how many weights they stream have one program, with slots for the most.
void share_programs(Plan* plan) {
  std::map<std::string, int> slots;
  const auto bare_program = [&](PlanLaunch launch) {
    launch.parameters.erase(streams_parameter);
    return program_name(*plan, launch);
  };
  for (const PlanLaunch& launch : plan->launches) {
    if (stream_slots(launch) == 0) continue;
    int& most = slots[bare_program(launch)];
    most = std::max(most, stream_slots(launch));
  }
  for (PlanLaunch& launch : plan->launches) {
    if (stream_slots(launch) == 0) continue;
    launch.parameters[streams_parameter] = std::to_string(slots.at(bare_program(launch)));
  }
}

}  // namespace

Plan plan_with_schedule(const Plan& original, const OverlapSetting& setting,
                        const std::vector<std::size_t>& streamed, const OverlapSchedule& schedule,
                        const TimedRun& run) {
  Plan plan = original;
  plan.enqueue_ahead = setting.enqueue_ahead;
  const std::vector<std::string> begins = ScheduleWriter(streamed, &plan).write(schedule);
  share_programs(&plan);
  bool images = false;
  for (std::size_t i = 0; i < streamed.size(); ++i) {
    WeightSlice& slice = plan.weights[streamed[i]];
    const PlanTensor& tensor = plan.tensor(slice.tensor);
    slice.residency = Residency::stream;
    slice.release_after = tensor.last_use;
    if (tensor.placement == Placement::image2d) {
      images = true;
      continue;
    }
    const Phase from = run.read_from[i];
    if (from.running) {
      slice.earliest_launch = original.launches[from.launch].id;
    } else if (from.launch > 0) {
      slice.earliest_launch = begins[from.launch];
    }
  }
  // The executor makes a ring larger by what its parts may read beside them.
  plan.staging_ring_bytes = images ? setting.ring - 2 * Bytes(staging_block) : Bytes(0);
  return plan;
}

}  // namespace fm
