#pragma once
// The order in which a plan is run: when reads are asked for, launches enqueued and found complete.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/streamer/read_schedule.hpp"

namespace fm {

/// What a walk has done at each step. Launches are named by position in plan.launches, parts by
/// index in schedule.stream.
class PlanActor {
 public:
  virtual ~PlanActor() = default;
  /// Asks the reader thread for a part; returns at once.
  virtual void post_read(std::size_t part) = 0;
  /// Waits until a posted part is in memory.
  virtual void await_read(std::size_t part) = 0;
  /// Enqueues the copy of a part just waited for.
  virtual void enqueue_copy(std::size_t launch, std::size_t part) = 0;
  /// `parts`: those it waited for just now; staged ones are moved inside it.
  virtual void enqueue_kernel(std::size_t launch, const std::vector<std::size_t>& parts) = 0;
  /// Waits until a launch is complete, and gives back the ring pieces it emptied.
  virtual void observe(std::size_t launch) = 0;
  /// Releases a weight whose last launch was observed, unless another reuses its memory.
  virtual void release(std::size_t launch, const std::string& weight) = 0;
};

/// At most plan.enqueue_ahead launches are enqueued and not known complete. Launches are observed
/// complete in order; that is when memory is released and the reads of the launch that starts then
/// are posted.
class PlanWalk {
 public:
  /// All arguments outlive it.
  PlanWalk(const Plan& plan, const ReadSchedule& schedule, PlanActor& actor);
  void run();
  std::size_t observed() const { return observed_; }
  /// Launches that `launch` waits for, in order: those it depends on, the last one of the other
  /// queue that filled an image it reads or fills, and the last user of an image it reuses.
  std::vector<std::size_t> before(const PlanLaunch& launch) const;
  /// The weight whose memory `weight` reuses, or null.
  const std::string* taken_over_by(const std::string& weight) const;

 private:
  void post_reads();
  void await_read(std::size_t part);
  void observe_next();
  void enqueue(std::size_t launch);
  void add_filler(const std::string& weight, const PlanLaunch& launch,
                  std::set<std::size_t>* positions) const;

  const Plan& plan_;
  const ReadSchedule& schedule_;
  PlanActor& actor_;
  std::map<std::string, std::size_t> positions_;  // of launches
  // Launches that fill a streamed image weight, in order.
  std::map<std::string, std::vector<std::size_t>> filled_by_;
  std::map<std::size_t, std::vector<std::string>> released_by_;  // launch -> weights
  std::map<std::string, std::size_t> releases_;                  // weight -> launch
  std::map<std::string, std::string> takes_over_;  // weight -> the one whose memory it reuses
  std::set<std::string> reused_;                   // weights whose memory another reuses
  std::size_t next_read_ = 0;                      // parts posted
  std::size_t next_needed_ = 0;                    // parts waited for
  std::size_t enqueued_ = 0;                       // launches
  std::size_t observed_ = 0;                       // launches known complete
};

}  // namespace fm
