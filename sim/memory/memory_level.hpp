#pragma once
// How two levels of the memory hierarchy speak: requests down, answers up.

#include <string>

#include "sim/memory/line_request.hpp"
#include "sim/memory/timed_queue.hpp"

namespace fm {

/// A read's data or a write's acknowledgement. Copied as a LineRequest is.
struct LineAnswer {
  LineAnswer() = default;
  LineAnswer(Ticks at, std::uint64_t number, std::uint32_t of) : time(at), order(number), tag(of) {}
  LineAnswer(const LineAnswer& other) { *this = other; }
  LineAnswer& operator=(const LineAnswer& other) {
    time = other.time;
    order = other.order;
    tag = other.tag;
    return *this;
  }

  Ticks time = 0;           ///< of arrival
  std::uint64_t order = 0;  ///< ascending at its sender, sender number on top: breaks ties of time
  std::uint32_t tag = 0;    ///< the request's
};

struct AnswerBefore {
  bool operator()(const LineAnswer& a, const LineAnswer& b) const {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
};
using AnswerQueue = TimedQueue<LineAnswer, AnswerBefore>;

struct RequestBefore {
  bool operator()(const LineRequest& a, const LineRequest& b) const {
    if (a.time != b.time) return a.time < b.time;
    if (a.source != b.source) return a.source < b.source;
    return a.sequence < b.sequence;
  }
};
using RequestQueue = TimedQueue<LineRequest, RequestBefore>;

/// Who gets answers. The answer's time is at or after the end of the current window.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual void answer(const LineAnswer& answer) = 0;
};

/// Sees every request that arrives at a level.
class RequestTap {
 public:
  virtual ~RequestTap() = default;
  /// In the order the level learns of them: `request.time` lies in the future and may descend.
  virtual void arriving(const LineRequest& request) = 0;
};

/// A cache level or the DRAM channels. Senders bound what they have in flight; a level never
/// refuses a request.
class MemoryLevel {
 public:
  virtual ~MemoryLevel() = default;
  /// Returns the sender's port number; answers reach `sink` `latency` after they leave.
  virtual std::uint16_t attach(LineSink* sink, Ticks latency) = 0;
  /// `request.time` is its arrival here, at or after the end of the current window.
  virtual void receive(const LineRequest& request) = 0;
  /// The largest request, and what byte masks refer to.
  virtual std::uint32_t line_bytes() const = 0;
  /// What its blocks' names begin with: "l2".
  virtual std::string level_name() const = 0;
};

/// One row of a client x kind table.
inline std::size_t index_of(MemoryClient client) { return static_cast<std::size_t>(client); }
inline std::size_t index_of(AccessKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace fm
