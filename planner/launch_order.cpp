#include "planner/launch_order.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace fm {
namespace {

/// What a launch touches, by index of tensor; weights are left out.
struct Touched {
  std::set<std::size_t> read, written;
};

class LaunchOrder {
 public:
  explicit LaunchOrder(const Plan& plan) : plan_(plan) {
    std::map<std::string, std::size_t> tensors;
    for (std::size_t t = 0; t < plan.tensors.size(); ++t) tensors[plan.tensors[t].id] = t;
    for (const PlanLaunch& launch : plan.launches) {
      Touched touched;
      for (const LaunchArgument& argument : launch.arguments) {
        const auto* used = std::get_if<TensorArgument>(&argument);
        if (used == nullptr) continue;
        const std::size_t t = tensors.at(used->tensor);
        if (plan.tensors[t].role == TensorRole::weight) continue;
        (used->write ? touched.written : touched.read).insert(t);
      }
      touched_.push_back(std::move(touched));
    }
    add_dependencies();
  }

  /// Peak of live activations in an order of launches.
  Bytes peak_of(const std::vector<std::size_t>& order) const {
    Live live(*this);
    Bytes peak;
    for (const std::size_t launch : order) {
      peak = std::max(peak, live.while_running(launch));
      live.run(launch);
    }
    return peak;
  }

  std::vector<std::size_t> leanest() const {
    std::vector<std::size_t> missing, order;
    for (const auto& before : before_) missing.push_back(before.size());
    std::vector<char> done(before_.size(), 0);
    Live live(*this);
    while (order.size() < before_.size()) {
      std::size_t best = before_.size();
      for (std::size_t i = 0; i < before_.size(); ++i) {
        if (done[i] || missing[i] > 0) continue;
        if (best == before_.size() || live.after(i) < live.after(best)) best = i;
      }
      done[best] = 1;
      live.run(best);
      order.push_back(best);
      for (const std::size_t next : after_[best]) --missing[next];
    }
    return order;
  }

 private:
  /// Activations alive while launches run one after the other.
  class Live {
   public:
    explicit Live(const LaunchOrder& launches)
        : launches_(launches), left_(launches.plan_.tensors.size(), 0) {
      for (std::size_t i = 0; i < launches.touched_.size(); ++i) {
        for (const std::size_t t : all_of(i)) ++left_[t];
      }
    }
    std::int64_t after(std::size_t launch) const {
      std::int64_t bytes = bytes_;
      for (const std::size_t t : launches_.touched_[launch].written) {
        if (alive_.count(t) == 0 && left_[t] > 1) bytes += bytes_of(t);
      }
      for (const std::size_t t : all_of(launch)) {
        if (alive_.count(t) != 0 && left_[t] == 1) bytes -= bytes_of(t);
      }
      return bytes;
    }
    Bytes while_running(std::size_t launch) const {
      std::int64_t bytes = bytes_;
      for (const std::size_t t : launches_.touched_[launch].written) {
        if (alive_.count(t) == 0) bytes += bytes_of(t);
      }
      return Bytes(static_cast<std::uint64_t>(bytes));
    }
    void run(std::size_t launch) {
      bytes_ = after(launch);
      for (const std::size_t t : launches_.touched_[launch].written) alive_.insert(t);
      for (const std::size_t t : all_of(launch)) {
        if (--left_[t] == 0) alive_.erase(t);
      }
    }

   private:
    std::set<std::size_t> all_of(std::size_t launch) const {
      std::set<std::size_t> all = launches_.touched_[launch].read;
      const auto& written = launches_.touched_[launch].written;
      all.insert(written.begin(), written.end());
      return all;
    }
    /// Inputs and outputs have memory of their own from start to end.
    std::int64_t bytes_of(std::size_t t) const {
      const PlanTensor& tensor = launches_.plan_.tensors[t];
      if (tensor.role != TensorRole::activation) return 0;
      return static_cast<std::int64_t>(tensor.bytes.count());
    }
    const LaunchOrder& launches_;
    std::vector<std::size_t> left_;  // launches that still touch each tensor
    std::set<std::size_t> alive_;
    std::int64_t bytes_ = 0;
  };

  /// Readers after the writers before them, writers of one tensor in their order and after its
  /// earlier readers.
  void add_dependencies() {
    before_.resize(touched_.size());
    after_.resize(touched_.size());
    std::map<std::size_t, std::vector<std::size_t>> readers, writers;
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      for (const std::size_t t : touched_[i].read) {
        for (const std::size_t writer : writers[t]) depend(i, writer);
        readers[t].push_back(i);
      }
      for (const std::size_t t : touched_[i].written) {
        for (const std::size_t writer : writers[t]) depend(i, writer);
        for (const std::size_t reader : readers[t]) depend(i, reader);
        writers[t].push_back(i);
      }
    }
  }

  void depend(std::size_t launch, std::size_t on) {
    if (launch != on && before_[launch].insert(on).second) after_[on].push_back(launch);
  }

  const Plan& plan_;
  std::vector<Touched> touched_;
  std::vector<std::set<std::size_t>> before_;
  std::vector<std::vector<std::size_t>> after_;
};

std::vector<std::size_t> given_order(const Plan& plan) {
  std::vector<std::size_t> order(plan.launches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

}  // namespace

Bytes live_peak(const Plan& plan) { return LaunchOrder(plan).peak_of(given_order(plan)); }

bool reorder_launches(Plan* plan) {
  const LaunchOrder launches(*plan);
  const std::vector<std::size_t> order = launches.leanest();
  if (launches.peak_of(order) >= launches.peak_of(given_order(*plan))) return false;
  std::vector<PlanLaunch> reordered;
  for (const std::size_t i : order) reordered.push_back(plan->launches[i]);
  plan->launches = std::move(reordered);
  return true;
}

}  // namespace fm
