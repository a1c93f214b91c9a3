#include "executor/plan_walk.hpp"

#include <set>
#include <stdexcept>

namespace fm {

PlanWalk::PlanWalk(const Plan& plan, const ReadSchedule& schedule, PlanActor& actor)
    : plan_(plan), schedule_(schedule), actor_(actor) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions_[plan.launches[i].id] = i;
  for (const WeightSlice& slice : plan.weights) {
    if (slice.residency == Residency::stream) {
      released_by_[positions_.at(slice.release_after)].push_back(slice.tensor);
    }
  }
  for (const WeightGather& gather : plan.gathers) {
    released_by_[positions_.at(gather.release_after)].push_back(gather.tensor);
  }
  for (const ReadPart& part : schedule.stream) {
    if (part.staged) copied_by_[plan.weights[part.weight].tensor] = part.due;
  }
}

void PlanWalk::run() {
  const std::size_t total = plan_.launches.size();
  post_reads();
  for (std::size_t launch = 0; launch < total; ++launch) {
    while (launch - observed_ >= static_cast<std::size_t>(plan_.enqueue_ahead)) observe_next();
    enqueue(launch);
    ++enqueued_;
  }
  while (observed_ < total) observe_next();
}

void PlanWalk::post_reads() {
  for (; next_read_ < schedule_.stream.size(); ++next_read_) {
    const ReadPart& part = schedule_.stream[next_read_];
    if (part.earliest && *part.earliest > observed_) return;
    actor_.post_read(next_read_);
  }
}

void PlanWalk::await_read(std::size_t part) {
  while (part >= next_read_) observe_next();
  actor_.await_read(part);
}

void PlanWalk::observe_next() {
  if (observed_ >= enqueued_) {
    throw std::logic_error("a read waits for a launch that waits for it");
  }
  actor_.observe(observed_);
  const auto released = released_by_.find(observed_);
  if (released != released_by_.end()) {
    for (const std::string& weight : released->second) actor_.release(observed_, weight);
  }
  ++observed_;
  post_reads();
}

void PlanWalk::enqueue(std::size_t launch) {
  std::vector<std::size_t> in_place;
  for (; next_needed_ < schedule_.stream.size(); ++next_needed_) {
    const ReadPart& part = schedule_.stream[next_needed_];
    if (part.due != launch) break;
    await_read(next_needed_);
    if (part.staged) {
      actor_.enqueue_copy(launch, next_needed_);
    } else {
      in_place.push_back(next_needed_);
    }
  }
  if (plan_.launches[launch].kind == LaunchKind::kernel) actor_.enqueue_kernel(launch, in_place);
}

std::vector<std::size_t> PlanWalk::before(const PlanLaunch& launch) const {
  std::set<std::size_t> positions;
  for (const std::string& id : launch.depends) positions.insert(positions_.at(id));
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&argument);
    const auto copy = used ? copied_by_.find(used->tensor) : copied_by_.end();
    if (copy != copied_by_.end()) positions.insert(copy->second);
  }
  return {positions.begin(), positions.end()};
}

}  // namespace fm
