#pragma once
// What an agent of the simulation has to do later, in order of time.

#include <cstdint>
#include <functional>
#include <queue>
#include <systemc>
#include <vector>

#include "core/units.hpp"

namespace fm {

/// One SC_METHOD that runs callbacks at their simulation times; those due at once run in the order
/// they were added.
class Agenda : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Agenda);
  explicit Agenda(sc_core::sc_module_name name);

  /// `delay` from now; with a delay of zero still after the caller has returned.
  void after(Picoseconds delay, std::function<void()> action);
  static Picoseconds now() { return Picoseconds(sc_core::sc_time_stamp().value()); }
  bool idle() const { return entries_.empty(); }

 private:
  struct Entry {
    std::uint64_t time;
    std::uint64_t sequence;
    std::function<void()> action;
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
    }
  };
  void activate();

  std::priority_queue<Entry, std::vector<Entry>, Later> entries_;
  std::uint64_t sequence_ = 0;
  sc_core::sc_event event_;
};

}  // namespace fm
