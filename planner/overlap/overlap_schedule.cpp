#include "planner/overlap/overlap_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "planner/overlap/read_pieces.hpp"
#include "planner/overlap/stream_limits.hpp"

namespace fm {
namespace {

class ScheduleRun {
 public:
  ScheduleRun(const TimedProblem& problem, const ChunkList& chunks, const OverlapSchedule& schedule)
      : problem_(problem),
        chunks_(chunks),
        schedule_(schedule),
        pieces_(read_pieces(problem, chunks, schedule)),
        ring_(problem.ring, problem.whole_claims),
        demand_(weight_demand(problem)),
        caps_(pointer_caps(problem, demand_)),
        read_at_(chunks.all.size()) {
    run_.read_from.resize(problem.weights.size());
  }

  /// Streams that a launch would wait for are left out, and copied when they are needed.
  void leave_out_late_streams() { leaves_out_ = true; }
  OverlapSchedule take_schedule() { return std::move(schedule_); }

  TimedRun run() {
    now_ = -static_cast<std::int64_t>(problem_.head_start.count());
    disk_free_ = now_;
    for (std::size_t k = 0; k < problem_.launches.size(); ++k) {
      if (leaves_out_) schedule_.copied[k] = lacking(k);
      wait_and_copy(k, schedule_.copied[k]);
      now_ = std::max<std::int64_t>(now_, 0);
      launch(k, schedule_.streamed[k]);
      image_ends_.push_back(image_end_);
    }
    if (problem_.whole_claims) note_whole_peak();
    if (problem_.preloading > run_.peak.total) {
      run_.peak = {problem_.preloading, 0, Bytes(0), Bytes(0), problem_.preloading};
    }
    run_.read_at = std::move(read_at_);
    run_.latency = Nanoseconds(static_cast<std::uint64_t>(now_));
    return std::move(run_);
  }

 private:
  [[noreturn]] static void fail(std::size_t launch, const std::string& what) {
    throw std::invalid_argument("launch " + std::to_string(launch) + ": " + what);
  }

  /// Claims and reads pieces from `time` on, as far as the phase's cap and the ring allow.
  void claim(std::int64_t time, Phase phase) {
    const std::int64_t cap =
        phase.running ? caps_.running[phase.launch] : caps_.waiting[phase.launch];
    for (; next_piece_ < pieces_.size(); ++next_piece_) {
      const ReadPiece& piece = pieces_[next_piece_];
      const std::size_t last = piece.first_chunk + piece.chunk_count - 1;
      // With whole claims an image's bytes are the ring's until its transform claims the image.
      const bool capped = !problem_.whole_claims || !piece.image;
      if (capped && chunks_.all[last].end > cap) break;
      if (piece.image && !ring_.claim(piece.bytes)) break;
      const std::size_t weight = chunks_.all[last].weight;
      if (piece.first_chunk == 0 || chunks_.all[piece.first_chunk - 1].weight != weight) {
        run_.read_from[weight] = phase;
      }
      disk_free_ =
          std::max(disk_free_, piece.image ? time : buffer_made(weight, time)) + piece.read;
      for (; claimed_ <= last; ++claimed_) read_at_[claimed_] = disk_free_;
      if (piece.image) in_ring_ += piece.bytes;
    }
    if (!problem_.whole_claims) note_peak(phase);
  }

  /// Whole claims: what the host spends on memory for a weight; 0 when it takes over another's.
  std::int64_t allocation_time(std::size_t weight) const {
    if (!problem_.whole_claims || !problem_.weights[weight].new_memory) return 0;
    const HostCost& host = problem_.host;
    const auto bytes = static_cast<double>(problem_.weights[weight].bytes.count());
    return static_cast<std::int64_t>(std::ceil(host.allocation_nanoseconds_per_byte * bytes) +
                                     static_cast<double>(host.allocation.count()));
  }

  /// When the host, asked at `time`, has made a weight's buffer.
  std::int64_t buffer_made(std::size_t weight, std::int64_t time) {
    const std::int64_t allocation = allocation_time(weight);
    if (allocation == 0) return time;
    return host_ = std::max(host_, time) + allocation;
  }

  /// Image chunks of one piece that are transformed together.
  struct Stretch {
    std::size_t first = 0, count = 0;  // of ChunkList::all
    bool ends_piece = false;
  };

  /// The next image chunks, `most` at most, of one piece.
  Stretch next_stretch(std::size_t launch, std::uint64_t transformed, std::size_t* piece,
                       std::uint64_t most) const {
    if (transformed >= chunks_.images.size()) fail(launch, "transforms more chunks than there are");
    const std::size_t first = chunks_.images[transformed];
    if (first >= claimed_) fail(launch, "a chunk to transform has no room before the transform");
    const auto end = [&] { return pieces_[*piece].first_chunk + pieces_[*piece].chunk_count; };
    while (end() <= first) ++*piece;
    const std::uint64_t count = std::min<std::uint64_t>(most, end() - first);
    return {first, count, first + count == end()};
  }

  std::int64_t bytes_of(const Stretch& stretch) const {
    const std::size_t last = stretch.first + stretch.count - 1;
    const WeightChunk& begin = chunks_.all[stretch.first];
    return chunks_.all[last].end - begin.end + static_cast<std::int64_t>(begin.bytes);
  }

  /// Image chunks have left the ring; their room is free with the last of their piece.
  void transformed(const Stretch& stretch) {
    in_ring_ -= bytes_of(stretch);
    if (stretch.ends_piece) ring_.free_oldest();
    transformed_ += stretch.count;
  }

  void note_peak(Phase phase) {
    const TimedLaunch& launch = problem_.launches[phase.launch];
    const std::int64_t pointer = claimed_ == 0 ? 0 : chunks_.all[claimed_ - 1].end;
    const std::int64_t weights = pointer - static_cast<std::int64_t>(demand_.freed[phase.launch]);
    const Bytes other = phase.running ? launch.running : launch.waiting;
    const Bytes total = other + Bytes(static_cast<std::uint64_t>(weights));
    if (total <= run_.peak.total) return;
    // What was read and not transformed is in the ring, or belongs to buffers.
    const Bytes unified(static_cast<std::uint64_t>(std::min(in_ring_, weights)));
    run_.peak = {total, phase.launch, unified, total - other - unified, other};
  }

  /// Whole claims: images up to `image_ends_` of the launches enqueued with each, and buffers.
  void note_whole_peak() {
    const std::size_t n = problem_.launches.size();
    std::int64_t buffers = 0;
    std::size_t weight = 0;
    for (std::size_t k = 0; k < n; ++k) {
      for (; weight < run_.read_from.size() && run_.read_from[weight].launch <= k; ++weight) {
        if (problem_.weights[weight].form == WeightForm::buffer) {
          buffers = chunks_.weight_end[weight];
        }
      }
      const std::int64_t claimed =
          std::max(buffers, image_ends_[std::min(k + problem_.ahead, n - 1)]);
      const auto freed = static_cast<std::int64_t>(demand_.freed[k]);
      const Bytes weights(static_cast<std::uint64_t>(std::max<std::int64_t>(0, claimed - freed)));
      const Bytes ring = chunks_.images.empty() ? Bytes(0) : problem_.ring;
      const Bytes other = std::max(problem_.launches[k].running, problem_.launches[k].waiting);
      if (other + ring + weights <= run_.peak.total) continue;
      run_.peak = {other + ring + weights, k, ring, weights, other};
    }
  }

  /// A transform for launch k claims its image, `ahead` launches before.
  void claim_image(std::size_t k, std::size_t weight) {
    if (!problem_.whole_claims) return;
    const std::int64_t end = chunks_.weight_end[weight];
    if (end > caps_.running[k - std::min(k, problem_.ahead)]) {
      fail(k, "the budget does not hold an image it fills");
    }
    if (end <= image_end_) return;
    image_end_ = end;
    allocating_ += allocation_time(weight);
  }

  /// The host takes up the next launch or copy when all but `ahead` before it are finished.
  void begin_command() {
    if (commands_.size() > problem_.ahead) {
      host_ = std::max(host_, commands_[commands_.size() - 1 - problem_.ahead]);
    }
  }

  /// When the host has enqueued what needs bytes that are there at `read`: not before.
  std::int64_t enqueued(std::int64_t read) {
    if (!problem_.whole_claims) return read;
    host_ = std::max(host_, read) + allocating_ +
            static_cast<std::int64_t>(problem_.host.enqueue.count());
    allocating_ = 0;
    return host_;
  }

  std::uint64_t lacking(std::size_t k) const {
    const std::uint64_t needed = chunks_.image_needed[k];
    return needed > transformed_ ? needed - transformed_ : 0;
  }

  /// Of the chunks that launch k, which is ready at `start`, was to stream: those it need not wait
  /// for, nor the host that enqueues it.
  std::uint64_t in_time(std::size_t k, std::int64_t start, std::uint64_t streams) const {
    const std::int64_t time = std::max(start, problem_.whole_claims ? host_ : now_);
    std::uint64_t count = 0;
    const std::uint64_t most = std::min(streams, streamable(problem_, chunks_, k, transformed_));
    for (; count < most; ++count) {
      const std::size_t chunk = chunks_.images[transformed_ + count];
      if (chunk >= claimed_ || read_at_[chunk] > time) break;
    }
    return count;
  }

  /// GPU time of copying chunks of one weight, of which only the last may be short.
  std::int64_t copy_time(const Stretch& stretch) const {
    const auto time = [&](std::size_t chunk) {
      return static_cast<std::int64_t>(std::ceil(problem_.copy.nanoseconds_per_byte *
                                                 static_cast<double>(chunks_.all[chunk].bytes)));
    };
    const auto before = static_cast<std::int64_t>(stretch.count - 1);
    return before * time(stretch.first) + time(stretch.first + stretch.count - 1);
  }

  void wait_and_copy(std::size_t k, std::uint64_t copies) {
    claim(now_, {k, false});
    bool piece = true;    // begins: a copy of its own
    bool command = true;  // begins: a weight's copies
    for (std::uint64_t left = copies; left > 0;) {
      const Stretch stretch = next_stretch(k, transformed_, &transforming_, left);
      const std::size_t weight = chunks_.all[stretch.first].weight;
      claim_image(k, weight);
      command = command || chunks_.all[stretch.first - 1].weight != weight;
      piece = piece || command;
      if (command && left < copies) commands_.push_back(now_);
      if (command) begin_command();
      const std::int64_t read = read_at_[stretch.first];
      std::int64_t begin = std::max(now_, read);
      if (piece) begin = std::max(begin, enqueued(read));
      count_waiting(begin);
      const std::int64_t base = piece ? static_cast<std::int64_t>(problem_.copy.base.count()) : 0;
      const std::int64_t time = copy_time(stretch) + base;
      run_.copying += Nanoseconds(static_cast<std::uint64_t>(time));
      now_ = begin + time;
      transformed(stretch);
      left -= stretch.count;
      command = false;
      piece = problem_.whole_claims && stretch.ends_piece;
      claim(now_, {k, false});
    }
    if (copies > 0) commands_.push_back(now_);
  }

  /// The GPU is idle from now until `time`, as far as launches could already run.
  void count_waiting(std::int64_t time) {
    const std::int64_t idle = std::max<std::int64_t>(time, 0) - std::max<std::int64_t>(now_, 0);
    run_.waiting += Nanoseconds(static_cast<std::uint64_t>(idle));
  }

  void launch(std::size_t k, std::uint64_t streams) {
    if (transformed_ < chunks_.image_needed[k]) fail(k, "a weight is not transformed");
    const std::uint64_t read = chunks_.read_needed[k];
    if (read > claimed_) fail(k, "the budget does not hold its weights");
    begin_command();
    std::int64_t start = 0;
    if (read > 0) start = std::max(start, read_at_[read - 1]);
    if (leaves_out_) schedule_.streamed[k] = streams = in_time(k, start, streams);
    std::uint64_t bytes = 0;
    std::size_t images = 0;
    const std::vector<Stretch> inside = stretches(k, streams);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const std::size_t weight = chunks_.all[inside[i].first].weight;
      claim_image(k, weight);
      if (problem_.weights[weight].first_use <= k) fail(k, "streams a weight it uses");
      start = std::max(start, read_at_[inside[i].first]);
      bytes += static_cast<std::uint64_t>(bytes_of(inside[i]));
      if (i == 0 || chunks_.all[inside[i - 1].first].weight != weight) ++images;
    }
    const SlowdownCurve& curve = problem_.launches[k].slowdown;
    if (bytes > 0 && (curve.empty() || Bytes(bytes) > curve.back().streamed)) {
      fail(k, "streams more than it can");
    }
    if (images > problem_.images_a_launch) fail(k, "streams into too many images");
    const Nanoseconds extra = bytes > 0 ? extra_time(curve, Bytes(bytes)) : Nanoseconds(0);
    run_.slowed += extra;
    start = std::max(now_, enqueued(start));
    count_waiting(start);
    claim(start, {k, true});
    now_ = start + static_cast<std::int64_t>((problem_.launches[k].time + extra).count());
    commands_.push_back(now_);
    run_.start.emplace_back(static_cast<std::uint64_t>(start));
    run_.finish.emplace_back(static_cast<std::uint64_t>(now_));
    for (const Stretch& stretch : inside) transformed(stretch);
  }

  /// The next image chunks, which launch k streams.
  std::vector<Stretch> stretches(std::size_t k, std::uint64_t chunks) {
    std::vector<Stretch> all;
    for (std::uint64_t done = 0; done < chunks; done += all.back().count) {
      all.push_back(next_stretch(k, transformed_ + done, &transforming_, chunks - done));
    }
    return all;
  }

  const TimedProblem& problem_;
  const ChunkList& chunks_;
  OverlapSchedule schedule_;
  bool leaves_out_ = false;
  const std::vector<ReadPiece> pieces_;
  RingModel ring_;
  const WeightDemand demand_;
  const PointerCaps caps_;
  std::vector<std::int64_t> read_at_;  // by chunk: when its last byte is there
  TimedRun run_;
  std::int64_t now_ = 0;  // of the GPU
  std::int64_t disk_free_ = 0;
  std::size_t next_piece_ = 0;            // to be claimed
  std::size_t transforming_ = 0;          // piece of the next image chunk, or one before it
  std::size_t claimed_ = 0;               // chunks
  std::uint64_t transformed_ = 0;         // image chunks
  std::int64_t in_ring_ = 0;              // bytes
  std::int64_t image_end_ = 0;            // pointer behind the last image claimed
  std::int64_t host_ = 0;                 // when the host is free
  std::int64_t allocating_ = 0;           // its time for images that no command uses yet
  std::vector<std::int64_t> commands_;    // when launches and copies ended
  std::vector<std::int64_t> image_ends_;  // by launch
};

}  // namespace

ChunkList::ChunkList(const TimedProblem& problem)
    : read_needed(problem.launches.size(), 0), image_needed(problem.launches.size(), 0) {
  std::int64_t end = 0, read = 0;
  for (std::size_t w = 0; w < problem.weights.size(); ++w) {
    const TimedWeight& weight = problem.weights[w];
    const std::uint64_t total = weight.bytes.count();
    for (std::uint64_t at = 0; at < total; at += problem.chunk.count()) {
      const std::uint64_t bytes = std::min(problem.chunk.count(), total - at);
      const double share = static_cast<double>(at + bytes) / static_cast<double>(total);
      const auto read_here = std::llround(static_cast<double>(weight.read.count()) * share);
      end += static_cast<std::int64_t>(bytes);
      if (weight.form == WeightForm::image) {
        images.push_back(all.size());
        ++image_needed[weight.first_use];
      }
      ++read_needed[weight.first_use];
      all.push_back({w, bytes, end, read + read_here});
    }
    read += static_cast<std::int64_t>(weight.read.count());
    weight_end.push_back(end);
    weight_chunks.push_back(all.size());
  }
  for (std::size_t k = 1; k < read_needed.size(); ++k) {
    read_needed[k] += read_needed[k - 1];
    image_needed[k] += image_needed[k - 1];
  }
}

OverlapSchedule copies_before_use(const TimedProblem& problem, const ChunkList& chunks) {
  OverlapSchedule schedule;
  schedule.streamed.assign(problem.launches.size(), 0);
  std::uint64_t done = 0;
  for (const std::uint64_t needed : chunks.image_needed) {
    schedule.copied.push_back(needed - done);
    done = needed;
  }
  return schedule;
}

TimedRun run_schedule(const TimedProblem& problem, const ChunkList& chunks,
                      const OverlapSchedule& schedule) {
  return ScheduleRun(problem, chunks, schedule).run();
}

TimedRun run_without_late_streams(const TimedProblem& problem, const ChunkList& chunks,
                                  OverlapSchedule* schedule) {
  ScheduleRun run(problem, chunks, *schedule);
  run.leave_out_late_streams();
  TimedRun result = run.run();
  *schedule = run.take_schedule();
  // What is read at once with whole claims depends on the schedule.
  return problem.whole_claims ? run_schedule(problem, chunks, *schedule) : result;
}

}  // namespace fm
