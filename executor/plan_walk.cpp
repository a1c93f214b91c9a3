#include "executor/plan_walk.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/plan_streams.hpp"

namespace fm {

PlanWalk::PlanWalk(const Plan& plan, const ReadSchedule& schedule, PlanActor& actor)
    : plan_(plan), schedule_(schedule), actor_(actor) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) positions_[plan.launches[i].id] = i;
  for (const WeightSlice& slice : plan.weights) {
    if (slice.release_after.empty()) continue;
    const std::size_t release = positions_.at(slice.release_after);
    released_by_[release].push_back(slice.tensor);
    if (!slice.reuses.empty()) takes_over_[slice.tensor] = slice.reuses;
    releases_[slice.tensor] = release;
    if (slice.residency != Residency::stream) continue;
    std::vector<std::size_t>& fillers = filled_by_[slice.tensor];
    for (const WeightTransform& transform : slice.transforms) {
      if (rows_of(plan, slice, transform).count == 0) continue;
      fillers.push_back(positions_.at(transform.launch));
    }
    std::sort(fillers.begin(), fillers.end());
  }
  for (const auto& [taker, owner] : takes_over_) reused_.insert(owner);
  for (const WeightGather& gather : plan.gathers) {
    released_by_[positions_.at(gather.release_after)].push_back(gather.tensor);
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
    for (const std::string& weight : released->second) {
      if (reused_.count(weight) == 0) actor_.release(observed_, weight);
    }
  }
  ++observed_;
  post_reads();
}

void PlanWalk::enqueue(std::size_t launch) {
  const bool kernel = plan_.launches[launch].kind == LaunchKind::kernel;
  std::vector<std::size_t> parts;
  for (; next_needed_ < schedule_.stream.size(); ++next_needed_) {
    const ReadPart& part = schedule_.stream[next_needed_];
    if (part.due != launch) break;
    await_read(next_needed_);
    if (part.staged && !kernel) {
      actor_.enqueue_copy(launch, next_needed_);
    } else {
      parts.push_back(next_needed_);
    }
  }
  if (kernel) actor_.enqueue_kernel(launch, parts);
}

std::vector<std::size_t> PlanWalk::before(const PlanLaunch& launch) const {
  std::set<std::size_t> positions;
  for (const std::string& id : launch.depends) positions.insert(positions_.at(id));
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&argument);
    if (used) add_filler(used->tensor, launch, &positions);
  }
  std::vector<std::string> filled;
  for (const WeightStream& stream : streams_in(plan_, launch)) {
    filled.push_back(plan_.weights[stream.weight].tensor);
  }
  if (launch.kind == LaunchKind::copy) filled.push_back(launch.weight);
  for (const std::string& weight : filled) {
    add_filler(weight, launch, &positions);
    if (const std::string* owner = taken_over_by(weight)) positions.insert(releases_.at(*owner));
  }
  return {positions.begin(), positions.end()};
}

const std::string* PlanWalk::taken_over_by(const std::string& weight) const {
  const auto found = takes_over_.find(weight);
  return found == takes_over_.end() ? nullptr : &found->second;
}

void PlanWalk::add_filler(const std::string& weight, const PlanLaunch& launch,
                          std::set<std::size_t>* positions) const {
  const auto fillers = filled_by_.find(weight);
  if (fillers == filled_by_.end()) return;
  const std::size_t own = positions_.at(launch.id);
  const auto last = std::find_if(
      fillers->second.rbegin(), fillers->second.rend(),
      [&](std::size_t at) { return at < own && plan_.launches[at].kind != launch.kind; });
  if (last != fillers->second.rend()) positions->insert(*last);
}

}  // namespace fm
